"""Bugs planted on purpose: copies of the table with one rule changed.

Rules kept here:
1. A planted table differs from the protocol in the named rule and in nothing else.
2. Each must be refuted by an obligation and by the explorer; they show that checks can fail.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from dgap.protocol.decision import WANTED
from dgap.protocol.expr import Choose, Const, Term, larger
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Ask, Row, Table
from dgap.protocol.vocabulary import EffectKind, Phase, setting, state

_drained = state("exhausted").equals(1) & state("held").equals(0)


def row_named(table: Table, name: str) -> Row:
    """The row of that name. Raises KeyError if the table has none."""
    for row in table.rows:
        if row.name == name:
            return row
    raise KeyError(f"the table has no row {name!r}; it has {[row.name for row in table.rows]}")


def with_row(table: Table, name: str, **changes: Any) -> Table:
    """A copy in which the fields of the row of that name are replaced. Raises KeyError."""
    changed = replace(row_named(table, name), **changes)
    return replace(table, rows=tuple(changed if row.name == name else row for row in table.rows))


def with_report(table: Table, **values: Term) -> Table:
    """A copy in which fields of the report are read off the state by other expressions."""
    return replace(
        table, report=tuple((name, values.get(name, value)) for name, value in table.report)
    )


def finished_while_holding() -> Table:
    """A rank reports that it has nothing as soon as its source has ended, window or not.

    This is the bug of the reference implementation: samples still held are lost in silence.
    """
    ended = state("exhausted").equals(1)
    names = ("offered", "needed", "units")
    return with_report(TABLE, **{name: Choose(ended, Const(0), state(name)) for name in names})


def idle_rank_does_not_offer_again() -> Table:
    """A drained rank that has been through a round enters no further gather: its peers wait."""
    offer = row_named(TABLE, "offer")
    again = _drained & (state("rounds") > 0)
    return with_row(TABLE, "offer", guard=offer.guard & ~again)


def drained_rank_closes_alone() -> Table:
    """A drained rank that owes nothing closes without a verdict, while its peers go on."""
    turn = row_named(TABLE, "turn")
    goes_on = with_row(TABLE, "turn", guard=turn.guard & ~_drained)
    leaves = replace(turn, name="close_alone", guard=turn.guard & _drained, target=Phase.CLOSED)
    return replace(goes_on, rows=(*goes_on.rows, leaves))


def step_count_above_least_offer() -> Table:
    """T is what the fullest rank wants, although a peer offers fewer samples than that."""
    step_count = setting("accumulation") * larger(WANTED, 1)
    step = row_named(TABLE, "verdict_step")
    updates = dict(step.updates) | {"owed_steps": step_count}
    asks = (Ask(EffectKind.TALLY, step_count),)
    return with_row(TABLE, "verdict_step", updates=tuple(updates.items()), asks=asks)


PLANTED: Mapping[str, Callable[[], Table]] = {
    build.__name__: build
    for build in (
        finished_while_holding,
        idle_rank_does_not_offer_again,
        drained_rank_closes_alone,
        step_count_above_least_offer,
    )
}
"""Every planted bug by name."""
