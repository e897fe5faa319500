"""Something can always happen, and not for ever; tables in which that fails are refuted."""

from __future__ import annotations

import pytest

from dgap.proofs.actions import ACTOR
from dgap.proofs.check import Check, Verdict
from dgap.proofs.obligations_progress import DUE, acted_by, progress_checks
from dgap.proofs.planted import row_named, with_row
from dgap.proofs.terms import Rank
from dgap.protocol.expr import Const, Term
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import EventKind, Phase, setting, state

NEVER = Const(0).equals(1)


@pytest.mark.parametrize("check", progress_checks(), ids=lambda each: each.id)
def test_progress_is_proved_for_any_number_of_ranks(check: Check) -> None:
    assert check.run().verdict == Verdict.PROVED


def with_update(row: str, **changes: Term) -> Table:
    updates = dict(row_named(TABLE, row).updates) | changes
    return with_row(TABLE, row, updates=tuple(updates.items()))


@pytest.mark.parametrize(
    ("name", "planted"),
    [
        ("deadlock.free", with_row(TABLE, "idle", guard=NEVER)),
        ("deadlock.free", with_row(TABLE, "read", guard=state("held") < 1)),
        ("deadlock.free", with_row(TABLE, "turn", guard=state("held").equals(0))),
        ("crash.accepted", with_row(TABLE, "break_tally", target=Phase.FILL)),
        ("measure.round", with_update("idle", owed_steps=state("owed_steps"))),
        ("measure.rounds", with_row(TABLE, "verdict_restart", guard=setting("quota").equals(0))),
        ("measure.quota", with_update("summed", remaining=state("remaining"))),
    ],
)
def test_each_check_refutes_a_table_that_breaks_it(name: str, planted: Table) -> None:
    check = {each.id: each for each in progress_checks(planted)}[name]
    assert check.run().verdict == Verdict.REFUTED


def test_only_what_comes_by_itself_counts_as_progress() -> None:
    withheld = {EventKind.FAIL, EventKind.STOP, EventKind.BREAK, EventKind.REFUSE}
    assert not withheld & set(DUE)


def test_a_formula_about_the_actor_is_read_at_another_rank() -> None:
    other = Rank("x")
    formula = state("held") < ACTOR["begun"]
    assert acted_by(other, formula) == (other["held"] < other["begun"])
