"""Mutants that change nothing: proved for every state that the invariant allows.

Rules kept here:
1. The invariant is that of the protocol, and only states and events that it allows are compared.
   There both tables do the same; so they reach the same states, and one may stand for the other.
2. Where a guard differs nothing of the row is assumed but its phase and its surroundings, since
   what the table makes of a vector must not help to show that it makes the same of it.
3. What is not proved is not equivalent; a time-out proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dgap.protocol.expr import Formula, Term, conjoin
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Row, Table
from dgap.protocol.vocabulary import Phase, state

from .actions import ACTOR, row_action
from .asking import Obligation
from .invariant_rank import is_in
from .invariant_world import invariant
from .obligations_reception import iff, open_scene
from .parametric import Scene, at_rank


def equivalence(table: Table) -> tuple[Obligation, ...]:
    """What must be shown for the table to do as the protocol does; none if it cannot.

    It cannot where rows were added, dropped or lead elsewhere, or where they ask for another
    effect.
    """
    pairs = [pair for pair in zip(TABLE.rows, table.rows, strict=False) if pair[0] != pair[1]]
    if len(TABLE.rows) != len(table.rows) or any(_skeleton(a) != _skeleton(b) for a, b in pairs):
        return ()
    found = [obligation for old, new in pairs for obligation in _same_row(old, new)]
    return (*found, *_same_report(table))


def _skeleton(row: Row) -> tuple[object, ...]:
    return (row.name, row.phase, row.event, row.target, tuple(ask.kind for ask in row.asks))


def _same_row(old: Row, new: Row) -> Iterator[Obligation]:
    """Both rows apply to the same, and then do the same."""
    if old.guard != new.guard:
        scene, goal = open_scene(TABLE, old), iff(old.guard, new.guard)
        yield Obligation(name=f"{old.name} applies", scene=scene, goal=goal)
    if (old.updates, old.asks) != (new.updates, new.asks):
        action = replace(row_action(old), row=None, updates=())
        scene, goal = Scene(TABLE, invariant(TABLE), action), conjoin(*_same_values(old, new))
        yield Obligation(name=f"{old.name} does", scene=scene, goal=goal)


def _same_values(old: Row, new: Row) -> Iterator[Formula]:
    first, second = dict(old.updates), dict(new.updates)
    for name in sorted({*first, *second}):
        yield _value(first, name).equals(_value(second, name))
    for one, other in zip(old.asks, new.asks, strict=True):
        yield one.argument.equals(other.argument)


def _value(updates: dict[str, Term], name: str) -> Term:
    return updates.get(name, state(name))


def _same_report(table: Table) -> Iterator[Obligation]:
    """A rank that has published its report would have published the same."""
    scene = Scene(TABLE, invariant(TABLE), None, assumed=(is_in(ACTOR, Phase.OFFER),))
    for (name, old), (_, new) in zip(TABLE.report, table.report, strict=True):
        if old != new:
            goal = at_rank(ACTOR, old).equals(at_rank(ACTOR, new))
            yield Obligation(name=f"report of {name}", scene=scene, goal=goal)
