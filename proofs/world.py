"""The worlds that the explorer walks: W ranks of the table, composed with their environment.

Rules kept here:
1. Nothing of protocol or environment is decided here. The table says which events a rank takes
   (`Machine.attempt`), the rows of `spec/environment.py` say when they may come.
2. Every choice is offered: each legal `needed`, `assigned` and `samples`, hence every grouping.
3. A world is a tuple of small integers: one number per rank (its state and environment, met
   before) and the number of the gathered vector while some rank has still to take it.

`reduced` leaves out interleavings: where some rank fills its window, or emits with room in its
queue, only the first such rank's protocol moves. Those moves touch nothing that another rank or
the rank's own loop could disable or see before a collective, and no property that ranges over
ranks sees them (a partial-order reduction by ample sets; checks commute.*). It is refused where
loops leave or ranks die, since such moves do interfere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dgap.protocol.expr import Formula, conjoin, conjuncts, has_aggregate
from dgap.protocol.machine import Machine, initial_state
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import (
    Effect,
    Event,
    EventKind,
    Phase,
    Report,
    Settings,
    State,
    setting,
    state,
)
from dgap.spec.environment import (
    MOVES,
    OCCASIONS,
    RESPONSES,
    Environment,
)
from dgap.spec.environment import (
    world as environment_field,
)

from .unfold import over_one_rank, over_ranks

Node = tuple[int, ...]
Flat = tuple[int, ...]
Reason = tuple[str, Event | None]
"""Why a rank changed: the name of the environment's row, and the event if the protocol took one."""

ROWS = (*OCCASIONS, *MOVES)
_LIVE = environment_field("crashed").equals(0)
_has_room = environment_field("queued") < environment_field("queue_limit")
_may_end = setting("tail_stop").equals(1) & state("owed_groups").equals(0)
EAGER = state("phase").equals(Phase.FILL) | (
    state("phase").equals(Phase.EMIT) & _has_room & ~_may_end
)
"""At a rank whose protocol moves first in a reduced world. The end of an iterator under tail "stop"
is left out: peers see it, since loops that have ended are compared with no others."""


