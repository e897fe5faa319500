"""Ranges, for any W: what fits 31 bits going in stays within 63 bits everywhere.

Rules kept here:
1. Inputs are the window, each source, each share: below `INPUT`. The number of rounds is bounded by
   L2 (measure.rounds), which is taken from there and not proved again.
2. Every value that a row computes is asked about, intermediate ones too: fields of the state, what
   a report and an effect carry, and each sum and product on the way.
"""

from __future__ import annotations

from collections.abc import Iterator

from dgap.protocol.expr import (
    AGGREGATES,
    Arithmetic,
    Formula,
    Node,
    Term,
    conjoin,
    parts,
)
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Row, Table
from dgap.protocol.vocabulary import argument

from .actions import ACTOR, FRESH, all_actions, initial
from .agreed import GATHER, kind_at, rounds_at
from .asking import Obligation, parametric
from .check import Check
from .invariant_world import invariant
from .obligations_invariant import concerned
from .parametric import Conjunct, Scene, setting
from .terms import Rank

INPUT = 2**31
"""Inputs are below this: two thousand million samples on a rank."""
LIMIT = 2**63
"""Counts stay below this (A7); words on the wire are signed 64-bit integers."""
MOST_ROUNDS = 2 * (INPUT - 1)
"""By L2: the greatest source and one more, or twice the greatest share."""

B = setting("window")


def small(value: Term) -> Formula:
    """An input within its bound."""
    return (value >= 0) & (value < INPUT)


def _inputs(*ranks: Rank) -> tuple[Formula, ...]:
    own = (small(rank[name]) for rank in ranks for name in ("source", "share"))
    return (small(B), small(FRESH), *own)


def _offered(x: Rank, number: Term) -> Formula:
    sent = conjoin(number >= 1, number <= x["entered"], kind_at(number).equals(GATHER))
    return ~sent | (x.said("offered", number) <= B)


COUNTED: tuple[Conjunct, ...] = (
    Conjunct(
        name="pass_length",
        property="S9",
        statement="a pass reads no more than its source has",
        formula=lambda x: x["unread"] + x["read"] < INPUT,
    ),
    Conjunct(
        name="offered_window",
        property="S9",
        statement="nobody offers more than a window",
        formula=_offered,
        numbered=True,
    ),
    Conjunct(
        name="steps_of_rounds",
        property="S9",
        statement="a round has at most B steps",
        formula=lambda x: conjoin(
            x["owed_steps"] <= B, x["steps"] + x["owed_steps"] <= x["rounds"] * B
        ),
    ),
    Conjunct(
        name="dropped_windows",
        property="S9",
        statement="a restart drops at most a window",
        formula=lambda x: x["dropped"] <= x["passes"] * B,
    ),
)


def _scenes(table: Table) -> Iterator[Scene]:
    conjuncts = (*invariant(table), *COUNTED)
    for action in all_actions(table):
        yield Scene(table, conjuncts, action, assumed=_inputs(ACTOR))


def _counted(table: Table) -> Iterator[Obligation]:
    start = Scene(table, (), None)
    start.assumed = (*(initial(rank) for rank in start.ranks), *_inputs(*start.ranks))
    for conjunct in COUNTED:
        for goal in concerned(conjunct, start.ranks):
            yield Obligation(name=f"{conjunct.name} at the start", scene=start, goal=goal)
    for scene in _scenes(table):
        for conjunct in COUNTED:
            name = scene.action.name if scene.action else ""
            for goal in concerned(conjunct, scene.ranks):
                yield Obligation(name=name, scene=scene, goal=goal, after=True)


def computed(node: Node) -> Iterator[Term]:
    """Every sum, difference and product that is computed from what one rank knows.

    What an aggregate reads at other ranks is an index, or what a rank reported: in range when that
    rank computed it.
    """
    if isinstance(node, AGGREGATES):
        return
    if isinstance(node, Arithmetic):
        yield node
    for part in parts(node):
        yield from computed(part)


def _values(row: Row) -> Iterator[Term]:
    yield from computed(row.guard)
    for value in (*(new for _, new in row.updates), *(ask.argument for ask in row.asks)):
        if not isinstance(value, AGGREGATES):
            yield value
        yield from computed(value)


_BOUNDED = (rounds_at(ACTOR["entered"]) <= MOST_ROUNDS, small(argument("code")))
"""L2 at this rank, and what the engine passes with a failure: a FailureCode."""


def _in_range(table: Table) -> Iterator[Obligation]:
    for scene in _scenes(table):
        row = scene.action.row if scene.action else None
        if row is not None:
            scene.assumed = (*scene.assumed, *_BOUNDED)
            goal = conjoin(*(_within(value) for value in dict.fromkeys(_values(row))))
            yield Obligation(name=row.name, scene=scene, goal=goal)


def _within(value: Term) -> Formula:
    return (value < LIMIT) & (value > -LIMIT)


def range_checks(table: Table = TABLE) -> tuple[Check, ...]:
    """What the compiled step and the codec carry fits 64-bit words."""
    return (
        parametric(
            "ranges.counts",
            "S9",
            "steps are bounded by rounds x B, drops by passes x B, a pass by its source",
            lambda: _counted(table),
        ),
        parametric(
            "ranges.rows",
            "S9",
            "with inputs below 2**31 every value a row computes stays within 63 bits",
            lambda: _in_range(table),
        ),
    )
