"""What a refuted check leaves behind is red with the fault and green without it."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dgap.proofs import __main__ as command
from dgap.proofs.counterexample import BUDGET, engine_plan, save, source_of_test
from dgap.proofs.demo_bug import one_run, shortest
from dgap.proofs.exploration import CONTROLS, exploration_checks
from dgap.proofs.families import FAMILIES, explore_family
from dgap.proofs.planted import PLANTED
from dgap.proofs.schedule import PROTOCOL, Schedule, read_schedule, schedule_of
from dgap.protocol.table import TABLE
from dgap.runtime.config import LoaderConfig
from tests.architecture.source import ROOT

LIMIT_S = 200


def loss() -> Schedule:
    schedule = shortest(PLANTED["finished_while_holding"](), (2, 1), "S5")
    assert schedule is not None
    return schedule


def results_of(folder: Path) -> dict[str, str]:
    """By file and test: what pytest says of the saved tests in a folder. It runs them afresh."""
    path = str(ROOT / ".ci" / "import_root")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-vv", "--tb=no", "-p", "no:cacheprovider", str(folder)],
        cwd=folder,
        env={"PATH": "", "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    found = re.findall(r"^(\S+)\.py::(\w+) (PASSED|FAILED|SKIPPED)", done.stdout, re.MULTILINE)
    return {f"{Path(file).name} {test}": result for file, test, result in found}


BREAKS = {build.__name__: broken for build, broken, _ in CONTROLS}
TESTS = (
    "test_no_property_is_broken_in_the_model",
    "test_the_engines_keep_the_promise_over_the_loopback",
    "test_no_property_is_broken_over_gloo",
)


def test_saved_tests_are_red_everywhere_while_the_fault_is_there_and_green_once_it_is_gone(
    tmp_path: Path,
) -> None:
    """All in one run, since every process has torch to import."""
    expected: dict[str, str] = {}
    for name, build in PLANTED.items():
        schedule = shortest(build(), (2, 1), BREAKS[name])
        assert schedule is not None
        save(name, schedule, tmp_path)
        expected |= {f"test_{name} {test}": "FAILED" for test in TESTS}
    save("repaired", replace(loss(), table=PROTOCOL), tmp_path)
    expected |= {f"test_repaired {test}": "PASSED" for test in TESTS}
    crash = shown("crash-three", "a_survivor_fails")
    assert engine_plan(crash) is None
    save("a crash", crash, tmp_path)
    expected |= {f"test_a_crash {test}": "PASSED" for test in TESTS}
    expected[f"test_a_crash {TESTS[1]}"] = "SKIPPED"
    assert results_of(tmp_path) == expected


def shown(family_name: str, witness: str) -> Schedule:
    """A shortest run of a family to what a witness says."""
    family = next(each for each in FAMILIES if each.name == family_name)
    for explored in explore_family(family):
        if witness in explored.exploration.shown:
            return schedule_of(explored.world, explored.exploration.shown[witness])
    raise AssertionError(f"{witness} is not shown in {family_name}")


def test_a_fault_of_the_source_is_planned() -> None:
    plan = engine_plan(shown("faults-three", "a_failure_reaches_a_peer"))
    assert plan is not None
    assert any(at is not None for at in plan["fails_at"])


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
