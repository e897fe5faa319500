"""The checks by exploration: what passes, what is refuted, and what stays unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from dgap.proofs import exploration, families
from dgap.proofs.check import Check, Outcome, Reach, Verdict
from dgap.proofs.exploration import (
    CONTROLS,
    ends_in,
    exploration_checks,
    holds_in,
    nothing_broken_in,
    planted_breaks,
    refines_in,
    shown_in,
)
from dgap.proofs.families import FAMILIES, Family
from dgap.protocol.expr import TRUE, Const
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import Settings, state
from dgap.spec.properties import PROPERTIES, Property
from dgap.spec.witnesses import WITNESSES

CHECKS = exploration_checks()
TINY = Family(
    name="tiny",
    scope="W=2, 0..1 samples",
    settings=(Settings(window=2),),
    witnesses=("one_ahead",),
    most_samples=1,
)
FALSE = Property(
    id="false", statement="nothing is ever read", formula=state("read") < 1, witness="one_ahead"
)


@pytest.fixture
def record(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Sets the recorded number of states of the family `tiny`."""

    def set_count(count: int) -> None:
        monkeypatch.setattr(families, "expected_states", lambda: {"tiny": count})

    return set_count


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The property FALSE is watched as well."""
    monkeypatch.setattr(families, "PROPERTIES", (*PROPERTIES, FALSE))
    families.explored.cache_clear()
    yield
    families.explored.cache_clear()


def by_id(id_: str) -> Property:
    return next(each for each in (*PROPERTIES, *WITNESSES) if each.id == id_)


def limited(monkeypatch: pytest.MonkeyPatch) -> Family:
    """A family whose search does not finish."""
    monkeypatch.setattr(families, "STATE_LIMIT", 10)
    return replace(TINY, name="limited")


def test_ids_are_unique_and_every_check_says_how_far_it_reaches() -> None:
    assert len({check.id for check in CHECKS}) == len(CHECKS)
    assert all(check.reach == Reach.EXHAUSTIVE and "W=" in check.scope for check in CHECKS)


def test_every_property_has_a_check_and_every_witness_has_one() -> None:
    ids = {check.id for check in CHECKS}
    for each in PROPERTIES:
        assert any(id_.startswith(f"{each.id}.") for id_ in ids), each.id
    assert {f"seen.{each.id}" for each in WITNESSES} <= ids
    assert {f"all.{family.name}" for family in FAMILIES} <= ids
    assert {f"ends.{family.name}" for family in FAMILIES} <= ids


def test_only_the_controls_are_expected_to_be_refuted() -> None:
    refuted = [check for check in CHECKS if check.expected == Verdict.REFUTED]
    assert len(refuted) == len(CONTROLS) >= 3
    assert all(check.id.startswith("control.") for check in refuted)


@pytest.mark.parametrize(
    "check", [check for check in CHECKS if check.id.startswith("control.")], ids=lambda c: c.id
)
def test_a_planted_bug_is_refuted_by_a_trace_that_names_rank_and_row(check: Check) -> None:
    outcome = check.run()
    assert outcome.verdict == Verdict.REFUTED
    assert outcome.trace[0].startswith("rank 0  starts with")
    assert any("verdict" in line for line in outcome.trace)


def test_the_trace_of_samples_lost_ends_with_the_rank_that_closed_on_them() -> None:
    check = next(check for check in CHECKS if check.id == "control.finished_while_holding")
    trace = check.run().trace
    assert trace[-1].split() == ["rank", "1", "verdict_close", "OFFER", "->", "CLOSED", "rounds=1"]
    assert any("offered=1" in line for line in trace)


def test_a_property_that_holds_is_proved_with_its_counts() -> None:
    outcome = holds_in(TINY, by_id("S1a"))
    assert outcome.verdict == Verdict.PROVED
    assert outcome.states > 100
    assert outcome.depth > 10
    assert refines_in(TINY).verdict == Verdict.PROVED
    assert ends_in(TINY).detail.startswith("the longest run has")


@pytest.mark.usefixtures("watched")
def test_a_property_that_does_not_hold_is_refuted_with_a_shortest_trace() -> None:
    outcome = holds_in(TINY, FALSE)
    assert outcome.verdict == Verdict.REFUTED
    assert outcome.detail == "false is broken after 1 moves"
    assert outcome.trace[-1].split() == ["rank", "1", "read", "held=1", "read=1", "unread=0"]


def test_a_property_whose_witness_is_not_reached_is_unknown() -> None:
    outcome = holds_in(TINY, by_id("L3"))
    assert outcome.verdict == Verdict.UNKNOWN
    assert "a_survivor_fails is not reached" in outcome.detail


def test_a_witness_that_is_not_reached_is_refuted_and_one_that_is_has_a_trace() -> None:
    assert shown_in(TINY, by_id("a_survivor_fails")).verdict == Verdict.REFUTED
    shown = shown_in(TINY, by_id("one_ahead"))
    assert shown.verdict == Verdict.PROVED
    assert "verdict" in shown.trace[-1]


def test_another_number_of_states_is_refuted_and_says_where_it_is_recorded(
    record: Callable[[int], None],
) -> None:
    states = ends_in(TINY).states
    record(states)
    assert nothing_broken_in(TINY).verdict == Verdict.PROVED
    record(states + 1)
    outcome = nothing_broken_in(TINY)
    assert outcome.verdict == Verdict.REFUTED
    assert f"{states} states instead of {states + 1}" in outcome.detail
    assert "expected_states.json" in outcome.detail


@pytest.mark.parametrize(
    "run",
    [
        lambda family: holds_in(family, by_id("S1a")),
        refines_in,
        ends_in,
        nothing_broken_in,
        lambda family: shown_in(family, by_id("all_close_with_samples")),
    ],
)
def test_a_search_that_did_not_finish_decides_nothing(
    run: Callable[[Family], Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    family = limited(monkeypatch)
    families.explored.cache_clear()
    assert run(family).verdict == Verdict.UNKNOWN
    families.explored.cache_clear()


def test_a_table_without_the_bug_is_not_refuted() -> None:
    outcome = planted_breaks(lambda: TABLE, "S5")
    assert outcome.verdict == Verdict.PROVED
    assert outcome.detail == "the planted bug was not found"


def test_a_run_that_can_go_in_circles_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    def rounds_without_end() -> Table:
        turn = next(row for row in TABLE.rows if row.name == "stop_reading")
        again = replace(turn, guard=TRUE, updates=(("stopped", Const(1) - state("stopped")),))
        return replace(TABLE, rows=tuple(again if row is turn else row for row in TABLE.rows))

    family = replace(TINY, name="circles", stops=1, refinement=False)
    found = families.explore_family(family, table=rounds_without_end())
    monkeypatch.setattr(exploration, "explored", lambda _: found)
    outcome = ends_in(family)
    assert outcome.verdict == Verdict.REFUTED
    assert outcome.trace
