"""What the explorer looks at in a world: the named properties, and the refinement R1.

Rules kept here:
1. A property that speaks of one rank is decided once per rank that was ever met, one that ranges
   over ranks once per world; either way it is decided for every reachable world.
2. Formulas are the specification's; this file only compiles and files them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dgap.protocol.expr import Node, has_aggregate
from dgap.spec.abstract import CHANGE, GOAL, PERMITS, RECEIVED, STATUS, STEPS, Abstract
from dgap.spec.properties import Property

from .unfold import POSITION, fields_read, over_ranks
from .world import Node as WorldNode
from .world import World

REFINEMENT = "R1"
Ranks = tuple[int, ...]


class Reader:
    """Reads nodes at every rank of a world, and remembers: worlds that agree in the fields that
    the nodes read have the same values."""

    def __init__(self, world: World, nodes: Sequence[Node], *, alone: bool = False) -> None:
        self._world = world
        size = 1 if alone else world.world_size
        self._function = over_ranks(nodes, world.settings, world_size=size)
        self._positions = [POSITION[name] for name in fields_read(nodes)]
        self._views: dict[int, int] = {}
        self._view_numbers: dict[tuple[int, ...], int] = {}
        self._known: dict[tuple[int, ...], tuple[Any, ...]] = {}

    def __call__(self, ranks: Ranks) -> tuple[Any, ...]:
        """The values of the first node at each rank, then those of the second, ..."""
        views = self._views
        try:
            key = tuple([views[number] for number in ranks])
        except KeyError:
            key = tuple([self._view(number) for number in ranks])
        values = self._known.get(key)
        if values is None:
            flats = [self._world.flats[number] for number in ranks]
            values = self._known[key] = self._function(*flats)
        return values

    def _view(self, number: int) -> int:
        flat = self._world.flats[number]
        view = tuple(flat[position] for position in self._positions)
        self._views[number] = self._view_numbers.setdefault(view, len(self._view_numbers))
        return self._views[number]


class PropertyWatch:
    """Watches a world for properties. `refinement` adds R1 on every transition."""

    def __init__(
        self, world: World, properties: Sequence[Property], *, refinement: bool = False
    ) -> None:
        self.world = world
        self.refinement = refinement
        self._size = world.world_size
        always = [each for each in properties if each.kind == "always"]
        self._single = [each for each in always if not has_aggregate(each.formula)]
        self._joint = [each for each in always if has_aggregate(each.formula)]
        self._rest = [each for each in properties if each.kind == "at rest"]
        self._unseen = [each for each in properties if each.kind == "sometimes"]
        self._single_holds = self._reader(self._single, alone=True)
        self._joint_holds = self._reader(self._joint)
        self._rest_holds = self._reader(self._rest)
        self._unseen_hold = self._reader(self._unseen)
        self._image = Reader(world, [STEPS, STATUS, RECEIVED, GOAL])
        self._images: dict[tuple[Any, ...], Abstract] = {}
        self._permits = over_ranks(
            [PERMITS], world.settings, world_size=self._size, own=0, fields=CHANGE
        )

    def _reader(self, properties: Sequence[Property], *, alone: bool = False) -> Reader:
        return Reader(self.world, [each.formula for each in properties], alone=alone)

    def at_node(self, node: WorldNode) -> Sequence[str]:
        """Ids of broken "always" properties."""
        ranks = node[:-1]
        broken: list[str] = []
        for number in ranks:
            held = self._single_holds((number,))
            if not all(held):
                broken += _failing(self._single, held, 1)
        held = self._joint_holds(ranks)
        if not all(held):
            broken += _failing(self._joint, held, self._size)
        return broken

    def at_rest(self, node: WorldNode) -> Sequence[str]:
        """Ids of "at rest" properties that are broken in a world that stands still."""
        return _failing(self._rest, self._rest_holds(node[:-1]), self._size)

    def on_edges(
        self, before: WorldNode, following: Sequence[WorldNode]
    ) -> Iterator[tuple[str, WorldNode]]:
        """R1 with each next world whose transition is none of the abstract machine's."""
        if not self.refinement:
            return
        old = self.image(before)
        for after in following:
            new = self.image(after)
            if new is not old and not self.permits(old, new, self.goals(before)):
                yield REFINEMENT, after

    def permits(self, old: Abstract, new: Abstract, goals: tuple[int, ...]) -> bool:
        """Whether the abstract machine may go from one image to the other; a goal per rank."""
        changes = (
            (old.steps, old.status, was, new.steps, new.status, becomes, goal)
            for was, becomes, goal in zip(old.received, new.received, goals, strict=True)
        )
        return bool(self._permits(*changes)[0])

    def image(self, node: WorldNode) -> Abstract:
        """What the abstract machine sees of a world; one object per content."""
        values = self._image(node[:-1])
        known = self._images.get(values)
        if known is None:
            received = values[2 * self._size : 3 * self._size]
            known = self._images[values] = Abstract(values[0], values[self._size], received)
        return known

    def goals(self, node: WorldNode) -> tuple[int, ...]:
        """What each rank's loop has to receive."""
        return self._image(node[:-1])[3 * self._size :]

    def witnessed(self, node: WorldNode) -> Sequence[str]:
        """Ids of "sometimes" properties seen for the first time; they are not asked for again."""
        if not self._unseen:
            return ()
        values = self._unseen_hold(node[:-1])
        if True not in values:
            return ()
        size = self._size
        seen = [
            each.id
            for at, each in enumerate(self._unseen)
            if any(values[at * size : (at + 1) * size])
        ]
        self._unseen = [each for each in self._unseen if each.id not in seen]
        self._unseen_hold = self._reader(self._unseen)
        return seen


def _failing(properties: Sequence[Property], held: Sequence[object], size: int) -> tuple[str, ...]:
    """Ids of properties that do not hold at all `size` ranks."""
    return tuple(
        each.id for at, each in enumerate(properties) if not all(held[at * size : (at + 1) * size])
    )
