"""The matrix accounts for every mutant; what differs from it is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dgap.proofs import __main__ as command
from dgap.proofs import kill_matrix
from dgap.proofs.check import Verdict
from dgap.proofs.kill import EQUIVALENT, SURVIVES
from dgap.proofs.kill_matrix import KillMatrix, chosen_by, differences, mutation_checks, recorded
from dgap.proofs.manifest import manifest
from dgap.proofs.mutants import mutants

MATRIX = KillMatrix(digest="d", killers={"a": "one", "b": "one", "c": "two", "d": EQUIVALENT})


@pytest.fixture
def own_matrix(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    path = tmp_path / "matrix.json"
    path.write_text(kill_matrix.MATRIX.read_text())
    monkeypatch.setattr(kill_matrix, "MATRIX", path)
    return path


def change(path: Path, **killers: str) -> None:
    content = json.loads(path.read_text())
    content["mutants"] |= killers
    path.write_text(json.dumps(content))


def test_every_mutant_is_accounted_for_by_a_check_of_the_manifest() -> None:
    (covered, _) = mutation_checks()
    assert covered.run().verdict == Verdict.PROVED
    ids = {check.id for check in manifest()}
    assert set(recorded().killers.values()) - {EQUIVALENT} <= ids
    assert recorded().summary()["surviving"] == 0


def test_a_foreign_or_surviving_or_missing_mutant_is_found(own_matrix: Path) -> None:
    (covered, _) = mutation_checks()
    change(own_matrix, nobody="one")
    assert covered.run().trace == ("no mutant has the id nobody",)
    content = json.loads(own_matrix.read_text())
    del content["mutants"]["nobody"]
    first, second = list(content["mutants"])[:2]
    del content["mutants"][first]
    content["mutants"][second] = SURVIVES
    content["digest"] = "another"
    own_matrix.write_text(json.dumps(content))
    outcome = covered.run()
    assert outcome.verdict == Verdict.REFUTED
    assert outcome.trace[:2] == (f"not in the matrix: {first}", f"survives: {second}")
    assert "another table" in outcome.trace[2]


def test_what_is_found_otherwise_or_survives_is_a_difference() -> None:
    assert differences({"a": "one", "d": EQUIVALENT}, MATRIX) == []
    assert differences({"a": "two"}, MATRIX) == ["a: two, recorded is one"]
    assert differences({"e": "one"}, MATRIX) == ["e: one, recorded is nothing"]
    survivor = KillMatrix(digest="d", killers={"a": SURVIVES})
    assert differences({"a": SURVIVES}, survivor) == ["a: survives, recorded is survives"]


def test_the_summary_counts() -> None:
    assert MATRIX.summary() == {"mutants": 4, "killed": 3, "equivalent": 1, "surviving": 0}
    assert MATRIX.by_killer() == [("one", 2), (EQUIVALENT, 1), ("two", 1)]


def test_mutants_are_chosen_by_prefix_and_none_twice() -> None:
    assert {mutant.row for mutant in chosen_by("turn.")} == {"turn"}
    assert len(chosen_by("")) == len(mutants())


def test_the_command_compares_and_fails_on_a_difference(
    own_matrix: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["mutants", "--only", "turn.target"]
    assert command.main(arguments) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("5 mutants, 0 not as recorded")
    change(own_matrix, **{"turn.target:FILL→CLOSED": "another"})
    assert command.main(arguments) == 1
    assert "turn.target:FILL→CLOSED: table.effects, recorded is another" in capsys.readouterr().out
    assert command.main([*arguments, "--write"]) == 0
    assert recorded().killers["turn.target:FILL→CLOSED"] == "table.effects"
    assert command.main(["mutants", "--only", "no such"]) == 1


def test_several_processes_find_what_one_finds() -> None:
    chosen = chosen_by("turn.")
    assert len(chosen) > 2 * kill_matrix.PROCESS_COUNT
    found = dict(kill_matrix.killers_of(chosen))
    assert found == {mutant.id: recorded().killers[mutant.id] for mutant in chosen}
