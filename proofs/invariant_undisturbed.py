"""The invariant, part three: worlds in which nobody leaves early and nobody dies (for R1).

Rules kept here:
1. These worlds have fewer actions: `leave`, stops and breaks are left out. What then holds of
   every world is `UNDISTURBED`, beside the invariant.
2. The queue is known by its size and by what it holds in all: a batch taken from it has at most
   that, and the last one has all of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dgap.protocol.expr import Const, Formula, Name, Term, conjoin, implies
from dgap.protocol.transition import Row, Table
from dgap.protocol.vocabulary import EffectKind, EventKind, Phase

from .actions import ACTOR, Action, begin_step, finish_step, row_action
from .agreed import GATHER, final_at, kind_at, verdict_at
from .invariant_rank import is_in, zero
from .invariant_world import invariant
from .parametric import Conjunct
from .terms import Rank

BATCH = Name("world", "batch")
"""Samples in the oldest batch of the queue."""


def present(rank: Rank) -> Formula:
    """The loop takes part in step collectives until it has seen the end of an ended iterator."""
    return ~(rank["finished"].equals(1) & rank["ended"].equals(1))


def _queue(x: Rank) -> Formula:
    return conjoin(
        x["hand"] >= 0,
        x["hand"] <= x["received"],
        x["received"] <= x["delivered"],
        implies(x["begun"].equals(x["steps"]), x["received"].equals(x["delivered"])),
        implies(x["begun"].equals(x["done"]), x["hand"].equals(0)),
    )


def _over(x: Rank) -> Formula:
    done = x["begun"].equals(x["steps"]) & x["done"].equals(x["steps"])
    ended = is_in(x, Phase.CLOSED, Phase.FAILED) | x["ended"].equals(1)
    flag = x["finished"].equals(0) | x["finished"].equals(1)
    return flag & implies(x["finished"].equals(1), done & ended)


def _by_verdict(x: Rank) -> Formula:
    closed = verdict_at(x["left"]).equals(int(EffectKind.CLOSE))
    return conjoin(
        implies(is_in(x, Phase.FAILED), final_at(x["left"])),
        implies(is_in(x, Phase.CLOSED), closed),
    )


def _nobody_stops(x: Rank, number: Term) -> Formula:
    sent = conjoin(number >= 1, number <= x["entered"], kind_at(number).equals(GATHER))
    return implies(sent, x.said("stopped", number).equals(0))


UNDISTURBED: tuple[Conjunct, ...] = (
    Conjunct(
        name="nobody_left",
        property="R1",
        statement="no loop has left, and no rank has stopped",
        formula=lambda x: zero(x, "gone", "stopped"),
    ),
    Conjunct(
        name="nobody_stops",
        property="R1",
        statement="no report says that a loop has left",
        formula=_nobody_stops,
        numbered=True,
    ),
    Conjunct(
        name="by_verdict",
        property="R1",
        statement="ranks close as complete, and fail by a verdict",
        formula=_by_verdict,
    ),
    Conjunct(
        name="queue",
        property="R1",
        statement="what was received was delivered, and all of it when the queue is empty",
        formula=_queue,
    ),
    Conjunct(
        name="over",
        property="R1",
        statement="a loop that has seen the end has done all steps",
        formula=_over,
    ),
    Conjunct(
        name="waited_for",
        property="R1",
        statement="no loop has done a step that one taking part has not begun",
        formula=lambda x, y: implies(present(y), x["done"] <= y["begun"]),
        ranks=2,
    ),
)
"""What holds of worlds in which nobody leaves early and nobody dies, beside the invariant."""

_running = ACTOR["finished"].equals(0)
_last = (ACTOR["begun"] + 1).equals(ACTOR["steps"])
_waiting = ACTOR["delivered"] - ACTOR["received"]

take_batch = replace(
    begin_step,
    guard=conjoin(
        begin_step.guard,
        _running,
        BATCH >= 0,
        _waiting >= BATCH,
        implies(_last, BATCH.equals(_waiting)),
    ),
    updates=(
        *begin_step.updates,
        ("hand", BATCH),
        ("received", ACTOR["received"] + BATCH),
    ),
)
train = replace(
    finish_step,
    guard=finish_step.guard & _running,
    updates=(*finish_step.updates, ("hand", Const(0))),
)
see_end = Action(
    name="finish",
    guard=conjoin(
        _running,
        ACTOR["begun"].equals(ACTOR["done"]),
        ACTOR["begun"].equals(ACTOR["steps"]),
        is_in(ACTOR, Phase.CLOSED, Phase.FAILED) | ACTOR["ended"].equals(1),
    ),
    updates=(("finished", Const(1)),),
)


def undisturbed_actions(table: Table) -> tuple[Action, ...]:
    """The rows without stop and break, and what a loop does that stays to the end."""
    troubles = (EventKind.STOP, EventKind.BREAK)
    rows = (row for row in table.rows if row.event not in troubles and not stops(row))
    return (*(row_action(row) for row in rows), take_batch, train, see_end)


def stops(row: Row) -> bool:
    """The row ends a rank because a loop has left."""
    return any(ask.kind == EffectKind.STOPPED for ask in row.asks)


def awaited(action: Action | None, ranks: Iterable[Rank]) -> tuple[Formula, ...]:
    """A step collective is left once every loop that takes part has entered it."""
    if action is not train:
        return ()
    return tuple(implies(present(rank), rank["begun"] >= ACTOR["begun"]) for rank in ranks)


def undisturbed(table: Table) -> tuple[Conjunct, ...]:
    """The invariant of worlds in which nobody leaves early and nobody dies."""
    return (*invariant(table), *UNDISTURBED)
