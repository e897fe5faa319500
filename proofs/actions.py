"""What one rank can do in one step of the world: a row of the table, or its training loop.

Rules kept here:
1. The protocol's part of an action is the row itself; only the surroundings are added:
   collectives are entered and left, sources shrink, queues fill.
2. The surroundings are kept in ghost fields of a rank, named in `GHOSTS`.
3. A collective may be left once all ranks have entered it, and not all need to leave together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dgap.protocol.expr import TRUE, Const, Formula, Name, Term, conjoin
from dgap.protocol.transition import NOTHING, Row, Table
from dgap.protocol.vocabulary import EffectKind, EventKind, Phase, State, state

from .terms import Rank

GHOSTS: Mapping[str, str] = {
    "entered": "collectives that this rank has entered",
    "left": "collectives that this rank has left, with their result",
    "unread": "samples that the source of this pass still has",
    "source": "samples of the first pass (never changes)",
    "share": "quota mode: samples this rank has to deliver (never changes)",
    "taken": "samples read in all passes",
    "pass_start": "what remained to be delivered when this pass began",
    "begun": "steps that the training loop has begun; it has taken that many batches",
    "done": "steps that the training loop has completed",
    "gone": "1 when the training loop has left early",
}

GHOST_OF: Mapping[str, str] = {"taken": "begun", "trained": "done", "left": "gone"}
"""Fields of the environment that the actions call otherwise."""

ACTOR = Rank("a")
"""The rank that acts."""

QUEUE_LIMIT = Name("world", "queue_limit")
"""Batches that the output queue holds at most (Q)."""

FRESH = Name("world", "fresh")
"""The size of the source of a restarted pass."""

ENTERING = (EffectKind.GATHER, EffectKind.TALLY)
LEAVING = (EventKind.GATHERED, EventKind.REFUSE, EventKind.SUMMED)
EMITTING = (EffectKind.BATCH, EffectKind.IDLE_BATCH)


@dataclass(frozen=True, kw_only=True)
class Action:
    """One action of one rank.

    `guard` is read over the actor's state (scope state) and its ghosts; `awaited` names the
    ghost of all ranks that must have reached `awaits` before the action may happen.
    """

    name: str
    guard: Formula
    updates: tuple[tuple[str, Term], ...]
    row: Row | None = None
    awaited: str = ""
    awaits: Term = NOTHING


def all_actions(table: Table) -> tuple[Action, ...]:
    """Every row of the table with its surroundings, then those of the training loop."""
    return (*(row_action(row) for row in table.rows), begin_step, finish_step, leave)


def row_action(row: Row) -> Action:
    """A row in its surroundings."""
    guards = [state("phase").equals(row.phase), row.guard]
    ghosts: dict[str, Term] = {}
    asked = [ask.kind for ask in row.asks]
    if row.event == EventKind.READ:
        guards.append(ACTOR["unread"] > 0)
        ghosts |= {"unread": ACTOR["unread"] - 1, "taken": ACTOR["taken"] + 1}
    if row.event == EventKind.EXHAUST:
        guards.append(ACTOR["unread"].equals(0))
    if row.event == EventKind.STOP:
        guards.append(ACTOR["gone"].equals(1))
    if any(kind in EMITTING for kind in asked):
        guards.append(has_room(ACTOR))
    if EffectKind.RESTART in asked:
        guards.append(FRESH >= 0)
        ghosts |= {"unread": FRESH, "pass_start": ACTOR["remaining"]}
    if any(kind in ENTERING for kind in asked):
        ghosts["entered"] = ACTOR["entered"] + 1
    leaves = row.event in LEAVING
    if leaves:
        ghosts["left"] = ACTOR["left"] + 1
    return Action(
        name=row.name,
        guard=conjoin(*guards),
        updates=(*row.updates, ("phase", Const(row.target)), *ghosts.items()),
        row=row,
        awaited="entered" if leaves else "",
        awaits=ACTOR["entered"],
    )


def has_room(rank: Rank) -> Formula:
    """The output queue takes a batch; a loop that has left takes all and drops them."""
    return (rank["steps"] - rank["begun"] < QUEUE_LIMIT) | rank["gone"].equals(1)


def takes_part(rank: Rank) -> Formula:
    """The rank's training loop still enters the collectives of its steps.

    A loop that left early does not (A4), nor does one whose iterator ended under tail "stop"
    and whose batches are all done: torch's Join stands in for it.
    """
    over = rank["ended"].equals(1) & rank["done"].equals(rank["steps"])
    return rank["gone"].equals(0) & ~over


begin_step = Action(
    name="begin_step",
    guard=conjoin(
        takes_part(ACTOR),
        ACTOR["begun"].equals(ACTOR["done"]),
        ACTOR["begun"] < ACTOR["steps"],
    ),
    updates=(("begun", ACTOR["begun"] + 1),),
)
"""The training loop takes a batch and enters the collective of that step."""

finish_step = Action(
    name="finish_step",
    guard=takes_part(ACTOR) & ACTOR["begun"].equals(ACTOR["done"] + 1),
    updates=(("done", ACTOR["done"] + 1),),
    awaited="begun",
    awaits=ACTOR["begun"],
)
"""The collective of a step completes once every loop that takes part has begun that step."""

leave = Action(
    name="leave",
    guard=takes_part(ACTOR) & ACTOR["begun"].equals(ACTOR["done"]),
    updates=(("gone", Const(1)),),
)
"""The training loop breaks out between two steps; the protocol hears of it by the event STOP."""


def initial(rank: Rank) -> Formula:
    """A rank before its first sample, whatever its source, share and first window are."""
    quota, window = Name("setting", "quota"), Name("setting", "window")
    free = ("target", "remaining")
    fixed = (
        rank[name].equals(int(value))
        for name, value in State()._asdict().items()
        if name not in free
    )
    counts = ("entered", "left", "taken", "begun", "done", "gone")
    return conjoin(
        TRUE,
        *fixed,
        *(rank[name].equals(0) for name in counts),
        rank["target"] >= Name("setting", "accumulation"),
        rank["target"] <= window,
        rank["source"] >= 0,
        rank["unread"].equals(rank["source"]),
        rank["remaining"] >= 0,
        quota.equals(1) | rank["remaining"].equals(0),
        rank["share"].equals(rank["remaining"]),
        rank["pass_start"].equals(rank["remaining"]),
    )


def live(rank: Rank) -> Formula:
    """The rank has not closed or failed."""
    return ~rank["phase"].equals(Phase.CLOSED) & ~rank["phase"].equals(Phase.FAILED)
