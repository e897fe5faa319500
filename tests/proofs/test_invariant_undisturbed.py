"""Worlds without early leaves: which actions are left, and what a train step waits for."""

from __future__ import annotations

from dgap.proofs.actions import ACTOR, all_actions
from dgap.proofs.invariant_undisturbed import (
    UNDISTURBED,
    awaited,
    stops,
    train,
    undisturbed,
    undisturbed_actions,
)
from dgap.proofs.invariant_world import invariant
from dgap.protocol.table import TABLE


def test_only_stops_breaks_and_leaving_are_left_out() -> None:
    every = {action.name for action in all_actions(TABLE)}
    kept = {action.name for action in undisturbed_actions(TABLE)}
    gone = every - kept
    assert {name.partition("_")[0] for name in gone} == {"stop", "verdict", "break", "leave"}
    assert [row.name for row in TABLE.rows if stops(row)] == ["verdict_stop"]
    assert kept - every == {"finish"}


def test_the_invariant_is_extended_and_not_replaced() -> None:
    assert undisturbed(TABLE) == (*invariant(TABLE), *UNDISTURBED)


def test_only_a_trained_step_waits_for_the_loops() -> None:
    waiting = [each for each in undisturbed_actions(TABLE) if awaited(each, (ACTOR,))]
    assert waiting == [train]
    assert awaited(None, (ACTOR,)) == ()
