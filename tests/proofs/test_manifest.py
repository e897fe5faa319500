"""The manifest names every check once, and the command passes only if all of them did."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from dgap.proofs import __main__ as command
from dgap.proofs.check import Check, Outcome, Reach, Verdict
from dgap.proofs.manifest import BUILDERS, CORE, core, manifest, require_unique, select
from dgap.proofs.planted import PLANTED
from dgap.proofs.versions import versions
from dgap.protocol.table import TABLE

GOOD = Check(
    id="good",
    property="S1",
    statement="a statement",
    reach=Reach.ALL_RANKS,
    scope="any",
    expected=Verdict.PROVED,
    run=lambda: Outcome(verdict=Verdict.PROVED, detail="looked at", trace=("a witness",)),
)


def raises() -> Outcome:
    raise RuntimeError("no such tool")


def use(monkeypatch: pytest.MonkeyPatch, *checks: Check) -> None:
    monkeypatch.setattr(command, "manifest", lambda: checks)


def test_every_builder_adds_checks_and_no_two_share_an_id() -> None:
    assert all(build() for build in BUILDERS)
    require_unique(manifest())
    built = [check.id for build in BUILDERS for check in build()]
    about_all = [check.id for check in manifest() if check.id not in built]
    assert about_all == ["assumptions.declared", "assumptions.ledger"]
    assert len(manifest()) == len(built) + len(about_all)


def test_two_checks_of_one_id_are_refused() -> None:
    with pytest.raises(ValueError, match="two checks have the id 'good'"):
        require_unique([GOOD, GOOD])


def test_both_reaches_and_a_control_for_every_planted_bug_are_there() -> None:
    for reach in Reach:
        controls = [
            each.id
            for each in manifest()
            if each.expected == Verdict.REFUTED and each.reach == reach
        ]
        for name in PLANTED:
            assert any(name in control for control in controls), (reach, name)


@pytest.mark.parametrize("promised", ["S1", "S2", "S3", "S4", "S5", "S6", "S9", "S10", "L1", "L2"])
def test_every_promise_of_the_protocol_is_proved_for_all_ranks(promised: str) -> None:
    parametric = [each for each in manifest() if each.reach == Reach.ALL_RANKS]
    assert [each for each in parametric if each.property == promised]


def test_checks_are_selected_by_prefix() -> None:
    chosen = select(manifest(), "step_count.")
    assert chosen
    assert all(each.id.startswith("step_count.") for each in chosen)
    assert select(manifest(), "no such") == ()


def test_the_core_is_what_is_proved_for_all_ranks() -> None:
    chosen = core(manifest())
    assert {each.reach for each in chosen} == {Reach.ALL_RANKS}
    assert not [each.id for each in chosen if each.id.startswith("planted.")]
    assert len(chosen) == sum(len(build()) for build in CORE)
    assert core([GOOD]) == ()


def test_a_part_of_the_checks_leaves_the_full_report_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    use(monkeypatch, GOOD)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "core", lambda checks: checks)
    assert command.main(["--core"]) == 0
    assert command.main(["--only", "good"]) == 0
    assert not (tmp_path / "verification.json").exists()
    assert command.main([]) == 0
    assert (tmp_path / "verification.json").exists()


def test_the_module_for_tlc_is_written_again(tmp_path: Path) -> None:
    assert command.main(["export", str(tmp_path)]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"Dgap.tla", "Dgap.cfg"}


def test_the_command_passes_and_writes_its_report(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, GOOD, replace(GOOD, id="other"))
    assert command.main(["--json", str(tmp_path / "v.json")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith("verified: 2 checks, 0 refuted, 0 unknown, 0 skipped, ")
    assert any(line.startswith("good ") and "proved for all W" in line for line in lines)
    report = json.loads((tmp_path / "v.json").read_text())
    assert report["digest"] == TABLE.digest()
    assert report["verified"] is True
    assert {each["id"] for each in report["checks"]} == {"good", "other"}
    assert report["versions"] == versions()


@pytest.mark.parametrize(
    ("check", "count"),
    [
        (replace(GOOD, expected=Verdict.REFUTED), "0 checks, 1 refuted, 0 unknown"),
        (replace(GOOD, run=raises), "0 checks, 0 refuted, 1 unknown"),
    ],
)
def test_the_command_fails_and_shows_why(
    check: Check,
    count: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    use(monkeypatch, check)
    assert command.main(["--json", str(tmp_path / "v.json")]) == 1
    shown = capsys.readouterr().out
    assert f"verified: {count}" in shown.splitlines()[-1]
    assert "a witness" in shown or "no such tool" in shown


def test_the_command_fails_if_there_is_nothing_to_check(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, GOOD)
    assert command.main(["--only", "other", "--json", str(tmp_path / "v.json")]) == 2
    assert "starts with 'other'" in capsys.readouterr().err


def test_a_report_that_cannot_be_written_is_refused_before_the_checks_run(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="2"):
        command.main(["--json", str(tmp_path / "nowhere" / "v.json")])


def test_a_single_check_is_traced_or_explained(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, GOOD)
    assert command.main(["--trace", "good"]) == 0
    assert "a witness" in capsys.readouterr().out
    assert command.main(["explain", "good"]) == 0
    assert "it must be proved" in capsys.readouterr().out
    assert command.main(["explain", "bad"]) == 2
    assert "no check 'bad'" in capsys.readouterr().err
