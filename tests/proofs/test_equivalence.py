"""Only a change that can never be seen is equivalent."""

from __future__ import annotations

import pytest

from dgap.proofs.equivalence import equivalence
from dgap.proofs.kill import is_equivalent
from dgap.proofs.planted import row_named, with_report, with_row
from dgap.protocol.expr import Const
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import Phase, state

TURN = row_named(TABLE, "turn")
READ = row_named(TABLE, "read")
HELD = ("held", state("held") + 1)


@pytest.mark.parametrize(
    "table",
    [
        with_row(TABLE, "turn", guard=state("owed_steps") <= 0),
        with_row(TABLE, "read", updates=(*READ.updates, ("exhausted", Const(0)))),
        with_report(TABLE, offered=state("held")),
    ],
    ids=["guard", "update", "report"],
)
def test_what_cannot_be_seen_is_equivalent(table: Table) -> None:
    assert is_equivalent(table)


@pytest.mark.parametrize(
    "table",
    [
        with_row(TABLE, "turn", guard=state("owed_steps") <= 1),
        with_row(TABLE, "read", updates=(HELD,)),
        with_report(TABLE, exhausted=Const(0)),
    ],
    ids=["guard", "update", "report"],
)
def test_what_can_be_seen_is_not(table: Table) -> None:
    assert equivalence(table)
    assert not is_equivalent(table)


@pytest.mark.parametrize(
    "table",
    [
        with_row(TABLE, "turn", target=Phase.EMIT),
        Table(rows=TABLE.rows[1:], report=TABLE.report),
        Table(rows=(*TABLE.rows, TURN), report=TABLE.report),
    ],
    ids=["target", "row less", "row more"],
)
def test_another_skeleton_is_never_equivalent(table: Table) -> None:
    assert equivalence(table) == ()
    assert not is_equivalent(table)
