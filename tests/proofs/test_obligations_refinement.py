"""R1 is proved of the protocol and refuted where a row does what no abstract move does."""

from __future__ import annotations

import pytest

from dgap.proofs import obligations_refinement
from dgap.proofs.asking import Claim, discharge
from dgap.proofs.check import Check, Verdict
from dgap.proofs.obligations_refinement import refinement_checks
from dgap.proofs.planted import with_row
from dgap.protocol.expr import Const
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import Phase
from dgap.spec.abstract import CHANGE


def named(table: Table, id_: str) -> Claim:
    found = next(check for check in refinement_checks(table) if check.id == id_)
    assert isinstance(found, Claim)
    return found


@pytest.mark.parametrize("check", refinement_checks(), ids=lambda each: each.id)
def test_it_holds_of_the_protocol(check: Check) -> None:
    assert check.run().verdict == Verdict.PROVED


def refuted(check: Claim, action: str) -> bool:
    asked = [each for each in check.obligations() if each.name.endswith(action)]
    assert asked
    return any(discharge(each).verdict == Verdict.REFUTED for each in asked)


def test_an_iterator_that_ends_while_batches_are_owed_is_refuted() -> None:
    table = with_row(TABLE, "read", updates=(("ended", Const(1)),))
    assert refuted(named(table, "refines.moves"), "read")


def test_a_rank_that_fails_without_a_verdict_is_refuted() -> None:
    table = with_row(TABLE, "turn", target=Phase.FAILED)
    assert refuted(named(table, "refines.invariant"), "turn")


def test_the_map_is_read_for_every_name_of_the_rule() -> None:
    assert set(obligations_refinement.PARTS) == set(CHANGE)
