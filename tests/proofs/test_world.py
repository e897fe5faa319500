"""The world: the table and the environment composed, and nothing more."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dgap.proofs.explorer import explore
from dgap.proofs.watch import PropertyWatch
from dgap.proofs.world import Node, World, candidates
from dgap.protocol.expr import TRUE, conjoin, conjuncts
from dgap.protocol.vocabulary import Event, EventKind, Phase, Settings, State, state
from dgap.spec.environment import MOVES, OCCASIONS, Environment, initial_environment
from dgap.spec.oracle_expr import Reading, holds, value_of
from dgap.spec.properties import PROPERTIES

ROWS = {row.name: row for row in (*OCCASIONS, *MOVES)}


def reachable(world: World, root: Node) -> Iterator[Node]:
    """Every world that can be reached, in the order in which it is found."""
    found = [root]
    known = {root}
    for node in found:
        yield node
        new = [after for after in world.successors(node) if after not in known]
        known.update(new)
        found += dict.fromkeys(new)


def named(world: World, node: Node, rank: int) -> tuple[State, Environment]:
    return world.ranks[node[rank]]


def small(*, world_size: int = 2, samples: int = 1, reduced: bool = False) -> tuple[World, Node]:
    world = World(Settings(window=2), world_size, reduced=reduced)
    return world, world.root([initial_environment(samples)] * world_size)


def reading(world: World, node: Node, rank: int, event: Event | None = None) -> Reading:
    own_state, own_environment = named(world, node, rank)
    pairs = [named(world, node, other) for other in range(world.world_size)]
    arguments = event._asdict() if event else {}
    arguments.pop("reports", None)
    return Reading(
        own={
            "state": own_state._asdict(),
            "world": own_environment._asdict(),
            "event": arguments,
            "setting": world.settings._asdict(),
        },
        ranks=[{**s._asdict(), **e._asdict()} for s, e in pairs],
    )


def moved(before: Node, after: Node) -> int:
    """The one rank that differs."""
    changed = [rank for rank, number in enumerate(before[:-1]) if number != after[rank]]
    assert len(changed) == 1
    return changed[0]


def test_a_world_starts_with_nothing_read_and_nothing_gathered() -> None:
    world, root = small()
    assert root[-1] == 0
    assert named(world, root, 0) == (State(target=2), initial_environment(1))


def test_in_every_move_one_rank_changes_by_a_row_whose_guard_holds() -> None:
    world, root = small()
    for node in reachable(world, root):
        for after in world.successors(node):
            rank = moved(node, after)
            name, event = world.reasons[(node[rank], after[rank])]
            assert holds(ROWS[name].guard, reading(world, node, rank))
            if event is not None:
                result = world.machine.attempt(named(world, node, rank)[0], event)
                assert result is not None
                assert result[0] == named(world, after, rank)[0]


def test_in_every_move_that_is_no_event_the_rank_changes_as_the_row_says() -> None:
    world, root = small()
    seen = set()
    for node in reachable(world, root):
        for after in world.successors(node):
            rank = moved(node, after)
            name, event = world.reasons[(node[rank], after[rank])]
            if event is None:
                at = reading(world, node, rank)
                new = {field: value_of(value, at) for field, value in ROWS[name].updates}
                before, surroundings = named(world, node, rank)
                assert named(world, after, rank) == (before, surroundings._replace(**new))
                seen.add(name)
    assert seen == {"take", "train", "finish"}


def test_every_row_that_may_happen_does_happen() -> None:
    world, root = small()
    for node in reachable(world, root):
        happening = {
            (moved(node, after), world.reasons[(node[rank], after[rank])][0])
            for after in world.successors(node)
            for rank in [moved(node, after)]
        }
        for rank in range(2):
            at = reading(world, node, rank)
            own_state, surroundings = named(world, node, rank)
            for row in ROWS.values():
                if row.event is EventKind.GATHERED or not holds(row.guard, at):
                    continue
                possible = row.event is None or any(
                    world.machine.permits(own_state, event)
                    for event in candidates(row.event, own_state)
                )
                assert possible == ((rank, row.name) in happening), (row.name, surroundings)


def test_a_rank_takes_the_vector_of_its_round_even_when_a_peer_has_gone_on() -> None:
    world, root = small()
    late = 0
    for node in reachable(world, root):
        for after in world.successors(node):
            rank = moved(node, after)
            name, event = world.reasons[(node[rank], after[rank])]
            if name != "gathered" or event is None:
                continue
            own = named(world, node, rank)[0]
            assert event.reports[rank] == world.machine.report(own)
            peer = named(world, node, 1 - rank)[0]
            if peer.phase == Phase.OFFER and peer.rounds == own.rounds:
                assert event.reports[1 - rank] == world.machine.report(peer)
            else:
                late += 1
    assert late > 0


def test_the_gathered_vector_is_forgotten_once_all_have_taken_it() -> None:
    world, root = small()
    for node in reachable(world, root):
        states = [named(world, node, rank)[0] for rank in range(2)]
        inside = [each for each in states if each.phase == Phase.OFFER]
        if not inside:
            assert node[-1] == 0
        if node[-1]:
            assert len(inside) == 1 or len({each.rounds for each in inside}) == 2


def test_all_legal_arguments_are_offered() -> None:
    world = World(Settings(window=3), 1)
    root = world.root([initial_environment(3)])
    events = {
        event
        for node in reachable(world, root)
        for after in world.successors(node)
        for _, event in [world.reasons[(node[0], after[0])]]
        if event is not None
    }
    assert {event.needed for event in events if event.kind is EventKind.OFFER} == {0, 1, 2, 3}
    assert {event.samples for event in events if event.kind is EventKind.DELIVER} == {1, 2, 3}


def ends(world: World, root: Node) -> set[tuple[tuple[State, Environment], ...]]:
    """What the ranks are in the worlds that stand still."""
    return {
        tuple(named(world, node, rank) for rank in range(world.world_size))
        for node in reachable(world, root)
        if not world.successors(node)
    }


@pytest.mark.parametrize("samples", [(1, 2), (2, 2), (0, 2)])
@pytest.mark.parametrize("tail_stop", [0, 1])
@pytest.mark.parametrize("faults", [0, 1])
def test_the_reduced_world_ends_as_the_full_one_does(
    samples: tuple[int, int], tail_stop: int, faults: int
) -> None:
    sizes = {}
    found = {}
    for reduced in (False, True):
        world = World(Settings(window=2, tail_stop=tail_stop), 2, reduced=reduced)
        root = world.root([initial_environment(count, faults=faults) for count in samples])
        sizes[reduced] = sum(1 for _ in reachable(world, root))
        found[reduced] = ends(world, root)
    assert found[True] == found[False]
    assert sizes[True] < sizes[False]


@pytest.mark.parametrize("trouble", [{"stops": 1}, {"crashes": 1}])
def test_a_reduced_world_refuses_what_it_could_not_show(trouble: dict[str, int]) -> None:
    world = World(Settings(), 1, reduced=True)
    with pytest.raises(ValueError, match="no early stops and no crashes"):
        world.root([initial_environment(1, **trouble)])  # type: ignore[arg-type]


def test_another_number_of_environments_is_refused() -> None:
    with pytest.raises(ValueError, match="1 environments for 2 ranks"):
        World(Settings(), 2).root([initial_environment(1)])


def test_a_conjunction_is_taken_apart() -> None:
    parts = [state("held") > 0, state("read") > 0, TRUE]
    assert list(conjuncts(conjoin(*parts))) == parts


def test_the_same_world_has_the_same_counts_every_time() -> None:
    counts = set()
    for _ in range(2):
        world, root = small(samples=2)
        watch = PropertyWatch(world, PROPERTIES, refinement=True)
        found = explore([root], world.successors, watch, state_limit=10_000)
        assert found.finished
        assert not found.broken
        counts.add((found.states, found.transitions, found.depth))
    assert len(counts) == 1
