"""Samples by identity: one place each, delivered once."""

from __future__ import annotations

import pytest

from dgap.proofs.check import Check, Verdict
from dgap.proofs.obligations_identity import DELIVERED, MOVES, PLACES, Places, identity_checks
from dgap.proofs.planted import row_named, with_row
from dgap.proofs.solver import SAMPLE, Theory, constant
from dgap.protocol.expr import Const, Term
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import state


@pytest.mark.parametrize("check", identity_checks(), ids=lambda each: each.id)
def test_conservation_by_identity_is_proved(check: Check) -> None:
    assert check.run().verdict == Verdict.PROVED


def test_nothing_leaves_the_place_of_delivered_samples() -> None:
    assert all(source != DELIVERED for source, _ in MOVES)
    assert {goal for _, goal in MOVES} | {0} == set(range(len(PLACES)))


def test_a_count_of_zero_leaves_no_sample_there() -> None:
    places, sample, place = Places(), constant("s", SAMPLE), constant("p")
    facts = [places.holds_of(sample), places.count(place) == 0]
    assert Theory(facts).implies(places.of(sample) != place).verdict == Verdict.PROVED
    assert Theory(facts[:1]).implies(places.of(sample) != place).verdict == Verdict.REFUTED


def with_update(row: str, **changes: Term) -> Table:
    updates = dict(row_named(TABLE, row).updates) | changes
    return with_row(TABLE, row, updates=tuple(updates.items()))


@pytest.mark.parametrize(
    "planted",
    [
        with_update("read", held=state("held") + 2),
        with_update("deliver", delivered=state("delivered")),
        with_update("summed", held=Const(0)),
        with_update("verdict_restart", dropped=state("dropped")),
        with_update("fail_emitting", lost=state("lost")),
        with_update("turn", held=state("held") + 1),
    ],
)
def test_a_row_that_makes_or_loses_a_sample_is_no_chain_of_moves(planted: Table) -> None:
    (chains,) = (each for each in identity_checks(planted) if each.id == "identity.chains")
    assert chains.run().verdict == Verdict.REFUTED
