"""What the invariant implies for rounds, and that a changed table is noticed."""

from __future__ import annotations

import pytest

from dgap.proofs.actions import ACTOR
from dgap.proofs.check import Check, Verdict
from dgap.proofs.obligations_rounds import (
    ASSIGNED,
    at_rest,
    ends_by_verdict,
    round_checks,
    rows_for,
    with_arguments,
)
from dgap.proofs.planted import row_named, with_row
from dgap.protocol.expr import Const, Term
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Ask, Table
from dgap.protocol.vocabulary import EffectKind, EventKind, argument, state


@pytest.mark.parametrize("check", round_checks(), ids=lambda each: each.id)
def test_the_consequences_of_the_invariant_are_proved(check: Check) -> None:
    assert check.run().verdict == Verdict.PROVED


def with_update(row: str, **changes: Term) -> Table:
    """The table with other updates in one row."""
    updates = dict(row_named(TABLE, row).updates) | changes
    return with_row(TABLE, row, updates=tuple(updates.items()))


@pytest.mark.parametrize(
    ("name", "planted"),
    [
        (
            "feasible.assignment",
            with_row(TABLE, "summed", guard=argument("assigned") < state("offered")),
        ),
        ("feasible.groups", with_update("summed", owed_groups=state("offered"))),
        (
            "feasible.batches",
            with_row(TABLE, "deliver", guard=argument("samples") > state("owed_samples")),
        ),
        (
            "failure.aligned",
            with_row(TABLE, "verdict_fail", asks=(Ask(EffectKind.FAILED, Const(7)),)),
        ),
    ],
)
def test_each_check_refutes_a_table_that_breaks_it(name: str, planted: Table) -> None:
    check = {each.id: each for each in round_checks(planted)}[name]
    assert check.run().verdict == Verdict.REFUTED


def test_arguments_of_an_event_are_replaced_by_terms() -> None:
    guard = argument("assigned").equals(state("offered"))
    assert with_arguments(guard, ASSIGNED) == state("offered").equals(state("offered"))


def test_rows_are_found_by_event() -> None:
    assert [row.name for row in rows_for(TABLE, EventKind.IDLE)] == ["idle", "end"]


def test_ranks_can_end_by_a_verdict() -> None:
    scene = at_rest(TABLE, ends_by_verdict(ACTOR), ACTOR["delivered"] >= 3)
    assert scene.theory.witness().verdict == Verdict.PROVED
