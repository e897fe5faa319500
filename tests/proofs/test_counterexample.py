"""What a refuted check leaves behind is red with the fault and green without it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dgap.proofs import __main__ as command
from dgap.proofs.counterexample import BUDGET, engine_plan, save, source_of_test
from dgap.proofs.demo_bug import one_run, shortest
from dgap.proofs.exploration import exploration_checks
from dgap.proofs.families import FAMILIES, explore_family
from dgap.proofs.planted import PLANTED
from dgap.proofs.schedule import PROTOCOL, Schedule, read_schedule, schedule_of
from dgap.protocol.table import TABLE
from dgap.runtime.config import LoaderConfig
from tests.architecture.source import ROOT

LIMIT_S = 150


def loss() -> Schedule:
    schedule = shortest(PLANTED["finished_while_holding"](), (2, 1), "S5")
    assert schedule is not None
    return schedule


def outcome_of(schedule: Schedule, folder: Path) -> tuple[int, str]:
    """Exit code and last line of pytest on the saved test."""
    _, test = save("a.check", schedule, folder)
    path = str(ROOT / ".ci" / "import_root")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)],
        cwd=folder,
        env={"PATH": "", "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    return done.returncode, done.stdout.splitlines()[-1]


def test_the_test_of_a_loss_is_red_in_the_model_over_the_loopback_and_over_gloo(
    tmp_path: Path,
) -> None:
    code, last = outcome_of(loss(), tmp_path)
    assert (code, last.split(" in ")[0]) == (1, "3 failed")


def test_the_test_is_green_once_the_fault_is_gone(tmp_path: Path) -> None:
    code, last = outcome_of(replace(loss(), table=PROTOCOL), tmp_path)
    assert (code, last.split(" in ")[0]) == (0, "3 passed")


def shown(family_name: str, witness: str) -> Schedule:
    """A shortest run of a family to what a witness says."""
    family = next(each for each in FAMILIES if each.name == family_name)
    for explored in explore_family(family):
        if witness in explored.exploration.shown:
            return schedule_of(explored.world, explored.exploration.shown[witness])
    raise AssertionError(f"{witness} is not shown in {family_name}")


def test_a_fault_of_the_source_is_planned_for_the_loopback_alone(tmp_path: Path) -> None:
    plan = engine_plan(shown("faults-three", "a_failure_reaches_a_peer"))
    assert plan is not None
    assert any(at is not None for at in plan["fails_at"])
    assert not plan["over_gloo"]


def test_what_engines_cannot_be_told_is_left_to_the_model(tmp_path: Path) -> None:
    schedule = shown("crash-three", "a_survivor_fails")
    assert engine_plan(schedule) is None
    code, last = outcome_of(schedule, tmp_path)
    assert (code, last.split(" in ")[0]) == (0, "1 passed, 2 skipped")


def test_shares_that_are_not_even_are_left_to_the_model() -> None:
    schedule = loss()
    uneven = [dict(each, share=share) for each, share in zip(
        schedule.surroundings, (3, 0), strict=True)]  # fmt: skip
    settings = {**schedule.settings, "quota": 1}
    assert engine_plan(replace(schedule, settings=settings, surroundings=tuple(uneven))) is None
    even = [dict(each, share=share) for each, share in zip(uneven, (2, 1), strict=True)]
    plan = engine_plan(replace(schedule, settings=settings, surroundings=tuple(even)))
    assert plan is not None
    assert plan["settings"]["quota"] == 3
    none = [dict(each, share=0) for each in uneven]
    assert engine_plan(replace(schedule, settings=settings, surroundings=tuple(none))) is None


def test_the_plan_is_what_a_loader_takes_and_asks_for_as_many_groups() -> None:
    schedule = one_run(TABLE, (2, 1))
    plan = engine_plan(schedule)
    assert plan is not None
    assert LoaderConfig(**plan["settings"]).settings()._asdict() == schedule.settings
    assert plan["costs"] == [BUDGET // 2, BUDGET]  # one group of two samples, one of one
    assert plan["order"][0] == [0, "engine"]
    assert [0, "loop"] in plan["order"]


def test_the_saved_test_holds_the_schedule_itself(tmp_path: Path) -> None:
    diagram, test = save("control.a", loss(), tmp_path / "new")
    assert diagram.name == "control_a.txt"
    assert test.name == "test_control_a.py"
    assert "violated: S5" in diagram.read_text()
    text = source_of_test("control.a", loss(), "f.py")
    assert text == test.read_text().replace(str(test), "f.py")
    assert read_schedule(text.split("r'''")[1].split("'''")[0]) == loss()


def test_the_command_draws_and_saves_what_is_refuted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checks = tuple(each for each in exploration_checks() if each.id.startswith("control."))
    monkeypatch.setattr(command, "manifest", lambda: checks)
    monkeypatch.setattr(command, "COUNTEREXAMPLES", tmp_path)
    assert command.main(["--trace", "control.finished_while_holding"]) == 0
    shown = capsys.readouterr().out
    assert "violated: S5" in shown
    assert "but holds" in shown
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "control_finished_while_holding.txt",
        "test_control_finished_while_holding.py",
    ]
