"""How long a sample waits: proved of the protocol, refuted where the oldest may stay."""

from __future__ import annotations

import pytest

from dgap.proofs.asking import Claim
from dgap.proofs.check import Check, Verdict
from dgap.proofs.obligations_age import age_checks
from dgap.proofs.planted import row_named, with_row
from dgap.protocol.expr import TRUE
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import argument


def named(table: Table, id_: str) -> Check:
    return next(check for check in age_checks(table) if check.id == id_)


@pytest.mark.parametrize("check", age_checks(), ids=lambda each: each.id)
def test_it_holds_of_the_protocol(check: Check) -> None:
    assert check.run().verdict == Verdict.PROVED


@pytest.mark.parametrize("guard", [TRUE, argument("assigned") >= 0])
def test_a_round_that_may_place_nothing_is_refuted(guard: object) -> None:
    table = with_row(TABLE, "summed", guard=guard)
    assert named(table, "age.bound").run().verdict == Verdict.REFUTED


def test_samples_that_are_read_into_a_full_window_are_refuted() -> None:
    table = with_row(TABLE, "read", guard=TRUE)
    assert named(table, "age.read").run().verdict == Verdict.REFUTED


def test_a_verdict_that_counts_two_rounds_is_refuted() -> None:
    row = row_named(TABLE, "verdict_step")
    updates = dict(row.updates)
    twice = tuple((updates | {"rounds": updates["rounds"] + 1}).items())
    table = with_row(TABLE, "verdict_step", updates=twice)
    assert named(table, "age.kept").run().verdict == Verdict.REFUTED


def test_every_claim_is_asked_somewhere() -> None:
    assert all(
        any(True for _ in each.obligations()) for each in age_checks() if isinstance(each, Claim)
    )
