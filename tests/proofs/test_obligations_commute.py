"""Local moves commute; a row that reads or shows more than its own is refuted."""

from __future__ import annotations

import pytest

from dgap.proofs.asking import Claim, discharge
from dgap.proofs.check import Check, Verdict
from dgap.proofs.obligations_commute import commute_checks, local_rows, seen_at
from dgap.proofs.planted import with_row
from dgap.proofs.terms import Rank
from dgap.protocol.expr import Const, Every
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import Phase, state
from dgap.spec.environment import ranked, world


def refuted(table: Table, id_: str, name: str) -> bool:
    check = next(check for check in commute_checks(table) if check.id == id_)
    assert isinstance(check, Claim)
    asked = [each for each in check.obligations() if each.name.endswith(name)]
    assert asked
    return any(discharge(each).verdict == Verdict.REFUTED for each in asked)


@pytest.mark.parametrize("check", commute_checks(), ids=lambda each: each.id)
def test_it_holds_of_the_protocol(check: Check) -> None:
    assert check.run().verdict == Verdict.PROVED


def test_local_rows_are_those_of_filling_and_emitting() -> None:
    names = [row.name for row in local_rows(TABLE)]
    assert {"read", "exhaust", "offer", "deliver", "idle", "end", "turn"} <= set(names)
    assert not any(name.startswith(("verdict", "summed", "stop", "break")) for name in names)


def test_a_row_that_a_property_over_ranks_sees_is_refuted() -> None:
    table = with_row(TABLE, "read", updates=(("steps", state("steps") + 1),))
    assert refuted(table, "commute.unseen", "read")


def test_an_iterator_that_ends_while_it_is_owed_a_step_hinders_its_loop() -> None:
    table = with_row(TABLE, "deliver", updates=(("ended", Const(1)), ("steps", Const(0))))
    assert refuted(table, "commute.loop", "deliver")


def test_a_property_is_read_at_two_ranks() -> None:
    a, b = Rank("a"), Rank("b")
    formula = Every(ranked("taken") <= world("taken") + state("phase"))
    assert seen_at(formula, a, b) == (b["begun"] <= a["begun"] + a["phase"])
    assert Phase.FILL in {row.phase for row in local_rows(TABLE)}
