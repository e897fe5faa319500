"""A schedule: who moves when in a world of a few ranks, as data that can be saved and run again.

Rules kept here:
1. A schedule names its moves by rank, row of the environment and event; nothing depends on the
   numbers that an exploration gave to its worlds.
2. `broken_in_model` runs it again from the start, on the table that is there now: a move that is
   no longer possible ends it, so a schedule outlives the fault that it shows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import Event, Report, Settings, State
from dgap.spec.environment import Environment
from dgap.spec.properties import PROPERTIES

from .planted import PLANTED
from .trace import row_taken
from .watch import REFINEMENT, PropertyWatch
from .world import Node, World

PROTOCOL = "protocol"
_ARGUMENTS = Event._fields[1:-1]
_SURROUNDINGS = "source share queue_limit unlike faults_left stops_left crashes_left".split()


@dataclass(frozen=True, kw_only=True)
class Move:
    """One move. `event` is empty where the training loop or fate moves; `row` is the table's."""

    rank: int
    name: str
    event: str = ""
    arguments: Mapping[str, int]
    row: str = ""
    report: tuple[int, ...] = ()
    """What the rank says in the gather that this move enters."""
    changes: Mapping[str, int]
    """Fields of state and environment that change, with their new values."""


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """A run from its start. `table` is "protocol" or the name of a planted bug."""

    table: str
    broken: str
    """The id of the property that the last world breaks; empty for a run that is sound."""
    settings: Mapping[str, int]
    first_window: int
    surroundings: tuple[Mapping[str, int], ...]
    """Source, share, queue and possible trouble of each rank."""
    moves: tuple[Move, ...]


def schedule_of(world: World, path: Sequence[Node], *, broken: str = "") -> Schedule:
    """The schedule of a path of worlds. Raises ValueError for a table without a name."""
    table = table_name(world.table)
    if not table:
        raise ValueError("this table is neither the protocol nor a planted bug")
    starts = [world.ranks[number] for number in path[0][:-1]]
    return Schedule(
        table=table,
        broken=broken,
        settings=world.settings._asdict(),
        first_window=starts[0][0].target,
        surroundings=tuple(
            {name: getattr(environment, name) for name in _SURROUNDINGS}
            for _, environment in starts
        ),
        moves=tuple(_move(world, before, after) for before, after in pairwise(path)),
    )


def _move(world: World, before: Node, after: Node) -> Move:
    rank = mover(before, after)
    name, event = world.reasons[before[rank], after[rank]]
    old, new = world.ranks[before[rank]], world.ranks[after[rank]]
    changes = {**_changes(old[0], new[0]), **_changes(old[1], new[1])}
    row = "" if event is None else row_taken(world.table, world.settings, old[0], event)
    enters = new[1].gathers > old[1].gathers
    return Move(
        rank=rank,
        name=name,
        event="" if event is None else event.kind.name,
        arguments={} if event is None else arguments_of(event),
        row=row,
        report=tuple(map(int, world.machine.report(new[0]))) if enters else (),
        changes=changes,
    )


def mover(before: Node, after: Node) -> int:
    """The rank that has changed between two worlds."""
    return next(rank for rank, number in enumerate(before[:-1]) if number != after[rank])


def arguments_of(event: Event) -> dict[str, int]:
    """The arguments of an event that are not 0; reports follow from the world."""
    return {name: int(getattr(event, name)) for name in _ARGUMENTS if getattr(event, name)}


def _changes(old: State | Environment, new: State | Environment) -> dict[str, int]:
    pairs = zip(old._fields, old, new, strict=True)
    return {name: int(value) for name, past, value in pairs if past != value}


def table_name(table: Table) -> str:
    """ "protocol", the name of the planted bug, or nothing for any other table."""
    if table == TABLE:
        return PROTOCOL
    return next((name for name, build in PLANTED.items() if build() == table), "")


def table_named(name: str) -> Table:
    """The table of that name. Raises KeyError."""
    return TABLE if name == PROTOCOL else PLANTED[name]()


def written(schedule: Schedule) -> str:
    """The schedule as JSON."""
    return json.dumps(asdict(schedule), indent=1)


def read_schedule(text: str) -> Schedule:
    """What `written` wrote. Raises ValueError, KeyError or TypeError for anything else."""
    record: dict[str, Any] = json.loads(text)
    moves = (Move(**{**move, "report": tuple(move["report"])}) for move in record.pop("moves"))
    surroundings = tuple(record.pop("surroundings"))
    return Schedule(**record, surroundings=surroundings, moves=tuple(moves))


def worlds_of(schedule: Schedule) -> tuple[World, tuple[Node, ...]]:
    """The worlds that the schedule goes through, as far as the table of now allows its moves."""
    settings = Settings(**schedule.settings)
    world = World(settings, len(schedule.surroundings), table=table_named(schedule.table))
    environments = [Environment(**each, unread=each["source"]) for each in schedule.surroundings]
    return world, tuple(
        _walked(world, world.root(environments, first_window=schedule.first_window), schedule.moves)
    )


def _walked(world: World, node: Node, moves: Sequence[Move]) -> Iterator[Node]:
    yield node
    for move in moves:
        following = [new for new in world.successors(node) if _is(world, move, node, new)]
        if not following:
            return
        node = following[0]
        yield node


def _is(world: World, move: Move, before: Node, after: Node) -> bool:
    rank = mover(before, after)
    if rank != move.rank:
        return False
    name, event = world.reasons[before[rank], after[rank]]
    told = ("", {}) if event is None else (event.kind.name, arguments_of(event))
    return (name, *told) == (move.name, move.event, dict(move.arguments))


def broken_in_model(schedule: Schedule) -> tuple[str, ...]:
    """Ids of the properties that the worlds of the schedule break."""
    return broken_on_path(schedule, *worlds_of(schedule))


def broken_on_path(schedule: Schedule, world: World, nodes: Sequence[Node]) -> tuple[str, ...]:
    """Ids of the properties that these worlds break, one after the other."""
    watch = PropertyWatch(world, PROPERTIES, refinement=schedule.broken == REFINEMENT)
    found = [name for node in nodes for name in watch.at_node(node)]
    for before, after in pairwise(nodes):
        found += [name for name, _ in watch.on_edges(before, [after])]
    if not world.successors(nodes[-1]):
        found += watch.at_rest(nodes[-1])
    return tuple(sorted(set(found)))


def report_of(move: Move) -> Report:
    """What the rank said when it entered the gather."""
    return Report(*move.report)
