"""Breadth-first search: every reachable node once, exact counts, shortest traces.

Rules kept here:
1. A search that reaches its limit is not finished, and what is not finished decides nothing.
2. No clock and no randomness: the same system gives the same counts and traces.
3. The search knows nothing of protocols; it sees successors and a watch.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

N = TypeVar("N", bound=Hashable)


class Watch(Protocol[N]):
    """What is looked at on the way. Ids name properties."""

    def at_node(self, node: N) -> Sequence[str]:
        """Ids of what is broken in this node."""

    def at_rest(self, node: N) -> Sequence[str]:
        """Ids of what is broken in this node, in which nothing more can happen."""

    def on_edges(self, before: N, following: Sequence[N]) -> Iterable[tuple[str, N]]:
        """Ids of what a step to one of the following nodes breaks, each with that node."""

    def witnessed(self, node: N) -> Sequence[str]:
        """Ids of "sometimes" properties that this node is the first to show."""


@dataclass(frozen=True, kw_only=True)
class Exploration(Generic[N]):
    """What a search found. `paths` are shortest, from a root to the node that shows the id.

    `depth` is the greatest distance from a root; `longest` the number of steps of the longest run,
    None where runs can go in circles or the search is not finished.
    """

    finished: bool
    states: int
    transitions: int
    at_rest: int
    depth: int
    longest: int | None
    broken: Mapping[str, tuple[N, ...]] = field(default_factory=dict)
    shown: Mapping[str, tuple[N, ...]] = field(default_factory=dict)
    cycle: tuple[N, ...] = ()


class _Search(Generic[N]):
    """The nodes found so far; a node's number is the order in which it was found."""

    def __init__(self, watch: Watch[N]) -> None:
        self.watch = watch
        self.nodes: list[N] = []
        self.numbers: dict[N, int] = {}
        self.parents: list[int] = []
        self.edges: list[tuple[int, ...]] = []
        self.broken: dict[str, int] = {}
        self.shown: dict[str, int] = {}

    def visit(self, node: N, parent: int) -> int:
        number = self.numbers.get(node)
        if number is not None:
            return number
        number = self.numbers[node] = len(self.nodes)
        self.nodes.append(node)
        self.parents.append(parent)
        self.note(self.broken, self.watch.at_node(node), number)
        self.note(self.shown, self.watch.witnessed(node), number)
        return number

    @staticmethod
    def note(where: dict[str, int], ids: Iterable[str], number: int) -> None:
        for name in ids:
            where.setdefault(name, number)

    def path(self, number: int) -> tuple[N, ...]:
        nodes: list[N] = []
        while number >= 0:
            nodes.append(self.nodes[number])
            number = self.parents[number]
        return tuple(reversed(nodes))

    def depth(self) -> int:
        depths: list[int] = []
        for parent in self.parents:
            depths.append(0 if parent < 0 else depths[parent] + 1)
        return max(depths, default=0)


def explore(
    roots: Sequence[N],
    successors: Callable[[N], Sequence[N]],
    watch: Watch[N],
    *,
    state_limit: int,
    until_broken: str = "",
) -> Exploration[N]:
    """Search from the roots. Stops early, unfinished, after `state_limit` nodes or as soon as the
    property `until_broken` is broken. Raises ValueError for a limit below 1."""
    if state_limit < 1:
        raise ValueError(f"state_limit must be at least 1, not {state_limit}")
    search = _Search(watch)
    for root in roots:
        search.visit(root, -1)
    resting = 0
    while len(search.edges) < len(search.nodes):
        if len(search.nodes) > state_limit or until_broken in search.broken:
            break
        number = len(search.edges)
        node = search.nodes[number]
        following = successors(node)
        if not following:
            resting += 1
            search.note(search.broken, watch.at_rest(node), number)
        search.edges.append(tuple([search.visit(new, number) for new in following]))
        for name, new in watch.on_edges(node, following):
            search.broken.setdefault(name, search.numbers[new])
    finished = len(search.edges) == len(search.nodes)
    longest, cycle = longest_run(search.edges) if finished else (None, ())
    return Exploration(
        finished=finished,
        states=len(search.nodes),
        transitions=sum(map(len, search.edges)),
        at_rest=resting,
        depth=search.depth(),
        longest=longest,
        broken={name: search.path(number) for name, number in search.broken.items()},
        shown={name: search.path(number) for name, number in search.shown.items()},
        cycle=tuple(search.nodes[number] for number in cycle),
    )


def longest_run(edges: Sequence[Sequence[int]]) -> tuple[int | None, tuple[int, ...]]:
    """(steps of the longest path, nothing) of an acyclic graph, else (None, the nodes of a circle).

    `edges[i]` are the successors of node i. Nodes are removed once nothing leads to them (Kahn);
    what is left has a predecessor each, so walking backwards closes a circle.
    """
    incoming = [0] * len(edges)
    for row in edges:
        for target in row:
            incoming[target] += 1
    ready = [number for number, count in enumerate(incoming) if count == 0]
    steps = [0] * len(edges)
    for number in ready:
        for target in edges[number]:
            steps[target] = max(steps[target], steps[number] + 1)
            incoming[target] -= 1
            if incoming[target] == 0:
                ready.append(target)
    if len(ready) == len(edges):
        return max(steps, default=0), ()
    before = {
        target: number
        for number, row in enumerate(edges)
        if incoming[number]
        for target in row
        if incoming[target]
    }
    walk = [next(iter(before))]
    while before[walk[-1]] not in walk:
        walk.append(before[walk[-1]])
    start = walk.index(before[walk[-1]])
    return None, tuple(reversed(walk[start:]))
