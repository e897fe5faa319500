"""Liveness for any W: something can always happen, and not for ever.

Rules kept here:
1. Deadlock freedom names its witnesses: the rank that has entered the fewest collectives and
   the training loop that has begun the fewest steps. One of the two, or the rank that is not
   done, can always act.
2. Termination is a measure that every action lowers, per rank; nothing is summed over ranks.
3. Only actions that nobody may withhold count: a failure, a stop or a break is never needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from dgap.protocol.expr import (
    Choose,
    Const,
    Formula,
    Name,
    Node,
    Term,
    conjoin,
    implies,
    rebuild,
)
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import LIVE, EffectKind, EventKind, Phase, state

from .actions import ACTOR, Action, all_actions, leave, row_action, takes_part
from .agreed import final_at, rounds_at
from .asking import Obligation, parametric
from .check import Check
from .invariant_rank import JOIN, QUOTA, A, is_in
from .invariant_world import invariant
from .obligations_decision import B, vector_scene
from .obligations_invariant import action_scenes
from .obligations_rounds import ASSIGNED, LAST_BATCH, rows_for, with_arguments
from .parametric import Scene
from .terms import Rank

LEAST = Rank("least")
"""The rank that has entered the fewest collectives."""
SLOWEST = Rank("slowest")
"""Of the training loops that take part, one that has begun the fewest steps."""

OFFERING: Mapping[str, Term] = {
    "needed": Choose(state("held") > 0, Const(1), Const(0)),
    "units": ACTOR["quotient"],
}
"""A sound offer exists: one unit, and `quotient` = held // A."""

DUE: Mapping[EventKind, Mapping[str, Term]] = {
    EventKind.READ: {},
    EventKind.EXHAUST: {},
    EventKind.OFFER: OFFERING,
    EventKind.SUMMED: ASSIGNED,
    EventKind.DELIVER: LAST_BATCH,
    EventKind.IDLE: {},
    EventKind.TURN: {},
}
"""Events that come by themselves when they can, with arguments that make them legal."""


def acted_by(rank: Rank, formula: Formula) -> Formula:
    """A formula about the actor, read at another rank."""

    def change(node: Node) -> Node:
        if isinstance(node, Name) and node.scope == "state":
            return rank[node.name]
        if isinstance(node, Name) and node.scope == "world":
            owner, _, field = node.name.partition(".")
            return rank[field] if owner == ACTOR.name else node
        return rebuild(node, change)

    changed = change(formula)
    if not isinstance(changed, Formula):
        raise TypeError(f"{formula} did not stay a formula")
    return changed


def _arrived(action: Action) -> Formula:
    """What the action waits for has happened: the least of all ranks is far enough."""
    if action.awaited == "entered":
        return LEAST["entered"] >= action.awaits
    if action.awaited == "begun":
        return SLOWEST["begun"] >= action.awaits
    return Const(0).equals(0)


def _enabled(table: Table, rank: Rank) -> Iterator[Formula]:
    """The rank can act: one formula for each action that comes by itself."""
    for row in rows_for(table, EventKind.GATHERED)[:1]:
        # some verdict holds of every vector (check decision.total): any row stands for all
        yield acted_by(rank, state("phase").equals(row.phase) & _arrived(row_action(row)))
    for action in all_actions(table):
        if action is leave or (action.row is not None and action.row.event not in DUE):
            continue
        values = DUE[action.row.event] if action.row is not None else {}
        guard = with_arguments(action.guard, values)
        yield acted_by(rank, guard & _arrived(action))


def _finished(rank: Rank) -> Formula:
    """The rank is at rest, and its training loop has left or done all steps."""
    loop = rank["gone"].equals(1) | rank["done"].equals(rank["steps"])
    return is_in(rank, Phase.CLOSED, Phase.FAILED) & loop


def _division(rank: Rank) -> Formula:
    """Every count has a quotient by A."""
    quotient = rank["quotient"]
    whole = (quotient * A <= rank["held"]) & (rank["held"] < (quotient + 1) * A)
    return whole & (quotient >= 0)


def _deadlock(table: Table) -> Iterator[Obligation]:
    """Unless all is finished, some action is possible. B is any rank that is not finished."""
    ranks = (ACTOR, B, LEAST, SLOWEST)
    named: list[Formula] = []
    for rank in ranks:
        named += [
            _division(rank),
            LEAST["entered"] <= rank["entered"],
            implies(takes_part(rank), takes_part(SLOWEST) & (SLOWEST["begun"] <= rank["begun"])),
            # without a broken collective a rank fails by a verdict only
            implies(is_in(rank, Phase.FAILED), final_at(rank["left"])),
        ]
    scene = Scene(
        table,
        invariant(table),
        None,
        others=(B, LEAST, SLOWEST),
        assumed=(*named, ~_finished(B)),
    )
    stuck = conjoin(
        *(~enabled for rank in (B, LEAST, SLOWEST) for enabled in _enabled(table, rank))
    )
    yield Obligation(name="somebody can act", scene=scene, goal=~stuck)


def _breaks(table: Table) -> Iterator[Obligation]:
    scene = Scene(table, invariant(table), None)
    rows = rows_for(table, EventKind.BREAK)
    for phase in LIVE:
        accepts = [row for row in rows if row.phase == phase and row.target == Phase.FAILED]
        none = conjoin(*(~row.guard for row in accepts))
        goal = implies(ACTOR["phase"].equals(phase), ~none)
        yield Obligation(name=f"break in {phase.name}", scene=scene, goal=goal)


def _order(phase: Term) -> Term:
    """Phases in the order in which a round goes through them after its verdict, falling."""
    order = (Phase.TALLY, Phase.EMIT, Phase.FILL, Phase.OFFER)
    result: Term = Const(0)
    for height, each in enumerate(reversed(order), start=1):
        result = Choose(phase.equals(each), Const(height), result)
    return result


