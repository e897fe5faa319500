"""Settings are refused before anything starts, and reach the ranks unchanged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from examples.demo.__main__ import FAULT_SAMPLES, clear, parse
from examples.demo.settings import DemoSettings, Fault


def test_settings_survive_the_command_line_of_a_rank() -> None:
    settings = DemoSettings(samples=10, seed=3, fault="dataset", output=Path("a b"))
    assert DemoSettings.from_json(settings.to_json()) == settings


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"samples": 0}, "samples is 0"),
        ({"samples": 7}, "samples is 7"),
        ({"heldout_samples": 1}, "heldout_samples is 1"),
        ({"token_budget": 511}, "token_budget is 511, below max_tokens 512"),
    ],
)
def test_a_setting_that_cannot_work_is_named(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DemoSettings(**fields)


def test_the_fault_demonstration_is_short_unless_told_otherwise() -> None:
    assert parse(["--fault", "dataset"]).samples == FAULT_SAMPLES
    assert parse(["--fault", "dataset", "--samples", "8"]).samples == 8
    assert parse([]) == DemoSettings()


def test_a_bad_option_ends_with_a_usage_message(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(["--samples", "3"])
    assert ended.value.code == 2
    assert "samples is 3" in capsys.readouterr().err


@pytest.mark.parametrize(("fault", "is_left"), [("none", False), ("dataset", True)])
def test_only_a_new_comparison_removes_the_old_report(
    tmp_path: Path, fault: Fault, is_left: bool
) -> None:
    report = tmp_path / "report.json"
    report.touch()
    clear(DemoSettings(fault=fault, output=tmp_path))
    assert report.exists() == is_left
