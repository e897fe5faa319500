"""Loopback worlds for tests: samples by cost, any settings, faults in a table of columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dgap.protocol.machine import Machine
from dgap.protocol.vocabulary import FailureCode, Settings
from dgap.runtime.assembly import new_engine
from dgap.runtime.chunks import Fault, Sample
from dgap.runtime.config import LoaderConfig
from dgap.runtime.intake import Intake
from dgap.runtime.ledger import Ledger
from dgap.runtime.loopback import Loopback, LoopbackRank

compiled = lru_cache(maxsize=None)(Machine)
"""Examples share few settings; compiling the table once for each saves most of the time."""


class PlantedError(Exception):
    """Raised by the data set or the collate function of a test."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What one rank holds and what goes wrong there."""

    costs: Sequence[int] = ()
    source_fails_at: int | None = None
    collate_fails_at: int | None = None
    leaves_after: int | None = None
    dies_after: int | None = None


def value_of(rank: int, index: int) -> tuple[int, int]:
    """A sample that names its rank and index: no two ranks hold the same."""
    return (rank, index)


def entries_of(rank: int, plan: Plan) -> list[Sample | Fault]:
    entries: list[Sample | Fault] = [
        Sample(index=index, cost=cost, targets=cost, value=value_of(rank, index))
        for index, cost in enumerate(plan.costs)
    ]
    if plan.source_fails_at is not None:
        fault = Fault.of(FailureCode.SOURCE, plan.source_fails_at, PlantedError(f"rank {rank}"))
        entries.insert(min(plan.source_fails_at, len(entries)), fault)
    return entries


def collate_of(plan: Plan) -> Callable[[list[Any]], Any]:
    calls = 0

    def collate(samples: list[Any]) -> list[Any]:
        nonlocal calls
        calls += 1
        if plan.collate_fails_at is not None and calls > plan.collate_fails_at:
            raise PlantedError(f"collate call {calls}")
        return list(samples)

    return collate


def build_world(
    config: LoaderConfig,
    plans: Sequence[Plan],
    *,
    seed: int,
    check: Callable[[Loopback], None] | None = None,
    compile_table: Callable[[Settings], Machine] = compiled,
    queue_size: int | None = None,
    order: Sequence[tuple[int, str]] = (),
) -> Loopback:
    """A loopback of the real engines over these plans."""
    machine = compile_table(config.settings())
    ranks = []
    for rank, plan in enumerate(plans):
        ledger = Ledger()
        engine = new_engine(
            machine,
            config,
            epoch=0,
            rank=rank,
            world_size=len(plans),
            collate=collate_of(plan),
            ledger=ledger,
        )
        ranks.append(
            LoopbackRank(
                engine=engine,
                intake=Intake(config, ledger),
                passes=[entries_of(rank, plan)],
                leave_after=plan.leaves_after,
                die_after=plan.dies_after,
            )
        )
    return Loopback(
        ranks,
        seed=seed,
        queue_size=config.queue_size if queue_size is None else queue_size,
        check=check,
        order=order,
    )
