"""Readable traces: one line per move, with the rank, the name of the row and what changed.

rank 1  offer         FILL -> OFFER  offered=2 needed=1 units=2
rank 0  loop: take    queued=0 taken=1 hand=2 received=2
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import Event, Phase, Settings, State
from dgap.spec.environment import slots
from dgap.spec.oracle_step import walk_step

from .unfold import RANK_FIELDS
from .world import Node, World

_BORING = frozenset({"gathers", "sums", "sums_left", "drawn", *slots})


def row_taken(table: Table, settings: Settings, state: State, event: Event) -> str:
    """The name of the row that takes an event, found by walking the rows; empty: the refusal."""
    walked = walk_step(table.rows, settings, state, event)
    return "" if walked is None else walked.row


def readable(world: World, path: Sequence[Node]) -> tuple[str, ...]:
    """The moves of a path, after one line per rank that says where it starts."""
    start = [_start(world, rank, path[0][rank]) for rank in range(world.world_size)]
    moves = [_line(world, before, after) for before, after in pairwise(path)]
    return (*start, *moves)


def _start(world: World, rank: int, number: int) -> str:
    state, environment = world.ranks[number]
    share = f", share {environment.share}" if world.settings.quota else ""
    return f"rank {rank}  starts with {environment.source} samples{share}, target {state.target}"


def _line(world: World, before: Node, after: Node) -> str:
    rank = next(rank for rank, number in enumerate(before[:-1]) if number != after[rank])
    old, new = world.flats[before[rank]], world.flats[after[rank]]
    changes = [
        f"{name}={value}"
        for name, past, value in zip(RANK_FIELDS, old, new, strict=True)
        if past != value and name != "phase" and name not in _BORING
    ]
    phases = f"{Phase(old[0]).name} -> {Phase(new[0]).name}" if old[0] != new[0] else ""
    words = [f"rank {rank}", f"{_name(world, before[rank], after[rank]):<18}", phases, *changes]
    return "  ".join(words[:2]) + "  " + " ".join(word for word in words[2:] if word)


def _name(world: World, before: int, after: int) -> str:
    name, event = world.reasons[(before, after)]
    if event is None:
        return name if name == "crash" else f"loop: {name}"
    return row_taken(world.table, world.settings, world.ranks[before][0], event) or name