def _effort(value: Mapping[str, Term]) -> Term:
    """What a phase can still do before it must end."""

    def unset(name: str) -> Term:
        return Choose(value[name].equals(0), Const(1), Const(0))

    flags = unset("failed") + unset("stopped") + unset("exhausted")
    return flags + value["unread"] + value["owed_steps"]


_MEASURED = ("phase", "failed", "stopped", "exhausted", "unread", "owed_steps", "rounds")


def _measure(table: Table) -> Iterator[Obligation]:
    """Every row opens a round, or goes on in the order of phases, or spends effort."""
    for name, scene in action_scenes(table).items():
        action = scene.action
        if action is None or action.row is None:
            continue
        changed = dict(action.updates)
        old = {field: ACTOR[field] for field in _MEASURED}
        new = {field: changed.get(field, old[field]) for field in _MEASURED}
        before, after = _order(old["phase"]), _order(new["phase"])
        spends = after.equals(before) & (_effort(new) < _effort(old))
        goal = (new["rounds"] > old["rounds"]) | (after < before) | spends
        yield Obligation(name=name, scene=scene, goal=goal & (_effort(new) >= 0))


def _rounds(table: Table) -> Iterator[Obligation]:
    """After every verdict but the last, some rank is found whose samples bound the rounds."""
    number = ACTOR["entered"]
    for row in rows_for(table, EventKind.GATHERED):
        if row.target not in LIVE:
            continue
        asked = [ask.kind for ask in row.asks]
        if EffectKind.TALLY in asked:
            scene = vector_scene(table, JOIN, row.guard)
            bound = _some_voice(scene, lambda x: rounds_at(number) <= x["source"])
            yield Obligation(name="rounds <= samples of some rank", scene=scene, goal=bound)
        else:
            scene = vector_scene(table, JOIN)
            yield Obligation(name=f"no {row.name}", scene=scene, goal=~row.guard)
        scene = vector_scene(table, QUOTA, row.guard)
        bound = _some_voice(scene, lambda x: rounds_at(number) <= x["share"] * 2 - 1)
        name = f"{row.name}: rounds < 2 x share of some rank"
        yield Obligation(name=name, scene=scene, goal=bound)


def _some_voice(scene: Scene, bounds: Callable[[Rank], Formula]) -> Formula:
    """Some voice of the vector is as said."""
    for formula in scene.assumed:
        scene.now(formula)
    voices = [Rank(str(voice)) for voice in scene.vector.voices([])]
    return ~conjoin(*(~bounds(voice) for voice in voices))


def _quota_progress(table: Table) -> Iterator[Obligation]:
    """Quota: rounds take from what remains, and a restart ends a pass that took something."""
    for name, scene in action_scenes(table).items():
        changed = dict(scene.action.updates) if scene.action else {}
        remaining = changed.get("remaining", ACTOR["remaining"])
        yield Obligation(
            name=f"{name} adds nothing", scene=scene, goal=remaining <= state("remaining")
        )
    for row in rows_for(table, EventKind.SUMMED):
        scene = action_scenes(table)[row.name]
        less = dict(row.updates)["remaining"] < state("remaining")
        goal = implies(QUOTA & (state("offered") >= 1), less)
        yield Obligation(name="a round takes from an offering rank", scene=scene, goal=goal)
    for row in rows_for(table, EventKind.OFFER):
        scene = action_scenes(table)[row.name]
        said_dry = ACTOR.said("dry", ACTOR["entered"] + 1).equals(1)
        took = ACTOR["pass_start"] > ACTOR["remaining"]
        untroubled = state("failed").equals(0)
        goal = implies(said_dry & untroubled, took)
        yield Obligation(name="a dry pass has delivered", scene=scene, goal=goal)


def _loops_end(table: Table) -> Iterator[Obligation]:
    for name, scene in action_scenes(table).items():
        if scene.action is not None and scene.action.row is None:
            bounded = (ACTOR["done"] <= ACTOR["begun"]) & (ACTOR["begun"] <= ACTOR["steps"])
            yield Obligation(name=f"{name}: bounded", scene=scene, goal=bounded, after=True)
            changed = dict(scene.action.updates)
            old = {field: ACTOR[field] for field in ("begun", "done", "gone")}
            new = {field: changed.get(field, old[field]) for field in old}
            grows = (
                new["begun"] + new["done"] + new["gone"] > old["begun"] + old["done"] + old["gone"]
            )
            yield Obligation(name=f"{name}: goes on", scene=scene, goal=grows)


def progress_checks(table: Table = TABLE) -> tuple[Check, ...]:
    """Deadlock freedom, termination, and the end of survivors after a crash."""
    return (
        parametric(
            "deadlock.free",
            "L1",
            "ranks, collectives, queues and training loops: somebody can always act",
            lambda: _deadlock(table),
        ),
        parametric(
            "crash.accepted",
            "L3",
            "in every live phase a broken collective leads to FAILED",
            lambda: _breaks(table),
        ),
        parametric(
            "measure.round",
            "L2",
            "within a round every row spends something finite",
            lambda: _measure(table),
        ),
        parametric(
            "measure.rounds",
            "L2",
            "rounds <= max over ranks of samples + 1; quota: <= 2 x max share, and 1 at least",
            lambda: _rounds(table),
        ),
        parametric(
            "measure.quota",
            "L2",
            "quota: every round and every pass lowers what remains",
            lambda: _quota_progress(table),
        ),
        parametric(
            "measure.loops",
            "L2",
            "a training loop takes no more steps than were emitted",
            lambda: _loops_end(table),
        ),
    )
