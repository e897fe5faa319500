"""The gradient under DDP with dynamic batches is that of one process, to 1e-12 (S8)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest

from dgap.runtime import DynamicBatchLoader
from tests.laws.gradients import Update, mean_loss, reference, relative_distance, train
from tests.laws.samples import IDENTITIES_PER_RANK, InOrder, Uneven, pad
from tests.laws.scenarios import mixed
from tests.processes import START_METHODS, StartMethod, run_ranks, values_of

BUDGET = 100
TOLERANCE = 1e-12


@dataclass(frozen=True, kw_only=True)
class Training:
    """One rank's source each; `targets` as in `Uneven`."""

    name: str
    costs: tuple[tuple[int, ...], ...]
    targets: tuple[tuple[int, ...] | None, ...] | None = None
    settings: dict[str, Any] = field(default_factory=dict)

    def source(self, rank: int) -> Uneven:
        return Uneven(rank, self.costs[rank], None if self.targets is None else self.targets[rank])


def trainings(world_size: int) -> tuple[Training, ...]:
    others = world_size - 1
    uneven = tuple(mixed(9 + 7 * rank, rank) for rank in range(world_size))
    small = {"window": 8, "first_window": 4}
    return (
        Training(name="uneven, masked labels", costs=uneven),
        Training(name="many small rounds", costs=uneven, settings=small),
        Training(name="accumulation", costs=uneven, settings={**small, "accumulation_steps": 2}),
        Training(name="accumulation of 3", costs=uneven, settings={"accumulation_steps": 3}),
        Training(name="an empty rank", costs=((), *(mixed(12, each) for each in range(others)))),
        Training(
            name="all labels of one rank ignored",
            costs=((10,) * 6, *((10,) * 8 for _ in range(others))),
            targets=((0,) * 6, *(None for _ in range(others))),
        ),
        Training(
            name="1 against 99 targets",
            costs=((100,),) * world_size,
            targets=((1,), *((99,) for _ in range(others))),
        ),
        Training(
            name="quota",
            costs=uneven,
            settings={"mode": "quota", "quota": 13 * world_size + 1, **small},
        ),
        Training(name="stop under Join", costs=uneven, settings={**small, "tail": "stop"}),
        Training(
            name="stop under Join, an empty rank",
            costs=((), *(mixed(12, each) for each in range(others))),
            settings={"tail": "stop"},
        ),
    )


def run_trainings(rank: int, world_size: int, arg: None) -> list[list[Update]]:
    """Runs in a rank."""
    return [_run(rank, training) for training in trainings(world_size)]


def _run(rank: int, training: Training) -> list[Update]:
    source = training.source(rank)
    loader = DynamicBatchLoader(
        source,
        collate_fn=pad,
        sampler=InOrder(len(source)),
        token_budget=BUDGET,
        timeout_s=60.0,
        **training.settings,
    )
    updates = train(loader, joins=training.settings.get("tail") == "stop")
    loader.close()
    return updates


@cache
def trained(world_size: int, start_method: StartMethod) -> dict[str, list[list[Update]]]:
    """By training: the updates of each rank."""
    values = values_of(
        run_ranks(run_trainings, world_size=world_size, start_method=start_method, timeout_s=120.0)
    )
    names = [each.name for each in trainings(world_size)]
    return {name: list(ranks) for name, ranks in zip(names, zip(*values, strict=True), strict=True)}


CASES = [
    pytest.param(world_size, training, id=f"{world_size} ranks, {training.name}")
    for world_size in (2, 3)
    for training in trainings(world_size)
]
both_start_methods = pytest.mark.parametrize("start_method", START_METHODS)


@both_start_methods
@pytest.mark.parametrize(("world_size", "training"), CASES)
def test_every_rank_has_the_gradient_of_one_process(
    world_size: int, training: Training, start_method: StartMethod
) -> None:
    by_rank = trained(world_size, start_method)[training.name]
    length = max(len(updates) for updates in by_rank)
    assert length > 0
    sources = [training.source(rank) for rank in range(world_size)]
    identities = [
        [each for updates in by_rank if index < len(updates) for each in updates[index].identities]
        for index in range(length)
    ]
    expected = reference(
        [
            [sources[each // IDENTITIES_PER_RANK][each % IDENTITIES_PER_RANK] for each in members]
            for members in identities
        ]
    )
    for rank, updates in enumerate(by_rank):
        for index, update in enumerate(updates):
            distance = relative_distance(update.gradient, expected[index])
            assert distance <= TOLERANCE, f"rank {rank}, update {index}: {distance}"


@both_start_methods
@pytest.mark.parametrize("world_size", [2, 3])
def test_idle_steps_and_ranks_without_targets_did_occur(
    world_size: int, start_method: StartMethod
) -> None:
    runs = trained(world_size, start_method)
    empty = runs["an empty rank"][0]
    assert all(update.idle_steps == 1 and update.weights == (0.0,) for update in empty)
    ignored = runs["all labels of one rank ignored"]
    assert all(update.weights == (0.0,) for update in ignored[0])
    assert any(update.identities for update in ignored[0])
    few, many = (updates[0].weights[0] for updates in runs["1 against 99 targets"][:2])
    assert few > 0
    assert math.isclose(many / few, 99)
    counts = [len(updates) for updates in runs["stop under Join"]]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]
    assert len(runs["stop under Join, an empty rank"][0]) == 0


def test_a_weight_of_one_would_be_noticed() -> None:
    """The control: two unequal halves, averaged without weights, are far from the reference."""
    import torch

    from tests.laws.gradients import TinyModel

    source = Uneven(0, (100, 100), (1, 99))
    gradients = []
    for index in range(2):
        model = TinyModel()
        sample = source[index]
        loss = mean_loss(model(sample["input_ids"]), sample["labels"])
        loss.backward()
        flat = [each.grad.flatten() for each in model.parameters() if each.grad is not None]
        gradients.append(torch.cat(flat))
    unweighted = ((gradients[0] + gradients[1]) / 2).tolist()
    assert relative_distance(unweighted, reference([[source[0], source[1]]])[0]) > 0.1


def test_nan_is_never_within_the_tolerance() -> None:
    assert not relative_distance([math.nan, 0.0], [1.0, 0.0]) <= TOLERANCE
