"""A schedule played by ranks that are apart: each has its own machine, and hears of the others
only what collectives bring. What they went through is then held against the model and judged.

Rules kept here:
1. No I/O: who plays (the test that counterexample.py writes, over Gloo) brings the collectives.
2. A rank's state is what its own machine makes of the moves and of what the collectives brought;
   the schedule only says which moves, as far as the table of now goes along (`moves_of`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dgap.protocol.expr import Name, walk
from dgap.protocol.machine import Machine, initial_state
from dgap.protocol.vocabulary import Effect, Event, EventKind, Report, Settings, State
from dgap.spec.oracle_expr import Reading, holds
from dgap.spec.properties import PROPERTIES

from .schedule import Move, Schedule, broken_on_path, table_named, worlds_of

Record = tuple[int, Sequence[int]]
"""The number of a move, and the state of its rank after it."""


class Parted(ValueError):
    """The ranks are not where the model is after the same moves."""


def moves_of(schedule: Schedule) -> tuple[Move, ...]:
    """The moves that are possible, up to the first that is not: a schedule outlives its fault."""
    _, nodes = worlds_of(schedule)
    return schedule.moves[: len(nodes) - 1]


class Player:
    """The machine of one rank of a schedule, before its first move."""

    def __init__(self, schedule: Schedule, rank: int) -> None:
        settings = Settings(**schedule.settings)
        self.machine = Machine(settings, table_named(schedule.table))
        self.state = initial_state(
            settings,
            first_window=schedule.first_window,
            quota_share=schedule.surroundings[rank]["share"],
        )

    def play(self, move: Move, reports: tuple[Report, ...] = ()) -> tuple[Effect, ...]:
        """Make a move of this rank; what the table asks for. A training loop's changes nothing.

        `reports` is what the gather brought, where the move leaves one. Raises IllegalTransition.
        """
        if not move.event:
            return ()
        kind = EventKind[move.event]
        heard = reports if kind == EventKind.GATHERED else ()
        arguments: dict[str, Any] = dict(move.arguments)
        self.state, effects = self.machine.step(self.state, Event(kind, **arguments, reports=heard))
        return effects

    def report(self) -> Report:
        """What this rank says in the gather that it enters."""
        return self.machine.report(self.state)


def broken_when_played(schedule: Schedule, played: Sequence[Sequence[Record]]) -> tuple[str, ...]:
    """Ids of the properties that ranks broke who played the schedule; one list of records each.

    Raises Parted if their states were not those of the model after each move.
    """
    world, nodes = worlds_of(schedule)
    made = sorted((record, rank) for rank, records in enumerate(played) for record in records)
    if [number for (number, _), _ in made] != list(range(len(nodes) - 1)):
        raise Parted(f"the ranks made {len(made)} moves in turn, the model {len(nodes) - 1}")
    for (number, values), rank in made:
        here, (told, _) = State(*values), world.ranks[nodes[number + 1][rank]]
        if here != told:
            raise Parted(f"after move {number} rank {rank} is at {here}, in the model at {told}")
    return broken_on_path(schedule, world, nodes)


def broken_by_states(schedule: Schedule, states: Sequence[State]) -> tuple[str, ...]:
    """The schedule's property if these states of the ranks break it, whatever surrounds them.

    A property that reads the surroundings too, or speaks of a world at rest, is not judged.
    """
    for each in PROPERTIES:
        names = {part for part in walk(each.formula) if isinstance(part, Name)}
        reads_more = any(
            name.scope == "world" or (name.scope == "report" and name.name not in State._fields)
            for name in names
        )
        if each.id != schedule.broken or each.kind != "always" or reads_more:
            continue
        ranks = [state._asdict() for state in states]
        readings = (
            Reading(own={"state": own, "setting": dict(schedule.settings)}, ranks=ranks)
            for own in ranks
        )
        return () if all(holds(each.formula, reading) for reading in readings) else (each.id,)
    return ()
