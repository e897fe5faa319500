"""The invariant is inductive: it holds at the start, and every action preserves each conjunct.

Rules kept here:
1. One obligation per (conjunct, action); a check gathers those of one conjunct.
2. An action that can never happen proves nothing: each has a witness, checked with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product

from dgap.protocol.expr import Formula
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table

from .actions import all_actions, initial
from .asking import Obligation, parametric
from .check import Check
from .invariant_world import invariant
from .parametric import NUMBER, Conjunct, Scene
from .terms import Rank


@lru_cache(maxsize=8)
def action_scenes(table: Table) -> Mapping[str, Scene]:
    """The invariant with each action, by name; one per process, since building costs most."""
    return {action.name: Scene(table, invariant(table), action) for action in all_actions(table)}


def preserved(table: Table, conjunct: Conjunct) -> Iterator[Obligation]:
    """The conjunct after every action, at the ranks that the action can concern."""
    for name, scene in action_scenes(table).items():
        for goal in concerned(conjunct, scene.ranks):
            yield Obligation(name=name, scene=scene, goal=goal, after=True)


def concerned(conjunct: Conjunct, ranks: tuple[Rank, ...]) -> Iterator[Formula]:
    """The conjunct at the actor, and at every pair of ranks that the actor is one of."""
    number = [NUMBER] if conjunct.numbered else []
    for chosen in product(ranks, repeat=conjunct.ranks):
        if ranks[0] in chosen:
            yield conjunct.formula(*chosen, *number)


def at_start(table: Table, conjunct: Conjunct) -> Iterator[Obligation]:
    """The conjunct before the first action."""
    scene = Scene(table, (), None)
    scene.assumed = tuple(initial(rank) for rank in scene.ranks)
    number = [NUMBER] if conjunct.numbered else []
    for chosen in product(scene.ranks, repeat=conjunct.ranks):
        yield Obligation(name="initial state", scene=scene, goal=conjunct.formula(*chosen, *number))


def conjunct_check(table: Table, conjunct: Conjunct) -> Check:
    """The conjunct holds in every reachable state."""

    def obligations() -> Iterator[Obligation]:
        yield from at_start(table, conjunct)
        yield from preserved(table, conjunct)

    return parametric(
        f"invariant.{conjunct.name}", conjunct.property, conjunct.statement, obligations
    )


def invariant_checks(table: Table = TABLE) -> tuple[Check, ...]:
    """One check per conjunct."""
    return tuple(conjunct_check(table, conjunct) for conjunct in invariant(table))
