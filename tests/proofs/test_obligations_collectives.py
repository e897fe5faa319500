"""Collectives and announcements: proved of the protocol, refuted of changed tables."""

from __future__ import annotations

import pytest

from dgap.proofs.check import Check, Verdict
from dgap.proofs.obligations_collectives import collective_checks
from dgap.proofs.planted import idle_rank_does_not_offer_again, row_named, with_row
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table


def named(table: Table, id_: str) -> Check:
    return next(check for check in collective_checks(table) if check.id == id_)


@pytest.mark.parametrize("check", collective_checks(), ids=lambda each: each.id)
def test_it_holds_of_the_protocol(check: Check) -> None:
    assert check.run().verdict == Verdict.PROVED


def test_an_idle_rank_that_stays_away_is_refuted() -> None:
    table = idle_rank_does_not_offer_again()
    assert named(table, "collectives.again").run().verdict == Verdict.REFUTED


def test_a_batch_that_is_not_counted_is_refuted() -> None:
    updates = tuple(u for u in row_named(TABLE, "deliver").updates if u[0] != "delivered")
    table = with_row(TABLE, "deliver", updates=updates)
    assert named(table, "announced.delivered").run().verdict == Verdict.REFUTED
