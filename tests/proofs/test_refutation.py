"""A broken run can be read, and be run again if its table can be built by name."""

from __future__ import annotations

from dataclasses import replace

from dgap.proofs.check import Outcome, Verdict
from dgap.proofs.planted import finished_while_holding
from dgap.proofs.refutation import refuted_by
from dgap.proofs.world import World
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import Settings
from dgap.spec.environment import initial_environment

SEARCHED = Outcome(verdict=Verdict.UNKNOWN, states=7, depth=3)


def refuted(table: Table) -> Outcome:
    world = World(Settings(window=2), 1, table=table)
    root = world.root([initial_environment(1)])
    return refuted_by(SEARCHED, world, (root, world.successors(root)[0]), "S5")


def test_what_was_searched_is_kept_and_what_is_broken_is_told() -> None:
    outcome = refuted(finished_while_holding())
    assert (outcome.verdict, outcome.states, outcome.depth) == (Verdict.REFUTED, 7, 3)
    assert outcome.detail == "S5 is broken after 1 moves"
    assert outcome.trace
    assert outcome.schedule is not None
    assert outcome.schedule.broken == "S5"


def test_a_table_without_a_name_has_a_trace_and_no_schedule() -> None:
    table = finished_while_holding()
    unknown = replace(table, rows=table.rows[:-1])
    assert refuted(unknown).trace
    assert refuted(unknown).schedule is None
