"""Ranges are proved of the protocol and refuted where a row computes without bound."""

from __future__ import annotations

import pytest

from dgap.proofs.asking import Claim, discharge
from dgap.proofs.check import Check, Verdict
from dgap.proofs.obligations_ranges import INPUT, LIMIT, MOST_ROUNDS, computed, range_checks
from dgap.proofs.planted import row_named, with_row
from dgap.protocol.expr import TRUE, Greatest
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import reported, state


def refuted(table: Table, id_: str, row: str) -> bool:
    check = next(check for check in range_checks(table) if check.id == id_)
    assert isinstance(check, Claim)
    asked = [each for each in check.obligations() if each.name == row]
    assert asked
    return any(discharge(each).verdict == Verdict.REFUTED for each in asked)


@pytest.mark.parametrize("check", range_checks(), ids=lambda each: each.id)
def test_it_holds_of_the_protocol(check: Check) -> None:
    assert check.run().verdict == Verdict.PROVED


def test_an_offer_without_bounds_is_refuted() -> None:
    assert refuted(with_row(TABLE, "offer", guard=TRUE), "ranges.rows", "offer")


def test_a_count_that_is_squared_is_refuted() -> None:
    updates = dict(row_named(TABLE, "verdict_step").updates)
    squared = updates | {"rounds": (state("rounds") + 1) * (state("rounds") + 1)}
    table = with_row(TABLE, "verdict_step", updates=tuple(squared.items()))
    assert refuted(table, "ranges.rows", "verdict_step")


def test_the_greatest_product_of_inputs_just_fits() -> None:
    assert MOST_ROUNDS * (INPUT - 1) < LIMIT <= 2 * INPUT * INPUT


def test_what_other_ranks_computed_is_not_computed_again() -> None:
    most = Greatest(reported("units") + 1, TRUE, state("held") * 2)
    assert list(computed(most + 1)) == [most + 1]
