"""Collectives, counted per rank, and what they announce: consequences of the invariant.

Rules kept here:
1. A collective is known by its number. What a rank has issued follows from how many it has entered,
   so ranks are compared by that number and by nothing else.
2. What was announced for a round is compared with what was delivered of it, row by row.
"""

from __future__ import annotations

from collections.abc import Iterator

from dgap.protocol.expr import Const, Term, implies
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import EventKind, Phase, argument
from dgap.spec.laws import named

from .actions import ACTOR
from .asking import Obligation, parametric
from .check import Check
from .invariant_rank import calm, is_in
from .obligations_decision import B
from .obligations_groups import scene as figures
from .obligations_invariant import action_scenes
from .obligations_rounds import at_rest, rows_for, with_arguments


def _counted(table: Table) -> Iterator[Obligation]:
    anywhere = at_rest(table)
    goals = {
        "entered: one apart": ACTOR["entered"] <= B["entered"] + 1,
        "left: one apart": ACTOR["left"] <= B["left"] + 1,
        "rounds: one apart": ACTOR["rounds"] <= B["rounds"] + 1,
    }
    for name, goal in goals.items():
        yield Obligation(name=name, scene=anywhere, goal=goal)
    inside = (is_in(rank, Phase.OFFER, Phase.TALLY) for rank in (ACTOR, B))
    together = at_rest(table, *inside, ACTOR["entered"].equals(B["entered"]))
    goal = ACTOR["phase"].equals(B["phase"]) & ACTOR["rounds"].equals(B["rounds"])
    yield Obligation(name="inside the same one, of one kind", scene=together, goal=goal)


def _again(table: Table) -> Iterator[Obligation]:
    """A rank that has nothing, and will get nothing more, still enters the next gather."""
    nothing = {"needed": Const(0), "units": Const(0)}
    idle = (ACTOR["held"].equals(0), ACTOR["exhausted"].equals(1))
    for row in rows_for(table, EventKind.OFFER):
        scene = at_rest(table, is_in(ACTOR, row.phase), *idle)
        yield Obligation(name=row.name, scene=scene, goal=with_arguments(row.guard, nothing))
    for row in rows_for(table, EventKind.TURN):
        scene = at_rest(table, is_in(ACTOR, row.phase), *idle, ACTOR["owed_steps"].equals(0))
        yield Obligation(name=row.name, scene=scene, goal=row.guard)


def _round_total(changed: dict[str, Term]) -> Term:
    """Samples of this round that are delivered, owed or given up, and those of earlier rounds."""
    names = ("delivered", "owed_samples", "lost")
    delivered, owed, lost = (changed.get(name, ACTOR[name]) for name in names)
    return delivered + owed + lost


def _announced(table: Table) -> Iterator[Obligation]:
    """A rank announces what it assigned; all of it is delivered, or given up after trouble."""
    before = _round_total({})
    for name, scene in action_scenes(table).items():
        row = scene.action.row if scene.action else None
        if row is None:
            continue
        after = _round_total(dict(row.updates))
        if row.event == EventKind.SUMMED:
            goal = after.equals(before + argument("assigned"))
            yield Obligation(name=f"{name}: owes what it announced", scene=scene, goal=goal)
        else:
            goal = after.equals(before)
            yield Obligation(name=f"{name}: nothing gained or lost", scene=scene, goal=goal)
        if row.event == EventKind.TURN:
            all_of_it = implies(calm(ACTOR), ACTOR["owed_samples"].equals(0))
            yield Obligation(name=f"{name}: all delivered", scene=scene, goal=all_of_it)
    announced, delivered = named("announced"), named("delivered")
    own, given = named("own_announced"), named("own_delivered")
    start = figures(announced.equals(0), delivered.equals(0))
    yield Obligation(name="no rank", scene=start, goal=announced.equals(delivered))
    more = figures(announced.equals(delivered), own.equals(given))
    total = (announced + own).equals(delivered + given)
    yield Obligation(name="one rank more in the total", scene=more, goal=total)


def collective_checks(table: Table = TABLE) -> tuple[Check, ...]:
    """Which collectives ranks issue, and whether what these announce comes true."""
    return (
        parametric(
            "collectives.counted",
            "S1",
            "counted per rank, collectives are the same in the same order, at most one apart",
            lambda: _counted(table),
        ),
        parametric(
            "collectives.again",
            "L1",
            "a rank with nothing left still enters every round",
            lambda: _again(table),
        ),
        parametric(
            "announced.delivered",
            "S4",
            "samples announced for a round are those delivered in it, unless given up and counted",
            lambda: _announced(table),
        ),
    )
