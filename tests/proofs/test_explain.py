"""Every promise is explained from the specification, the manifest and the kill matrix."""

from __future__ import annotations

import re
from functools import cache

import pytest

from dgap.proofs.__main__ import main
from dgap.proofs.check import Check, Outcome, Reach, Verdict
from dgap.proofs.explain import (
    MISSING,
    PARTS,
    WHY,
    explain_check,
    explain_promise,
    is_promise,
    promise_of,
)
from dgap.proofs.kill_matrix import KillMatrix, recorded
from dgap.proofs.manifest import manifest
from dgap.spec.laws import LAWS
from dgap.spec.properties import PROPERTIES
from tests.architecture.source import ROOT

PROMISES = re.findall(r"^\| ([SLR]\d+) \|", (ROOT / "spec/README.md").read_text(), re.MULTILINE)


def check(id_: str, property_: str, reach: Reach, expected: Verdict = Verdict.PROVED) -> Check:
    return Check(
        id=id_,
        property=property_,
        statement=f"statement of {id_}",
        reach=reach,
        scope="the bounds",
        expected=expected,
        run=lambda: Outcome(verdict=Verdict.PROVED),
    )


CHECKS = (
    check("coverage.join", "S5", Reach.ALL_RANKS),
    check("control.lost", "S5", Reach.EXHAUSTIVE, Verdict.REFUTED),
    check("S1a.join", "S1a", Reach.EXHAUSTIVE),
    check("S1b.join", "S1b", Reach.EXHAUSTIVE),
    check("other", "L1", Reach.ALL_RANKS),
)
MATRIX = KillMatrix(digest="", killers={f"mutant {n}": "coverage.join" for n in range(7)})


def explained(name: str) -> str:
    return "\n".join(explain_promise(name, CHECKS, MATRIX))


def test_every_promise_of_the_specification_has_a_reason_and_no_other() -> None:
    assert sorted(PROMISES) == sorted(WHY)
    assert {promise_of(each.id) for each in PROPERTIES} <= set(WHY)


STATEMENTS = [
    *((each.id, each.statement) for each in PROPERTIES),
    *((each.id, each.statement) for each in LAWS),
]


@cache
def parts_of(name: str) -> dict[str, str]:
    """The parts of what is said of a promise, from the real manifest and kill matrix."""
    text = "\n".join(explain_promise(name, manifest(), recorded()))
    assert text.startswith(f"{name}\n")
    titles = "|".join(PARTS)
    assert re.findall(rf"^({titles}):$", text, re.MULTILINE) == list(PARTS)
    bodies = re.split(rf"^(?:{titles}):$", text, flags=re.MULTILINE)[1:]
    return {part: " ".join(body.split()) for part, body in zip(PARTS, bodies, strict=True)}


@pytest.mark.parametrize("name", [*WHY, "S1b", "S8a"])
def test_every_promise_is_explained_in_five_parts_and_none_is_empty(name: str) -> None:
    parts = parts_of(name)
    assert all(parts.values())
    assert parts["why it is enough"] == WHY[promise_of(name)]
    for id_, statement in STATEMENTS:
        assert (statement in parts["statement"]) == (name in (id_, promise_of(id_)))


@pytest.mark.parametrize("name", [name for name in WHY if name not in MISSING])
def test_the_cutoff_of_what_is_proved_is_a_number_and_of_what_is_explored_its_bounds(
    name: str,
) -> None:
    cutoff = parts_of(name)["cutoff"]
    if "proved for all W" in cutoff:
        assert re.match(r"for all W: [1-9]\d* named rank", cutoff)
    assert "proved for all W" in cutoff or "exhaustive up to W=" in cutoff


def test_what_does_not_exist_says_so() -> None:
    assert parts_of("S11")["statement"].startswith("S11 does not exist yet: ")
    assert {parts_of("S11")[part] for part in PARTS[2:]} == {"none yet"}


def test_the_mutants_of_a_promise_come_from_table_or_rules_or_are_others() -> None:
    assert re.match(r"[1-9]\d* changes of the table", parts_of("S5")["mutants"])
    assert parts_of("S5")["mutants"].endswith("coverage.join")
    assert "crash.accepted too" in parts_of("L3")["mutants"]
    assert parts_of("S7")["mutants"].endswith("mutants.rules")
    assert "mutants.rules" in [check.id for check in manifest()]
    assert parts_of("R1")["mutants"].startswith("no change of the table")


def test_statement_witness_encoding_bounds_and_mutants_are_shown() -> None:
    text = explained("S5")
    for words in (
        "S5: join mode: at CLOSED",
        "not empty words: every rank has delivered samples and closed",
        "for all W: ranks are an uninterpreted sort",
        "exhaustive: every interleaving",
        "coverage.join: statement of coverage.join; proved for all W",
        "control.lost: control, must be refuted: statement of control.lost; exhaustive up to the",
        "7 changes of the table killed by these checks before any other",
        "mutant 0 by coverage.join",
        "... all in proofs/kill_matrix.json",
    ):
        assert words in text
    assert "statement of other" not in text


def test_a_conjunct_is_explained_alone_and_a_promise_with_all_its_conjuncts() -> None:
    assert "S1b.join" not in explained("S1a")
    assert "S1a.join" in explained("S1")
    assert "S1b.join" in explained("S1")


def test_a_check_is_explained_by_its_own_words() -> None:
    assert explain_check(CHECKS[1])[-1] == "a control: it must be refuted"
    assert explain_check(CHECKS[0])[1] == "property S5; proved for all W: the bounds"


@pytest.mark.parametrize(
    ("name", "promise"),
    [("S1", "S1"), ("S12", "S12"), ("S3b", "S3"), ("R1", "R1"), ("S99", ""), ("S1.join", "")],
)
def test_a_promise_is_told_from_a_check(name: str, promise: str) -> None:
    assert promise_of(name) == promise
    assert is_promise(name) == bool(promise)


def test_a_conjunct_that_does_not_exist_is_no_promise(capsys: pytest.CaptureFixture[str]) -> None:
    assert not is_promise("L2z")
    assert main(["explain", "L2z"]) == 2
    assert "there is no check 'L2z'" in capsys.readouterr().err


def test_the_command_explains_promises_of_the_real_manifest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["explain", "S5"]) == 0
    shown = capsys.readouterr().out
    assert "coverage.join" in shown
    assert "control.finished_while_holding" in shown
