"""Local moves of distinct ranks commute: what the reduced exploration rests on (world.py).

Rules kept here:
1. A local row is one of FILL or EMIT: it asks no other rank. Two such rows of two ranks, and one
   with any action of another rank, may happen in either order with the same result: neither makes
   the other impossible or changes what it does.
2. The same holds of a local row and a move of the rank's own loop.
3. No local row changes what a property that ranges over ranks sees, but for the end of an iterator.
4. What was so before the action is kept in a name, and compared with what is so after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

from dgap.protocol.expr import (
    TRUE,
    Choose,
    Const,
    Every,
    Formula,
    Greatest,
    Least,
    Name,
    Node,
    Some,
    Term,
    conjoin,
    has_aggregate,
    implies,
    rebuild,
)
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Row, Table
from dgap.protocol.vocabulary import EffectKind, EventKind, Phase
from dgap.spec.properties import PROPERTIES

from .actions import ACTOR, GHOST_OF, Action, all_actions, begin_step, finish_step, row_action
from .asking import Obligation, parametric
from .check import Check
from .invariant_world import invariant
from .obligations_progress import acted_by
from .parametric import Scene
from .terms import Rank

B = Rank("b")

_INTERFERING = (EventKind.STOP, EventKind.BREAK)
"""Reduced worlds have none of these."""


def local_rows(table: Table) -> tuple[Row, ...]:
    """The rows that may be taken before what other ranks do."""
    here = (Phase.FILL, Phase.EMIT)
    return tuple(row for row in table.rows if row.phase in here and row.event not in _INTERFERING)


def _at(rank: Rank, value: Term) -> Term:
    """A term about the actor, read at another rank."""
    found = acted_by(rank, value.equals(0))
    left = getattr(found, "left", None)
    if not isinstance(left, Term):
        raise TypeError(f"{value} did not stay a term")
    return left


def kept(name: str) -> Name:
    """What a figure was before the action."""
    return Name("world", f"kept_{name}")


def _as_number(formula: Formula) -> Term:
    return Choose(formula, Const(1), Const(0))


def _possible(action: Action, rank: Rank) -> Formula:
    """The action may happen at the rank, as far as this rank and the actor have a say.

    A verdict is a function of a vector that was sent (decision.agreement); it is not asked for.
    """
    guard = action.guard
    if action.row is not None and has_aggregate(action.row.guard):
        guard = row_action(replace(action.row, guard=TRUE)).guard
    own = acted_by(rank, guard)
    if not action.awaited:
        return own
    return own & (ACTOR[action.awaited] >= _at(rank, action.awaits))


class _Compared:
    """Formulas and terms that are to be the same after an action."""

    def __init__(self) -> None:
        self.before: list[Formula] = []
        self.after: list[Formula] = []

    def same(self, name: str, value: Term) -> None:
        """The term does not change."""
        self.before.append(kept(name).equals(value))
        self.after.append(value.equals(kept(name)))

    def stays(self, name: str, formula: Formula) -> None:
        """What was possible stays so."""
        self.before.append(kept(name).equals(_as_number(formula)))
        self.after.append(implies(kept(name).equals(1), formula))

    def unhindered(self, action: Action, rank: Rank) -> None:
        """The action at the rank stays possible, and does what it would have done."""
        self.stays(action.name, _possible(action, rank))
        for field, value in action.updates:
            if not has_aggregate(value):
                self.same(f"{action.name}_{field}", _at(rank, value))


def _apart() -> Formula:
    """The two named ranks are two."""
    zero = Const(0)
    return ACTOR.said("rank", zero).differs(B.said("rank", zero))


def _obligation(name: str, scene: Scene, compared: _Compared) -> Obligation:
    scene.assumed = (*scene.assumed, *compared.before)
    return Obligation(name=name, scene=scene, goal=conjoin(*compared.after), after=True)


def _others(table: Table) -> Iterator[Obligation]:
    """A local row hinders no action of another rank, and changes no report that is awaited."""
    for row in local_rows(table):
        compared = _Compared()
        for action in all_actions(table):
            compared.unhindered(action, B)
        scene = Scene(table, (), row_action(row), assumed=(_apart(),))
        yield _obligation(f"before others: {row.name}", scene, compared)
        if any(ask.kind == EffectKind.GATHER for ask in row.asks):
            complete = Scene(
                table, (), row_action(row), assumed=(ACTOR["entered"] >= B["entered"],)
            )
            goal = ACTOR["entered"] + 1 > B["entered"]
            name = f"{row.name} sends into no gather that can be left"
            yield Obligation(name=name, scene=complete, goal=goal)


def _by_others(table: Table) -> Iterator[Obligation]:
    """No action of another rank hinders a local row."""
    for action in all_actions(table):
        compared = _Compared()
        for row in local_rows(table):
            compared.unhindered(row_action(row), B)
        scene = Scene(table, (), action, assumed=(_apart(),))
        yield _obligation(f"after others: {action.name}", scene, compared)


def _own_loop(table: Table) -> Iterator[Obligation]:
    """A local row and a move of the same rank's loop do not hinder each other."""
    loop = (begin_step, finish_step)
    for row in local_rows(table):
        compared = _Compared()
        for move in loop:
            compared.unhindered(move, ACTOR)
        scene = Scene(table, invariant(table), row_action(row))
        yield _obligation(f"before its loop: {row.name}", scene, compared)
    for move in loop:
        compared = _Compared()
        for row in local_rows(table):
            compared.unhindered(row_action(row), ACTOR)
        scene = Scene(table, invariant(table), move)
        yield _obligation(f"after its loop: {move.name}", scene, compared)


