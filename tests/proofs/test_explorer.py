"""The search: exact counts on graphs small enough to draw, and no answer from an unfinished one."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dgap.proofs.explorer import Exploration, explore, longest_run

Graph = dict[int, list[int]]


@dataclass
class Marks:
    """A watch over marked nodes and edges; remembers what it has shown."""

    bad: frozenset[int] = frozenset()
    bad_rest: frozenset[int] = frozenset()
    bad_edges: frozenset[tuple[int, int]] = frozenset()
    wanted: set[int] = field(default_factory=set)

    def at_node(self, node: int) -> Sequence[str]:
        return ["bad"] if node in self.bad else []

    def at_rest(self, node: int) -> Sequence[str]:
        return ["rest"] if node in self.bad_rest else []

    def on_edges(self, before: int, following: Sequence[int]) -> Iterable[tuple[str, int]]:
        return [("edge", after) for after in following if (before, after) in self.bad_edges]

    def witnessed(self, node: int) -> Sequence[str]:
        return [f"saw {node}"] if node in self.wanted else []


#   0 -> 1 -> 3 -> 5      and 0 -> 2 -> 3: two ways of one length, then a line
DIAMOND: Graph = {0: [1, 2], 1: [3], 2: [3], 3: [5], 5: []}


def search(
    graph: Graph, watch: Marks | None = None, *, limit: int = 1000, until_broken: str = ""
) -> Exploration[int]:
    return explore(
        [0], graph.__getitem__, watch or Marks(), state_limit=limit, until_broken=until_broken
    )


def test_every_node_and_edge_is_counted_once() -> None:
    found = search(DIAMOND)
    assert (found.finished, found.states, found.transitions) == (True, 5, 5)
    assert (found.at_rest, found.depth, found.longest, found.cycle) == (1, 3, 3, ())


def test_a_broken_node_comes_with_a_shortest_path() -> None:
    shortcut = {**DIAMOND, 0: [1, 2, 4], 4: [5]}
    assert search(shortcut, Marks(bad=frozenset({5}))).broken == {"bad": (0, 4, 5)}


def test_the_longest_run_may_be_longer_than_the_depth() -> None:
    found = search({0: [1, 2], 1: [2], 2: [3], 3: []})
    assert (found.depth, found.longest) == (2, 3)


def test_a_node_without_successors_is_asked_about_and_others_are_not() -> None:
    assert search(DIAMOND, Marks(bad_rest=frozenset({5}))).broken == {"rest": (0, 1, 3, 5)}
    assert search(DIAMOND, Marks(bad_rest=frozenset({3}))).broken == {}


def test_an_edge_is_watched_even_where_it_leads_to_a_known_node() -> None:
    assert search(DIAMOND, Marks(bad_edges=frozenset({(2, 3)}))).broken == {"edge": (0, 1, 3)}


def test_a_witness_comes_with_a_shortest_path() -> None:
    assert search(DIAMOND, Marks(wanted={3})).shown == {"saw 3": (0, 1, 3)}


def test_a_circle_is_found_and_shown() -> None:
    found = search({0: [1], 1: [2], 2: [3, 1], 3: []})
    assert found.finished
    assert found.longest is None
    assert sorted(found.cycle) == [1, 2]


def test_a_node_that_leads_to_itself_is_a_circle() -> None:
    assert search({0: [0]}).cycle == (0,)


def test_a_search_that_reaches_its_limit_is_not_finished_and_says_nothing_of_its_end() -> None:
    found = search({n: [n + 1] for n in range(100)}, limit=10)
    assert not found.finished
    assert found.longest is None


def test_a_search_of_exactly_the_limit_is_finished() -> None:
    assert search(DIAMOND, limit=5).finished
    assert not search(DIAMOND, limit=4).finished


def test_a_search_may_stop_at_the_first_break() -> None:
    found = search(DIAMOND, Marks(bad=frozenset({1})), until_broken="bad")
    assert not found.finished
    assert found.broken == {"bad": (0, 1)}


def test_several_roots_are_searched_together() -> None:
    found = explore([0, 2, 2], DIAMOND.__getitem__, Marks(), state_limit=9)
    assert (found.states, found.depth) == (5, 2)


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="state_limit must be at least 1"):
        search(DIAMOND, limit=0)


def slow_longest(edges: list[list[int]], node: int, seen: frozenset[int]) -> int | None:
    """Dumb twin: follow every path; None where one comes back to itself."""
    if node in seen:
        return None
    lengths = [slow_longest(edges, after, seen | {node}) for after in edges[node]]
    if None in lengths:
        return None
    return max((length + 1 for length in lengths if length is not None), default=0)


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(1, 6))
def test_the_longest_run_is_that_of_following_every_path(seed: int, size: int) -> None:
    chance = random.Random(seed)
    edges = [[n for n in range(size) if chance.random() < 0.3] for _ in range(size)]
    slow = [slow_longest(edges, node, frozenset()) for node in range(size)]
    longest, cycle = longest_run(edges)
    if None in slow:
        assert longest is None
        steps = zip(cycle, (*cycle[1:], cycle[0]), strict=True)
        assert all(after in edges[before] for before, after in steps)
    else:
        assert (longest, cycle) == (max(value for value in slow if value is not None), ())
