"""The loopback runs real engines, is repeatable, and notices what it is there to notice."""

from __future__ import annotations

import pytest

from dgap.proofs.planted import finished_while_holding
from dgap.protocol.errors import BrokenAssumption
from dgap.protocol.machine import Machine
from dgap.protocol.vocabulary import Settings
from dgap.runtime.config import LoaderConfig
from dgap.runtime.loopback import Deadlock, Loopback
from tests.laws.worlds import Plan, build_world

CONFIG = LoaderConfig(token_budget=20, window=4, queue_size=1)


def transcript(world: Loopback) -> list[list[tuple[int, ...]]]:
    return [[step.sample_indices for _, step in rank.taken] for rank in world.ranks]


def test_one_seed_gives_one_run() -> None:
    plans = [Plan(costs=[5, 6, 7, 8, 9]), Plan(costs=[10])]
    runs = []
    for _ in range(2):
        world = build_world(CONFIG, plans, seed=7)
        world.run()
        runs.append((world.moves, transcript(world)))
    assert runs[0] == runs[1]


def test_another_seed_gives_another_order_of_moves_and_the_same_batches() -> None:
    plans = [Plan(costs=[5, 6, 7, 8, 9]), Plan(costs=[10])]
    orders: list[list[str]] = []
    batches = []
    for seed in (1, 2):
        seen: list[str] = []

        def note(world: Loopback, seen: list[str] = seen) -> None:
            seen.append(world.describe())

        world = build_world(CONFIG, plans, seed=seed, check=note)
        world.run()
        orders.append(seen)
        batches.append(transcript(world))
    assert orders[0] != orders[1]
    assert batches[0] == batches[1]


def test_a_check_that_fails_ends_the_run() -> None:
    def refuse(world: Loopback) -> None:
        raise AssertionError(f"move {world.moves}")

    with pytest.raises(AssertionError, match="move 1"):
        build_world(CONFIG, [Plan(costs=[1])], seed=0, check=refuse).run()


def test_a_queue_without_room_is_found_as_a_deadlock() -> None:
    """The control: a run in which nobody can move must not end well."""
    world = build_world(CONFIG, [Plan(costs=[15]), Plan(costs=[15])], seed=0, queue_size=0)
    with pytest.raises(Deadlock, match="nobody can move"):
        world.run()


def test_a_table_that_says_finished_while_it_holds_samples_is_caught() -> None:
    """The control of coverage: the reference's bug, on the reference's input."""
    table = finished_while_holding()

    def planted(settings: Settings) -> Machine:
        return Machine(settings, table)

    world = build_world(
        CONFIG, [Plan(costs=[15] * 2), Plan(costs=[15])], seed=0, compile_table=planted
    )
    with pytest.raises(BrokenAssumption, match="held at the end"):
        world.run()


def test_a_rank_that_dies_leaves_every_survivor_with_an_error() -> None:
    world = build_world(CONFIG, [Plan(costs=[5] * 9), Plan(costs=[5] * 9, dies_after=3)], seed=3)
    world.run()
    assert world.ranks[1].dead
    error = world.ranks[0].error
    assert getattr(error, "ranks", None) == (1,)


def test_an_order_says_who_moves_and_who_cannot_is_passed_over() -> None:
    plans = [Plan(costs=[5, 6]), Plan(costs=[10])]
    seen: list[str] = []

    def note(world: Loopback) -> None:
        seen.append(world.describe())

    order = [(0, "loop"), *[(1, "engine")] * 4, (0, "engine")]
    build_world(CONFIG, plans, seed=1, check=note, order=order).run()
    first = [text.split("; ")[0] for text in seen[:5]]
    assert first[:4] == ["rank 0: Pull, queue 0, 0 steps"] * 4
    assert len(set(seen[:4])) > 1
    plain = build_world(CONFIG, plans, seed=1)
    plain.run()
    ordered = build_world(CONFIG, plans, seed=2, order=order)
    ordered.run()
    assert transcript(ordered) == transcript(plain)
