"""The arithmetic of the report, and that a wrong pass is seen and fails the command."""

from __future__ import annotations

import io
import json
from dataclasses import asdict

import pytest
from rich.console import Console

from examples.demo.report import (
    RunRecord,
    StepRecord,
    build_report,
    compare,
    problems,
    show,
    summarise,
)
from examples.demo.settings import Kind

KEYS = [
    "samples_per_s", "targets_per_s", "padding_ratio", "steps_per_rank", "delivered", "expected",
    "duplicates", "idle_steps", "heldout_loss", "seconds",
]  # fmt: skip


def step(*delivered: int, end_s: float = 1.0) -> StepRecord:
    """A step with 6 tokens, 2 of padding and 3 targets a sample; without samples an idle one."""
    n = len(delivered)
    return StepRecord(
        end_s=end_s,
        delivered=delivered,
        tokens=6 * n,
        padded_tokens=8 * n or 8,
        targets=3 * n,
        idle=not delivered,
    )


def run(*ranks: list[StepRecord], expected: int, heldout_loss: float = 2.0) -> RunRecord:
    return RunRecord(ranks=tuple(map(tuple, ranks)), expected=expected, heldout_loss=heldout_loss)


GOOD = run([step(0, 2), step(4, end_s=2.0)], [step(1), step(3, end_s=4.0)], expected=5)
IDLE = run([step(0, 1), step(2, end_s=2.0)], [step(3), step(end_s=2.0)], expected=4)


def test_rates_use_the_time_of_the_slowest_rank() -> None:
    summary = summarise(GOOD)
    assert summary.seconds == 4.0
    assert summary.samples_per_s == 5 / 4
    assert summary.targets_per_s == 15 / 4
    assert (summary.delivered, summary.expected, summary.duplicates) == (5, 5, 0)


def test_an_idle_batch_counts_as_padding_and_as_no_delivery() -> None:
    summary = summarise(IDLE)
    assert summary.idle_steps == 1
    assert summary.delivered == 4
    assert summary.padding_ratio == pytest.approx(1 - 24 / 40)
    assert problems(IDLE) == []


def test_a_pass_without_steps_has_zeros_instead_of_a_division() -> None:
    summary = summarise(run([], [], expected=0))
    assert (summary.samples_per_s, summary.seconds, summary.steps_per_rank) == (0.0, 0.0, [0, 0])


BAD = {
    "different numbers of steps": run([step(0), step(1)], [step(2)], expected=3),
    "1 conversations never delivered, the first is 1": run([step(0)], [step(2)], expected=3),
    "1 conversations delivered more than once, the first is 2": run(
        [step(0, 2)], [step(1, 2)], expected=3
    ),
    "1 conversations delivered but not in the training part, the first is 7": run(
        [step(0)], [step(1, 7)], expected=2
    ),
}


@pytest.mark.parametrize(("message", "bad"), BAD.items())
def test_a_wrong_pass_is_named_and_makes_the_exit_status_1(message: str, bad: RunRecord) -> None:
    [found] = problems(bad)
    assert message in found
    runs: dict[Kind, RunRecord] = {"fixed": GOOD, "dgap": bad}
    out = io.StringIO()
    status = show(
        build_report(runs),
        {kind: problems(record) for kind, record in runs.items()},
        Console(file=out, width=200),
    )
    assert status == 1
    assert f"dgap: {found}" in out.getvalue()


def test_a_doubled_conversation_is_counted_once_for_each_extra_delivery() -> None:
    summary = summarise(run([step(0, 0, 0)], [step(1)], expected=2))
    assert (summary.delivered, summary.duplicates) == (4, 2)


def test_two_good_passes_give_exit_status_0() -> None:
    report = build_report({"fixed": GOOD, "dgap": GOOD})
    assert show(report, {"fixed": [], "dgap": []}, Console(file=io.StringIO())) == 0


def test_the_report_has_the_same_keys_three_times_and_is_plain_json() -> None:
    report = build_report({"fixed": GOOD, "dgap": IDLE})
    assert list(report) == ["fixed", "dgap", "ratio"]
    assert all(list(report[part]) == KEYS for part in report)
    assert json.loads(json.dumps(report)) == report


def test_the_ratio_is_dgap_over_fixed_and_none_where_fixed_is_zero() -> None:
    ratio = compare(summarise(GOOD), summarise(IDLE))
    assert ratio["seconds"] == 0.5
    assert ratio["steps_per_rank"] == [1.0, 1.0]
    assert ratio["duplicates"] is None


def test_a_record_survives_json() -> None:
    assert RunRecord.from_mapping(json.loads(json.dumps(asdict(IDLE)))) == IDLE