def seen_at(formula: Formula, own: Rank, other: Rank) -> Formula:
    """A property at one rank, with one other for those that it ranges over."""

    def change(node: Node) -> Node:
        match node:
            case Every(body) | Some(body):
                return change(body)
            case Least() | Greatest():
                return Name("world", "bound")  # over sources and shares, which never change
            case Name("state" | "world", name):
                return own[GHOST_OF.get(name, name)]
            case Name("report", name):
                return other[GHOST_OF.get(name, name)]
        return rebuild(node, change)

    found = change(formula)
    if not isinstance(found, Formula):
        raise TypeError(f"{formula} did not stay a formula")
    return found


def _unseen(table: Table) -> Iterator[Obligation]:
    joint = [each for each in PROPERTIES if each.kind == "always" and has_aggregate(each.formula)]
    for row in local_rows(table):
        if any(ask.kind == EffectKind.END for ask in row.asks):
            continue
        compared = _Compared()
        for each in joint:
            for own, other in permutations((ACTOR, B)):
                seen = _as_number(seen_at(each.formula, own, other))
                compared.same(f"{each.id}_{own.name}", seen)
        # explored sources give as many samples in each pass (spec/environment.py)
        alike = ACTOR["source"].equals(ACTOR["unread"] + ACTOR["read"])
        scene = Scene(table, invariant(table), row_action(row), assumed=(_apart(), alike))
        yield _obligation(f"unseen: {row.name}", scene, compared)


def commute_checks(table: Table = TABLE) -> tuple[Check, ...]:
    """What justifies to explore the local moves of one rank before those of others."""
    return (
        parametric(
            "commute.ranks",
            "reduction",
            "local rows and any actions of distinct ranks commute",
            lambda: (each for build in (_others, _by_others) for each in build(table)),
        ),
        parametric(
            "commute.loop",
            "reduction",
            "local rows commute with the moves of the rank's own training loop",
            lambda: _own_loop(table),
        ),
        parametric(
            "commute.unseen",
            "reduction",
            "no local row but the end of an iterator changes what a property over ranks sees",
            lambda: _unseen(table),
        ),
    )
