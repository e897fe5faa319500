"""S12, for any W and any counts: how long a sample waits in the window.

Rules kept here:
1. One sample is followed. Of the others only two counts matter: how many older ones are still in
   the window, and how many samples there are in all.
2. Of the grouping one thing is assumed, which the runtime's keeps (`partition`, twin in
   spec/oracle_grouping.py): if anything is placed in groups, the oldest sample is.
3. The bound is that of spec/laws.py; a run that meets it is in tightness.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from dgap.protocol.expr import Formula, Name, Term, conjoin, implies
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import EffectKind, EventKind, Phase, setting
from dgap.spec.laws import LAWS

from .actions import ACTOR
from .asking import Obligation, parametric
from .check import Check
from .invariant_rank import is_in
from .obligations_groups import with_figures
from .obligations_invariant import action_scenes
from .obligations_rounds import at_rest
from .parametric import Scene

OLDER = Name("world", "older")
"""Older samples than ours in the window."""
FRONT = Name("world", "front")
"""How many of these a round places in groups."""
READ_ROUND = Name("world", "read_round")
"""The round that our sample was read for."""


def waits(rounds: Term, older: Term, held: Term) -> Formula:
    """What holds of a sample in the window while the round with this number is gathered or has
    its groups to be formed: each round so far took an older sample."""
    return conjoin(
        READ_ROUND >= 1,
        rounds >= READ_ROUND,
        older >= 0,
        older < held,
        rounds - READ_ROUND + older <= setting("window") - 1,
    )


def _waiting() -> Formula:
    """Our sample waits in the window of rank a."""
    inside = is_in(ACTOR, Phase.TALLY)
    live = is_in(ACTOR, Phase.FILL, Phase.OFFER, Phase.EMIT)
    rounds, held = ACTOR["rounds"], ACTOR["held"]
    return conjoin(
        implies(inside, waits(rounds, OLDER, held)),
        implies(live, waits(rounds + 1, OLDER, held)),
        inside | live,
    )


_WAITING = _waiting()


def _read(table: Table) -> Iterator[Obligation]:
    """A sample that was just read is the youngest."""
    for name, scene in action_scenes(table).items():
        if scene.action and scene.action.row and scene.action.row.event == EventKind.READ:
            read = assuming(scene, READ_ROUND.equals(ACTOR["rounds"] + 1))
            now = waits(ACTOR["rounds"] + 1, ACTOR["held"] - 1, ACTOR["held"])
            yield Obligation(name=name, scene=read, goal=now, after=True)


def assuming(scene: Scene, *assumed: Formula) -> Scene:
    """The scene with one more hypothesis, as a scene of its own."""
    return Scene(scene.table, scene.conjuncts, scene.action, scene.others, assumed)


def _kept(table: Table) -> Iterator[Obligation]:
    """Whatever the rank does, the sample waits on within the bound, or has left the window."""
    for name, scene in action_scenes(table).items():
        action = scene.action
        if action is None or action.row is None:
            continue
        changed = dict(action.updates)
        target, held = action.row.target, changed.get("held", ACTOR["held"])
        if action.row.event == EventKind.SUMMED:
            placed = ACTOR["held"] - held
            grouped = conjoin(
                FRONT >= 0,
                FRONT <= OLDER,
                placed >= FRONT,
                placed - FRONT <= ACTOR["held"] - 1 - OLDER,
                implies(placed >= 1, FRONT >= 1),  # the oldest is placed, and is not ours
            )
            stays = assuming(scene, _WAITING, grouped)
            goal = waits(ACTOR["rounds"] + 1, OLDER - FRONT, held)
            yield Obligation(name=f"{name}: an older one leaves", scene=stays, goal=goal)
        elif target in (Phase.FILL, Phase.OFFER, Phase.EMIT, Phase.TALLY):
            if action.row.asks and action.row.asks[0].kind == EffectKind.RESTART:
                continue  # the window is dropped, and the sample with it: S4 counts it
            rounds = changed.get("rounds", ACTOR["rounds"])
            on = waits(rounds if target == Phase.TALLY else rounds + 1, OLDER, held)
            # as an implication: an iterator ends only where no sample can wait
            yield Obligation(name=name, scene=scene, goal=implies(_WAITING, on))


def _leaves(table: Table) -> Iterator[Obligation]:
    """A sample that is placed in a group is placed in time, and one is placed in every round."""
    law = next(law.formula for law in LAWS if law.id == "S12")
    read = with_figures(law, {"read_round": READ_ROUND, "group_round": ACTOR["rounds"]})
    if not isinstance(read, Formula):
        raise TypeError("S12 did not stay a formula")
    scene = at_rest(table, is_in(ACTOR, Phase.TALLY), _WAITING)
    yield Obligation(name="in time", scene=scene, goal=read)
    for name, each in action_scenes(table).items():
        row = each.action.row if each.action else None
        if row is not None and row.event == EventKind.SUMMED:
            placed = ACTOR["held"] - dict(row.updates).get("held", ACTOR["held"])
            goal = implies(ACTOR["held"] >= 1, placed >= 1)
            yield Obligation(name=f"{name}: one at least", scene=each, goal=goal)


def age_checks(table: Table = TABLE) -> tuple[Check, ...]:
    """A sample waits for B - 1 rounds at most. That one does is in tightness.py."""
    return (
        parametric(
            "age.read", "S12", "a sample that is read is the youngest", lambda: _read(table)
        ),
        parametric(
            "age.kept",
            "S12",
            "each round in which a sample waits takes an older one out of the window",
            lambda: _kept(table),
        ),
        parametric(
            "age.bound",
            "S12",
            "a sample read for round k is placed in a group by round k + B - 1",
            lambda: _leaves(table),
        ),
    )
