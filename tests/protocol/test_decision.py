"""The decision: one verdict for every vector, and a step count within its contract."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dgap.protocol import decision
from dgap.protocol.expr import Formula
from dgap.protocol.vocabulary import Event, EventKind, Policy, Report, Settings, State
from dgap.spec.oracle_expr import Reading, holds, value_of
from dgap.spec.oracle_step import reading_of

VERDICTS: dict[str, Formula] = {
    "fail": decision.FAIL,
    "stop": decision.STOP,
    "restart": decision.RESTART,
    "close": decision.CLOSE,
    "step": decision.STEP,
}
FLAGS = [
    Report(offered=offered, failed=failed, stopped=stopped, dry=dry)
    for offered, failed, stopped, dry in product((0, 1), repeat=4)
]


def reading(reports: list[Report], settings: Settings | None = None) -> Reading:
    event = Event(EventKind.GATHERED, reports=tuple(reports))
    return reading_of(settings or Settings(window=9), State(), event)


def verdict_in_words(reports: list[Report]) -> str:
    if any(report.failed for report in reports):
        return "fail"
    if any(report.stopped for report in reports):
        return "stop"
    if any(report.dry for report in reports):
        return "restart"
    return "step" if any(report.offered for report in reports) else "close"


@pytest.mark.parametrize("world_size", [1, 2, 3])
def test_exactly_one_verdict_holds_and_it_is_the_first_in_the_order(world_size: int) -> None:
    for reports in product(FLAGS, repeat=world_size):
        at = reading(list(reports))
        holding = [name for name, verdict in VERDICTS.items() if holds(verdict, at)]
        assert holding == [verdict_in_words(list(reports))]


def offers(accumulation: int) -> st.SearchStrategy[list[Report]]:
    def offer(offered: int, extra: int, exhausted: bool) -> Report:
        most = -(-offered // accumulation)
        needed = min(most, max(1, most - extra)) if offered else 0
        return Report(
            offered=offered, needed=needed, units=offered // accumulation, exhausted=exhausted
        )

    one = st.builds(offer, st.integers(0, 9), st.integers(0, 9), st.booleans())
    return st.lists(one, min_size=1, max_size=5).filter(lambda rs: any(r.offered for r in rs))


@pytest.mark.parametrize("policy", list(Policy))
@pytest.mark.parametrize("accumulation", [1, 2, 3])
def test_the_step_count_keeps_its_contract(policy: Policy, accumulation: int) -> None:
    settings = Settings(window=9, accumulation=accumulation, policy=policy)

    @given(reports=offers(accumulation))
    def keeps(reports: list[Report]) -> None:
        steps = value_of(decision.STEP_COUNT, reading(reports, settings))
        least = min(report.offered for report in reports if report.offered)
        assert steps >= 1
        assert steps % accumulation == 0
        assert steps <= max(least, accumulation)
        assert steps <= accumulation * max(report.needed for report in reports)

    keeps()


@given(reports=offers(1))
def test_the_paper_takes_the_widest_need_that_the_least_offer_allows(
    reports: list[Report],
) -> None:
    settings = Settings(window=9, policy=Policy.PAPER)
    widest = max(report.needed for report in reports)
    least = min(report.offered for report in reports if report.offered)
    assert value_of(decision.STEP_COUNT, reading(reports, settings)) == min(widest, least)


@given(reports=offers(1))
def test_fill_takes_the_narrowest_need_until_a_source_has_ended(reports: list[Report]) -> None:
    settings = Settings(window=9, policy=Policy.FILL)
    offering = [report for report in reports if report.offered]
    ended = any(report.exhausted for report in reports)
    need = (max if ended else min)(report.needed for report in offering)
    least = min(report.offered for report in offering)
    assert value_of(decision.STEP_COUNT, reading(reports, settings)) == max(1, min(need, least))


def test_the_lowest_failed_and_the_lowest_stopped_rank_are_named() -> None:
    fine, failed, stopped = Report(), Report(failed=3), Report(stopped=1)
    at = reading([fine, stopped, failed, failed, stopped])
    assert value_of(decision.FAILED_RANK, at) == 2
    assert value_of(decision.STOPPED_RANK, at) == 1
    assert holds(decision.FAIL, at)


def test_a_drained_rank_does_not_hold_down_the_step_count() -> None:
    reports = [Report(exhausted=1), Report(offered=4, needed=2, units=4)]
    assert value_of(decision.STEP_COUNT, reading(reports)) == 2
