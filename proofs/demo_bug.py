"""`python -m dgap.proofs demo-bug NAME`: a planted bug at work on the smallest inputs.

`finished-while-holding` is the bug of the implementation that the paper published: a rank says
that it has nothing as soon as its source has ended, although its window still holds samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import Settings
from dgap.spec.environment import initial_environment
from dgap.spec.properties import PROPERTIES

from .exploration import CONTROLS
from .explorer import explore
from .planted import PLANTED
from .schedule import Schedule, mover, schedule_of, table_named
from .sequence import counted, draw
from .watch import PropertyWatch
from .world import Node, World

SAMPLES = (2, 1)
MOST_RANKS, MOST_SAMPLES = 3, 4
"""What can be searched in seconds and drawn on a screen."""
STATE_LIMIT = 200_000
LEGEND = (
    "time runs downwards; each rank has a column for its side of the protocol and one for its "
    "training loop"
)
ORIGINAL = "finished_while_holding"
SETTINGS = Settings(window=3)

DEMOS: Mapping[str, str] = {name.replace("_", "-"): name for name in PLANTED}
"""The name on the command line, and the planted bug."""

_BREAKS = {build.__name__: (broken, what) for build, broken, what in CONTROLS}


def demo(name: str, samples: Sequence[int] = SAMPLES) -> tuple[str, ...]:
    """A shortest run that the bug breaks, then the protocol on the same inputs.

    Raises KeyError for a name that is none of `DEMOS`.
    """
    planted = DEMOS[name]
    broken, what = _BREAKS[planted]
    who = ", as in the original implementation" if planted == ORIGINAL else ""
    lines = [f"planted bug: {what}{who}", f"inputs: {_inputs(samples)}", LEGEND, ""]
    schedule = shortest(PLANTED[planted](), samples, broken)
    if schedule is None:
        lines.append(f"on these inputs no run breaks {broken}")
    else:
        lines += [*draw(schedule), *_balance(schedule)]
        if planted == ORIGINAL:
            lines.append("all ranks close on this: what is not delivered is lost, without an error")
    sound = one_run(table_named("protocol"), samples)
    return (*lines, "", "the protocol, on the same inputs:", "", *draw(sound), *_balance(sound))


def _inputs(samples: Sequence[int]) -> str:
    return ", ".join(
        f"rank {rank} has {counted(count, 'sample')}" for rank, count in enumerate(samples)
    )


def _world(table: Table, samples: Sequence[int]) -> tuple[World, Node]:
    world = World(SETTINGS, len(samples), table=table)
    return world, world.root([initial_environment(count) for count in samples])


def shortest(table: Table, samples: Sequence[int], broken: str) -> Schedule | None:
    """A shortest run to a world that breaks the property, or None."""
    world, root = _world(table, samples)
    found = explore(
        [root],
        world.successors,
        PropertyWatch(world, PROPERTIES),
        state_limit=STATE_LIMIT,
        until_broken=broken,
    )
    path = found.broken.get(broken)
    return None if path is None else schedule_of(world, path, broken=broken)


def one_run(table: Table, samples: Sequence[int]) -> Schedule:
    """One run to its end: the rank that has moved least moves next."""
    world, node = _world(table, samples)
    path = [node]
    moved = [0] * len(samples)
    while following := world.successors(node):
        movers = [mover(node, new) for new in following]
        least = min(movers, key=lambda rank: (moved[rank], rank))
        moved[least] += 1
        node = following[movers.index(least)]
        path.append(node)
    return schedule_of(world, path)


def _balance(schedule: Schedule) -> tuple[str, ...]:
    """What became of each rank's samples."""
    lines = []
    for rank, surroundings in enumerate(schedule.surroundings):
        taken = [move for move in schedule.moves if (move.rank, move.name) == (rank, "take")]
        queued = sum(
            move.arguments.get("samples", 0)
            for move in schedule.moves
            if (move.rank, move.event) == (rank, "DELIVER")
        )
        lines.append(
            f"rank {rank}: {counted(surroundings['source'], 'sample')} in its source, {queued} "
            f"delivered in {counted(len(taken), 'step')}"
        )
    return ("", *lines)
