"""What surrounds the protocol, as data: sources, collectives, queues, training loops, faults.

The environment is written in the language of the table. Each rank has the fields of `Environment`;
a row says when something may happen at a rank (`guard`, over that rank's state, its environment
and aggregates over all ranks) and how that rank's environment changes. Rules kept here:
1. A row with an `event` offers that event to the protocol; the table may still refuse it. A row
   without one is the environment's own move (a training loop, a crash). A response says how the
   environment takes an effect that the protocol asked for.
2. Nothing of the protocol is decided here: no verdict, no step count, no legal argument.
3. A collective is entered and left apart: a rank may leave while a peer is still inside it.

Weaknesses, stated: a loop that leaves early (`break`) is taken out of the training collective, as
under `Join` or where all loops leave together; a loop that leaves alone and lets its peers wait in
a bare collective hangs them, whatever the loader does. Samples are counts here; identities are
the business of the proofs. The source of a pass always has the same number of samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from dgap.protocol.expr import (
    TRUE,
    Choose,
    Const,
    Every,
    Formula,
    Name,
    Some,
    Term,
    conjoin,
)
from dgap.protocol.vocabulary import EffectKind, EventKind, Phase, State, argument, state

SLOTS = 3
"""The model keeps the sizes of the batches in the queue, so its queues hold at most three."""


class Environment(NamedTuple):
    """What surrounds one rank. The first four fields never change."""

    source: int = 0  # samples that a pass of this rank's source has
    share: int = 0  # quota mode: samples that this rank has to deliver
    queue_limit: int = 1  # Q: batches that the output queue holds at most, 1 <= Q <= SLOTS
    unlike: int = 0  # 1: the first gathered vector shows that the ranks were not started alike
    faults_left: int = 0  # faults of user code that may still happen here
    stops_left: int = 0  # 1: the training loop may still leave early
    crashes_left: int = 0  # 1: the rank may still die
    unread: int = 0  # samples of this pass that the source has not given yet
    drawn: int = 0  # samples read in all passes together
    gathers: int = 0  # gathers entered; those left are `rounds` of the state
    sums: int = 0  # sums of the totals entered
    sums_left: int = 0  # sums of the totals left
    queued: int = 0  # batches in the output queue, queued <= queue_limit
    slot_1: int = 0  # samples in the oldest batch of the queue
    slot_2: int = 0  # samples in the next one
    slot_3: int = 0  # samples in the one after that
    taken: int = 0  # batches taken by the loop = step collectives entered
    trained: int = 0  # step collectives left
    hand: int = 0  # samples in the batch that the loop is training on
    received: int = 0  # samples in all batches taken
    finished: int = 0  # 1: the loop has seen the end of its iterator, or its error
    left: int = 0  # 1: the loop has left early
    named: int = 0  # 1 + the rank that the verdict FAIL or STOP named; 0 before
    broken: int = 0  # 1: the rank gave up because a collective failed
    crashed: int = 0  # 1: the rank is dead


RANKED_STATE = State._fields
RANKED_ENVIRONMENT = Environment._fields


def world(name: str) -> Name:
    """A field of this rank's environment. Raises KeyError for a name that is none."""
    if name not in RANKED_ENVIRONMENT:
        raise KeyError(f"the environment has no field {name!r}; it has {RANKED_ENVIRONMENT}")
    return Name("world", name)


def ranked(name: str) -> Name:
    """A state or environment field of the rank that an aggregate ranges over."""
    if name not in (*RANKED_STATE, *RANKED_ENVIRONMENT):
        raise KeyError(f"a rank has no field {name!r}")
    return Name("report", name)


effect_argument = Name("event", "argument")
"""In a response: the argument of the effect. Its other names are the event's arguments."""


