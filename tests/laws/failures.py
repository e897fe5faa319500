"""Ways to fail and to leave, and how a rank of the tests runs them.

`Failing` is data for one epoch that one or two ranks spoil; `run_failing` runs in a rank. What
must hold is `is_aligned`: a law like those of `laws.py`, with its control in the test module.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dgap.runtime import DynamicBatchLoader
from tests.laws.records import Epoch, Raised, meet, run_epoch
from tests.laws.samples import InOrder, PlantedError, Sample, Uneven, pad

BUDGET = 40
COST, SIZE = 10, 20
BROKEN_INDEX = 7


@dataclass(frozen=True, kw_only=True)
class Failing:
    """`how` on the ranks `origins`; `type_name` and `says` of what those ranks raise."""

    how: str
    type_name: str
    says: str
    origins: tuple[int, ...] = (1,)
    num_workers: int = 0
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        workers = f" in {self.num_workers} workers" if self.num_workers else ""
        settings = ", ".join(f"{name} {value}" for name, value in self.settings.items())
        return f"{self.how}{workers} on {self.origins}, {settings}"


class CountingCollate:
    """Raises in its `at`-th call, or returns None there."""

    def __init__(self, at: int, *, returns_none: bool = False) -> None:
        self.left = at
        self.returns_none = returns_none

    def __call__(self, samples: list[Sample]) -> Sample | None:
        self.left -= 1
        if self.left:
            return pad(samples)
        if self.returns_none:
            return None
        raise PlantedError("collate is broken")


@dataclass(frozen=True)
class SpoiltCost:
    """A cost function that is wrong for the sample of this identity; raises if `answer` is None."""

    identity: int
    answer: Any = None

    def __call__(self, sample: Sample) -> Any:
        if int(sample["identity"]) != self.identity:
            return len(sample["input_ids"])
        if self.answer is None:
            raise PlantedError("cost is broken")
        return self.answer


def spoil_targets(sample: Sample, cost: int) -> int:
    """A target function that is wrong for one index of every rank's source."""
    if int(sample["identity"]) % 100 == BROKEN_INDEX:
        raise PlantedError("targets are broken")
    return cost


def loader_of(failing: Failing, rank: int) -> DynamicBatchLoader:
    """This rank's loader, spoilt if the rank is one of the origins."""
    source = Uneven(rank, (COST,) * SIZE)
    options: dict[str, Any] = {"collate_fn": pad}
    if rank in failing.origins:
        broken = source.identity(BROKEN_INDEX)
        costs = [COST] * SIZE
        match failing.how:
            case "dataset raises":
                source = replace(source, raise_at=BROKEN_INDEX)
            case "dataset raises at once":
                source = replace(source, raise_at=0)
            case "collate raises":
                options["collate_fn"] = CountingCollate(3)
            case "collate raises in its first call":
                options["collate_fn"] = CountingCollate(1)
            case "collate returns None":
                options["collate_fn"] = CountingCollate(3, returns_none=True)
            case "cost_fn raises":
                options["cost_fn"] = SpoiltCost(broken)
            case "cost_fn returns half a token":
                options["cost_fn"] = SpoiltCost(broken, 0.5)
            case "cost_fn returns -3":
                options["cost_fn"] = SpoiltCost(broken, -3)
            case "target_fn raises":
                options["target_fn"] = spoil_targets
            case "an empty sample":
                costs[BROKEN_INDEX] = 0
                source = replace(source, costs=tuple(costs))
            case "a sample over the budget":
                costs[BROKEN_INDEX] = BUDGET + 1
                source = replace(source, costs=tuple(costs))
    return DynamicBatchLoader(
        source,
        sampler=InOrder(SIZE),
        num_workers=failing.num_workers,
        token_budget=BUDGET,
        window=8,
        first_window=4,
        timeout_s=60.0,
        **options,
        **failing.settings,
    )


def run_failing(rank: int, failing: Failing) -> tuple[Epoch, Epoch]:
    """The spoilt epoch, then one of another loader, which must not notice."""
    loader = loader_of(failing, rank)
    spoilt = run_epoch(loader, rank=rank, work=meet)
    loader.close()
    after = loader_of(replace(failing, origins=()), rank)
    sound = run_epoch(after, rank=rank, work=meet)
    after.close()
    return spoilt, sound


def is_aligned(failing: Failing, epochs: Sequence[Epoch]) -> Iterator[str]:
    """S10: all raise after the same step; origins their own error, the others the lowest origin."""
    counts = [len(epoch.taken) for epoch in epochs]
    if len(set(counts)) > 1:
        yield f"the ranks raised after {counts} steps"
    for epoch in epochs:
        if epoch.raised is None:
            yield f"rank {epoch.rank} raised nothing"
        elif epoch.rank in failing.origins:
            yield from _own_error(failing, epoch.rank, epoch.raised)
        else:
            yield from _peers_error(failing, epoch, epoch.raised)


def _own_error(failing: Failing, rank: int, raised: Raised) -> Iterator[str]:
    if raised.type_name != failing.type_name or failing.says not in raised.message:
        yield f"rank {rank} raised {raised.type_name}: {raised.message}"
    elif raised.type_name == PlantedError.__name__ and "raise PlantedError" not in raised.traceback:
        yield f"rank {rank} lost the traceback: {raised.traceback}"


def _peers_error(failing: Failing, epoch: Epoch, raised: Raised) -> Iterator[str]:
    expected = ("PeerFailed", min(failing.origins), len(epoch.taken))
    if (raised.type_name, raised.rank, raised.step) != expected:
        yield f"rank {epoch.rank} raised {raised}, not {expected}"
    elif failing.says not in raised.message or failing.type_name not in raised.message:
        yield f"rank {epoch.rank} does not say what happened: {raised.message}"