class World:
    """W ranks under one choice of the shared settings. Remembers what each single rank can do."""

    def __init__(
        self,
        settings: Settings,
        world_size: int,
        *,
        table: Table = TABLE,
        reduced: bool = False,
    ) -> None:
        self.settings = settings
        self.world_size = world_size
        self.table = table
        self.reduced = reduced
        self.machine = Machine(settings, table)
        self.ranks: list[tuple[State, Environment]] = []
        self.flats: list[Flat] = []
        self.reasons: dict[tuple[int, int], Reason] = {}
        self._numbers: dict[tuple[State, Environment], int] = {}
        self._vectors: list[tuple[Report, ...]] = [()]
        self._vector_numbers: dict[tuple[Report, ...], int] = {}
        self._own: list[tuple[tuple[int, ...], tuple[int, ...]] | None] = []
        self._waits: list[tuple[int, ...]] = []
        self._eager: list[bool] = []
        self._joint: dict[tuple[int, int, int], tuple[int, ...]] = {}
        self._compile()

    def _compile(self) -> None:
        """Guards, split into what one rank knows and what all ranks must say; and updates."""
        self._locals: list[Callable[..., tuple[Any, ...]]] = []
        self._guards: list[list[Callable[..., tuple[Any, ...]]] | None] = []
        self._updates: list[Callable[..., tuple[Any, ...]]] = []
        for row in ROWS:
            parts = [_LIVE, *conjuncts(row.guard)]
            alone = [part for part in parts if not has_aggregate(part)]
            joint = [part for part in parts if has_aggregate(part)]
            self._locals.append(over_one_rank([conjoin(*alone)], self.settings))
            self._guards.append(self._joint_guard(joint) if joint else None)
            self._updates.append(self._environment_update(row.updates))
        self._responses = {
            response.effect: self._environment_update(response.updates) for response in RESPONSES
        }
        self._is_eager = over_one_rank([EAGER], self.settings)
        self._taken = {(row.phase, row.event) for row in self.table.rows}

    def _joint_guard(self, parts: Sequence[Formula]) -> list[Callable[..., tuple[Any, ...]]]:
        size = self.world_size
        return [
            over_ranks([conjoin(*parts)], self.settings, world_size=size, own=own)
            for own in range(size)
        ]

    def _environment_update(
        self, updates: Sequence[tuple[str, Any]]
    ) -> Callable[..., tuple[Any, ...]]:
        new = dict(updates)
        values = [new.get(name, environment_field(name)) for name in Environment._fields]
        return over_one_rank(values, self.settings, parameters=", event_samples, event_argument")

    def root(self, environments: Sequence[Environment], *, first_window: int = 0) -> Node:
        """The world before the first sample. Raises ValueError for another number of ranks, and
        under `reduced` for environments in which loops leave or ranks die."""
        if len(environments) != self.world_size:
            raise ValueError(f"{len(environments)} environments for {self.world_size} ranks")
        if self.reduced and any(at.stops_left or at.crashes_left for at in environments):
            raise ValueError("reduced worlds have no early stops and no crashes")
        ranks = [
            self._number(
                initial_state(self.settings, first_window=first_window, quota_share=at.share), at
            )
            for at in environments
        ]
        return (*ranks, 0)

    def successors(self, world: Node) -> list[Node]:
        """The worlds one move further, in a fixed order."""
        found: list[Node] = []
        size = self.world_size
        if self.reduced:
            for rank in range(size):
                engine, _ = self._own_moves(world[rank])
                if self._eager[world[rank]] and engine:
                    head, tail = world[:rank], world[rank + 1 :]
                    return [(*head, new, *tail) for new in engine]
        flats: list[Flat] | None = None
        for rank in range(size):
            number = world[rank]
            head, tail = world[:rank], world[rank + 1 :]
            engine, loop = self._own_moves(number)
            found += [(*head, new, *tail) for new in engine]
            found += [(*head, new, *tail) for new in loop]
            for row in self._waits[number]:
                if flats is None:
                    flats = [self.flats[at] for at in world[:size]]
                if self._guards[row][rank](*flats)[0]:  # type: ignore[index]
                    found += self._joint_moves(world, rank, row)
        return found

    def _own_moves(self, number: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What a rank can do whatever the others do: protocol moves, and moves of its loop."""
        known = self._own[number]
        if known is not None:
            return known
        state, environment = self.ranks[number]
        engine: list[int] = []
        loop: list[int] = []
        for index, row in enumerate(ROWS):
            if self._guards[index] is None and self._locals[index](state, environment)[0]:
                moves = engine if row.event is not None else loop
                moves += self._apply(number, index, ())
        self._own[number] = (tuple(engine), tuple(loop))
        return (tuple(engine), tuple(loop))

    def _joint_moves(self, world: Node, rank: int, row: int) -> Iterator[Node]:
        """What a row does whose guard has asked the other ranks."""
        number, vector = world[rank], world[-1]
        gathers = ROWS[row].event is EventKind.GATHERED
        if gathers and not vector:
            vector = self._vector(world)
        key = (number, row, vector if gathers else 0)
        if key not in self._joint:
            self._joint[key] = tuple(self._apply(number, row, self._vectors[key[2]]))
        if gathers and not self._is_awaited(world, rank):
            vector = 0
        for new in self._joint[key]:
            yield (*world[:rank], new, *world[rank + 1 : -1], vector)

    def _vector(self, world: Node) -> int:
        """The number of the vector of all reports; nobody has left this gather yet."""
        reports = tuple(self.machine.report(self.ranks[at][0]) for at in world[:-1])
        if reports not in self._vector_numbers:
            self._vector_numbers[reports] = len(self._vectors)
            self._vectors.append(reports)
        return self._vector_numbers[reports]

    def _is_awaited(self, world: Node, leaver: int) -> bool:
        """Whether another rank has still to leave the gather that `leaver` leaves."""
        round_index = self.ranks[world[leaver]][0].rounds
        states = [self.ranks[at][0] for rank, at in enumerate(world[:-1]) if rank != leaver]
        return any(at.phase == Phase.OFFER and at.rounds == round_index for at in states)

    def _apply(self, number: int, index: int, reports: tuple[Report, ...]) -> list[int]:
        """The numbers of what the rank becomes, one per choice of arguments the table takes."""
        row = ROWS[index]
        state, environment = self.ranks[number]
        if row.event is None:
            after = self._updates[index](state, environment, 0, 0)
            return [self._number(state, Environment(*after), (number, (row.name, None)))]
        found: list[int] = []
        for event in candidates(row.event, state, reports):
            result = self.machine.attempt(state, event)
            if result is not None:
                new, effects = result
                after = self._updates[index](state, environment, event.samples, 0)
                surroundings = self._respond(new, Environment(*after), event, effects)
                at = self._number(new, surroundings, (number, (row.name, event)))
                if at not in found:
                    found.append(at)
        return found

    def _respond(
        self, state: State, environment: Environment, event: Event, effects: Sequence[Effect]
    ) -> Environment:
        for effect in effects:
            response = self._responses.get(effect.kind)
            if response is not None:
                values = response(state, environment, event.samples, effect.argument)
                environment = Environment(*values)
        return environment

    def _number(
        self, state: State, environment: Environment, why: tuple[int, Reason] | None = None
    ) -> int:
        pair = (state, environment)
        number = self._numbers.get(pair)
        if number is None:
            number = self._numbers[pair] = len(self.ranks)
            self.ranks.append(pair)
            self.flats.append((*state, *environment))
            self._own.append(None)
            self._waits.append(self._waiting_rows(state, environment))
            self._eager.append(self._is_eager(state, environment)[0])
        if why is not None:
            self.reasons.setdefault((why[0], number), why[1])
        return number

    def _waiting_rows(self, state: State, environment: Environment) -> tuple[int, ...]:
        """The rows that wait for other ranks and for nothing of this one."""
        return tuple(
            index
            for index, row in enumerate(ROWS)
            if self._guards[index] is not None
            and self._locals[index](state, environment)[0]
            and (row.event is None or (state.phase, row.event) in self._taken)
        )


def candidates(kind: EventKind, state: State, reports: tuple[Report, ...] = ()) -> Iterator[Event]:
    """Events of a kind with all arguments that could be legal; the table decides which are."""
    match kind:
        case EventKind.FAIL:
            yield Event(kind, code=1)
        case EventKind.OFFER:
            counts = range(state.held + 1)
            yield from (Event(kind, needed=n, units=u) for n in counts for u in counts)
        case EventKind.SUMMED:
            yield from (Event(kind, assigned=count) for count in range(state.offered + 1))
        case EventKind.DELIVER:
            yield from (Event(kind, samples=count) for count in range(1, state.owed_samples + 1))
        case EventKind.GATHERED:
            yield Event(kind, reports=reports)
        case _:
            yield Event(kind)