@dataclass(frozen=True, kw_only=True)
class EnvironmentRow:
    """One thing that may happen at a live rank. `updates` read the old values."""

    name: str
    guard: Formula = TRUE
    event: EventKind | None = None
    updates: tuple[tuple[str, Term], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Response:
    """How a rank's environment takes an effect; effects without a response change nothing."""

    effect: EffectKind
    updates: tuple[tuple[str, Term], ...]


def _one_more(name: str) -> tuple[str, Term]:
    return (name, world(name) + 1)


def _one_less(name: str) -> tuple[str, Term]:
    return (name, world(name) - 1)


def _unless_left(name: str, value: Term) -> tuple[str, Term]:
    return (name, Choose(world("left").equals(1), Const(0), value))


slots = ("slot_1", "slot_2", "slot_3")
empty_queue = tuple((name, Const(0)) for name in ("queued", *slots))
in_queue = world("slot_1") + world("slot_2") + world("slot_3")
"""Samples in all batches of the queue."""
running = world("finished").equals(0) & world("left").equals(0)
in_step = world("taken") > world("trained")
at_rest = state("phase").equals(Phase.CLOSED) | state("phase").equals(Phase.FAILED)
in_collective = state("phase").equals(Phase.OFFER) | state("phase").equals(Phase.TALLY)
room = (world("queued") < world("queue_limit")) | world("left").equals(1)
"""The queue of a loop that has left takes everything and keeps nothing."""

gather_complete = Every(ranked("gathers") > state("rounds"))
sum_complete = Every(ranked("sums") > world("sums_left"))
transport_broken = Some(ranked("crashed").equals(1) | ranked("broken").equals(1))
absent = ranked("left").equals(1) | (ranked("finished").equals(1) & ranked("ended").equals(1))
"""The loops that a step collective does not wait for: left early, or ended under tail "stop"."""

OCCASIONS: tuple[EnvironmentRow, ...] = (
    # The source.
    EnvironmentRow(
        name="read",
        event=EventKind.READ,
        guard=world("unread") > 0,
        updates=(_one_less("unread"), _one_more("drawn")),
    ),
    EnvironmentRow(name="exhaust", event=EventKind.EXHAUST, guard=world("unread").equals(0)),
    # User code and the user's loop.
    EnvironmentRow(
        name="fail",
        event=EventKind.FAIL,
        guard=world("faults_left") > 0,
        updates=(_one_less("faults_left"),),
    ),
    EnvironmentRow(name="stop", event=EventKind.STOP, guard=world("left").equals(1)),
    # The engine offers as soon as the table lets it.
    EnvironmentRow(name="offer", event=EventKind.OFFER),
    # The collectives: complete once all have entered; everybody leaves when it likes.
    EnvironmentRow(
        name="gathered",
        event=EventKind.GATHERED,
        guard=gather_complete & world("unlike").equals(0),
    ),
    EnvironmentRow(
        name="refuse",
        event=EventKind.REFUSE,
        guard=gather_complete & world("unlike").equals(1),
    ),
    EnvironmentRow(
        name="summed",
        event=EventKind.SUMMED,
        guard=sum_complete,
        updates=(_one_more("sums_left"),),
    ),
    EnvironmentRow(name="break", event=EventKind.BREAK, guard=in_collective & transport_broken),
    # Back-pressure: a batch is emitted only while there is room for it.
    EnvironmentRow(name="deliver", event=EventKind.DELIVER, guard=room),
    EnvironmentRow(name="idle", event=EventKind.IDLE, guard=room),
    EnvironmentRow(name="turn", event=EventKind.TURN),
)
"""When each event may come. The events are those of the table; the guards are the world's."""

MOVES: tuple[EnvironmentRow, ...] = (
    EnvironmentRow(
        name="take",
        guard=conjoin(running, ~in_step, world("queued") > 0),
        updates=(
            _one_less("queued"),
            ("slot_1", world("slot_2")),
            ("slot_2", world("slot_3")),
            ("slot_3", Const(0)),
            _one_more("taken"),
            ("hand", world("slot_1")),
            ("received", world("received") + world("slot_1")),
        ),
    ),
    EnvironmentRow(
        name="train",
        guard=in_step & Every((ranked("taken") > world("trained")) | absent),
        updates=(_one_more("trained"), ("hand", Const(0))),
    ),
    EnvironmentRow(
        name="finish",
        guard=conjoin(
            running,
            ~in_step,
            world("queued").equals(0),
            at_rest | state("ended").equals(1),
        ),
        updates=(("finished", Const(1)),),
    ),
    EnvironmentRow(
        name="leave",
        guard=conjoin(running, ~in_step, world("stops_left") > 0),
        updates=(("left", Const(1)), _one_less("stops_left"), *empty_queue),
    ),
    EnvironmentRow(
        name="crash",
        guard=(world("crashes_left") > 0) & world("finished").equals(0),
        updates=(("crashed", Const(1)), _one_less("crashes_left")),
    ),
    # The training collective fails too: the loop raises, and closes its iterator on the way out.
    EnvironmentRow(
        name="train_breaks",
        guard=conjoin(running, in_step, Some(ranked("crashed").equals(1))),
        updates=(("left", Const(1)), *empty_queue),
    ),
)
"""What the environment does by itself."""


def _filled(name: str, place: int) -> tuple[str, Term]:
    """The slot takes the new batch where as many batches as `place` are queued before it."""
    here = world("queued").equals(place)
    return _unless_left(name, Choose(here, argument("samples"), world(name)))


_put = (_unless_left("queued", world("queued") + 1),)

RESPONSES: tuple[Response, ...] = (
    Response(effect=EffectKind.GATHER, updates=(_one_more("gathers"),)),
    Response(effect=EffectKind.TALLY, updates=(_one_more("sums"),)),
    Response(effect=EffectKind.RESTART, updates=(("unread", world("source")),)),
    Response(
        effect=EffectKind.BATCH,
        updates=(
            *_put,
            *(_filled(name, place) for place, name in enumerate(slots)),
        ),
    ),
    Response(effect=EffectKind.IDLE_BATCH, updates=_put),
    Response(effect=EffectKind.FAILED, updates=(("named", effect_argument + 1),)),
    Response(effect=EffectKind.STOPPED, updates=(("named", effect_argument + 1),)),
    Response(effect=EffectKind.ABANDON, updates=(("broken", Const(1)),)),
)

done = world("crashed").equals(1) | (at_rest & ~running)
"""All that this rank has to do is done; a world that stands still must be done on all ranks."""


def initial_environment(
    source: int,
    *,
    share: int = 0,
    queue_limit: int = 1,
    unlike: bool = False,
    faults: int = 0,
    stops: int = 0,
    crashes: int = 0,
) -> Environment:
    """A rank's surroundings before its first sample. Raises ValueError for counts below zero or
    a queue_limit outside 1..SLOTS."""
    if min(source, share, faults, stops, crashes) < 0 or not 1 <= queue_limit <= SLOTS:
        raise ValueError(f"counts start at 0 and queues hold 1 to {SLOTS} batches")
    return Environment(
        source=source,
        share=share,
        queue_limit=queue_limit,
        unlike=int(unlike),
        faults_left=faults,
        stops_left=stops,
        crashes_left=crashes,
        unread=source,
    )
