"""Configurations that are uneven on purpose, and how a rank runs them.

Rules: a scenario is data that travels to the ranks; all scenarios of one world size run one after
another in the same processes, each with a loader (and so a Gloo group) of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from dgap.runtime import DynamicBatchLoader
from tests.laws.laws import Setting
from tests.laws.records import Epoch, meet, nothing, run_epoch
from tests.laws.samples import InOrder, Uneven, pad

BUDGET = 64
SHORT, LONG = 3, 50


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """`costs`: those of each rank's source, in reading order. `settings`: of `LoaderConfig`."""

    name: str
    costs: tuple[tuple[int, ...], ...]
    settings: dict[str, Any] = field(default_factory=dict)
    num_workers: int = 0
    epochs: int = 1

    def setting(self) -> Setting:
        """What the laws must know."""
        sources = [Uneven(rank, costs) for rank, costs in enumerate(self.costs)]
        identities = tuple(
            tuple(source.identity(index) for index in range(len(source))) for source in sources
        )
        return Setting(
            budget=BUDGET,
            costs={
                source.identity(index): cost
                for source in sources
                for index, cost in enumerate(source.costs)
            },
            identities=identities,
            tail=self.settings.get("tail", "idle"),
            accumulation=self.settings.get("accumulation_steps", 1),
            quota=self.settings.get("quota"),
        )

    def loader(self, rank: int) -> DynamicBatchLoader:
        """This rank's loader."""
        source = Uneven(rank, self.costs[rank])
        return DynamicBatchLoader(
            source,
            collate_fn=pad,
            sampler=InOrder(len(source)),
            num_workers=self.num_workers,
            **{"token_budget": BUDGET, "timeout_s": 60.0, **self.settings},
        )


def run_scenarios(rank: int, world_size: int, scenarios: tuple[Scenario, ...]) -> list[list[Epoch]]:
    """Runs in a rank: the epochs of each scenario."""
    return [_run(rank, world_size, scenario) for scenario in scenarios]


def _run(rank: int, world_size: int, scenario: Scenario) -> list[Epoch]:
    loader = scenario.loader(rank)
    stops = scenario.settings.get("tail") == "stop"
    work = nothing if stops or world_size == 1 else meet
    epochs = []
    for epoch in range(scenario.epochs):
        loader.set_epoch(epoch)
        epochs.append((run_epoch(loader, rank=rank, work=work), loader.ledger))
    loader.close()
    # Under "stop" the books of a rank are closed only when its peers have ended too.
    return [
        replace(epoch, ledger=ledger.as_dict(), balance=ledger.balance) for epoch, ledger in epochs
    ]


def mixed(count: int, start: int = 0) -> tuple[int, ...]:
    """`count` costs from 1 to over the budget, in no order."""
    return tuple(1 + (start + each) * 37 % 70 for each in range(count))


def shapes(world_size: int) -> Iterator[tuple[str, tuple[tuple[int, ...], ...]]]:
    """Uneven data by name: the first rank's source, and those of the others."""
    others = world_size - 1
    shortest = tuple(mixed(7 + 6 * rank, rank) for rank in range(world_size))
    yield "each rank another number", shortest
    yield "nothing against many", ((), *(mixed(30, rank) for rank in range(others)))
    yield "two against one", ((50, 60), *((70,) for _ in range(others)))
    yield "one sample in all", ((10,), *(() for _ in range(others)))
    yield "one batch each", tuple((SHORT,) * (2 + rank) for rank in range(world_size))
    yield "all long against all short", ((LONG,) * 9, *((SHORT,) * 40 for _ in range(others)))
    yield "all long", tuple((LONG,) * (4 + 3 * rank) for rank in range(world_size))
    yield "all short", tuple((SHORT,) * (90 - 41 * rank) for rank in range(world_size))


def join_scenarios(world_size: int) -> Iterator[Scenario]:
    """Every shape, both policies, one round or many, accumulation where the tail allows it."""
    tails = ({"tail": "idle"}, {"tail": "stop"}, {"tail": "idle", "accumulation_steps": 2})
    for number, (shape, costs) in enumerate(shapes(world_size)):
        for policy in ("paper", "fill"):
            for tail in tails:
                # Alternately everything in one window and windows that hold a part of the data.
                small = {"window": 8, "first_window": 4} if number % 2 == 0 else {}
                yield Scenario(
                    name=f"join, {shape}, {policy}, {tail}",
                    costs=costs,
                    settings={"policy": policy, **tail, **small},
                )


def quota_scenarios(world_size: int) -> Iterator[Scenario]:
    """Quotas below a pass, at its end and over several passes; every rank has samples."""
    costs = tuple(mixed(9 + 5 * rank, rank) for rank in range(world_size))
    smallest = 9 * world_size
    tails = ({"tail": "idle"}, {"tail": "stop"}, {"tail": "idle", "accumulation_steps": 2})
    for quota in (1, smallest - 1, smallest, 3 * smallest + 1):
        for policy in ("paper", "fill"):
            for tail in tails:
                yield Scenario(
                    name=f"quota {quota}, {policy}, {tail}",
                    costs=costs,
                    settings={
                        "mode": "quota",
                        "quota": quota,
                        "policy": policy,
                        "window": 8,
                        **tail,
                    },
                )


def worker_scenarios(world_size: int, *, start_method: str) -> Iterator[Scenario]:
    """With worker processes. A spawned worker takes seconds to start, so spawn gets fewer."""
    costs = tuple(mixed(40 - 11 * rank, rank) for rank in range(world_size))
    fresh = start_method == "fork"
    yield Scenario(name="join with 2 workers", costs=costs, num_workers=2, epochs=2 if fresh else 1)
    if fresh:
        yield Scenario(
            name="quota with 2 workers, several passes",
            costs=costs,
            settings={"mode": "quota", "quota": 90 * world_size, "policy": "paper"},
            num_workers=2,
        )
        yield Scenario(
            name="stop with 2 workers", costs=costs, settings={"tail": "stop"}, num_workers=2
        )


def all_scenarios(world_size: int, start_method: str) -> tuple[Scenario, ...]:
    """What the processes of one world size and start method run."""
    epochs = Scenario(
        name="three epochs of one loader, shuffled batches",
        costs=tuple(mixed(25 + rank, rank) for rank in range(world_size)),
        settings={"window": 8, "seed": 5},
        epochs=3,
    )
    return (
        *join_scenarios(world_size),
        *quota_scenarios(world_size),
        epochs,
        *worker_scenarios(world_size, start_method=start_method),
    )
