"""A failure on one rank is an error on all ranks, after the same step (S10, L3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from tests.laws.failures import BUDGET, COST, SIZE, Failing, is_aligned, run_failing
from tests.laws.laws import Setting, violations
from tests.laws.records import Epoch, Raised
from tests.laws.samples import Uneven
from tests.processes import START_METHODS, StartMethod, run_ranks, values_of

WORLD_SIZE = 3
PLANTED = "PlantedError"

# how it fails, what the origin raises, what its message says
WAYS = (
    ("dataset raises", PLANTED, "sample 7 is broken"),
    ("dataset raises at once", PLANTED, "sample 0 is broken"),
    ("collate raises", PLANTED, "collate is broken"),
    ("collate raises in its first call", PLANTED, "collate is broken"),
    ("collate returns None", "BadBatch", "returned None"),
    ("cost_fn raises", PLANTED, "cost is broken"),
    ("cost_fn returns half a token", "BadCost", "index 7"),
    ("cost_fn returns -3", "BadCost", "index 7"),
    ("target_fn raises", PLANTED, "targets are broken"),
    ("an empty sample", "EmptySample", "sample 7"),
    ("a sample over the budget", "OverBudget", "sample 7 costs 41"),
)


def failings(start_method: StartMethod) -> Iterator[Failing]:
    """Every way under both tails; on two ranks at once; in workers, which spawn starts slowly."""
    strict = {"on_over_budget": "error"}
    for how, type_name, says in WAYS:
        for tail in ("idle", "stop"):
            yield Failing(
                how=how, type_name=type_name, says=says, settings={**strict, "tail": tail}
            )
    first: dict[str, Any] = {"how": WAYS[0][0], "type_name": WAYS[0][1], "says": WAYS[0][2]}
    yield Failing(**first, origins=(1, 2))
    yield Failing(**first, origins=(0,), settings={"policy": "paper"})
    yield Failing(**first, settings={"mode": "quota", "quota": 60})
    yield Failing(**first, settings={"accumulation_steps": 2})
    if start_method == "fork":
        yield Failing(**first, num_workers=2)
        yield Failing(how="cost_fn raises", type_name=PLANTED, says="cost is", num_workers=2)


def run_failings(rank: int, world_size: int, start_method: StartMethod) -> list[list[Epoch]]:
    """Runs in a rank: the spoilt and the sound epoch of each failing."""
    return [list(run_failing(rank, failing)) for failing in failings(start_method)]


@cache
def failed(start_method: StartMethod) -> dict[str, tuple[list[Epoch], list[Epoch]]]:
    """By name of the failing: what each rank saw of the spoilt and of the sound epoch."""
    values = values_of(
        run_ranks(
            run_failings,
            world_size=WORLD_SIZE,
            start_method=start_method,
            args_per_rank=[start_method] * WORLD_SIZE,
            timeout_s=150.0,
        )
    )
    by_failing = zip(failings(start_method), zip(*values, strict=True), strict=True)
    return {
        failing.name: ([spoilt for spoilt, _ in ranks], [sound for _, sound in ranks])
        for failing, ranks in by_failing
    }


ALL = [
    pytest.param(start_method, failing, id=f"{start_method}, {failing.name}")
    for start_method in START_METHODS
    for failing in failings(start_method)
]


@pytest.mark.parametrize(("start_method", "failing"), ALL)
def test_all_ranks_raise_after_the_same_step(start_method: StartMethod, failing: Failing) -> None:
    spoilt, _ = failed(start_method)[failing.name]
    assert list(is_aligned(failing, spoilt)) == []
    assert [epoch.balance for epoch in spoilt] == [0] * WORLD_SIZE


@pytest.mark.parametrize(("start_method", "failing"), ALL)
def test_an_epoch_of_another_loader_afterwards_is_whole(
    start_method: StartMethod, failing: Failing
) -> None:
    _, sound = failed(start_method)[failing.name]
    sources = [Uneven(rank, (COST,) * SIZE) for rank in range(WORLD_SIZE)]
    identities = tuple(tuple(map(source.identity, range(SIZE))) for source in sources)
    setting = Setting(
        budget=BUDGET,
        costs={each: COST for own in identities for each in own},
        identities=identities,
        tail=failing.settings.get("tail", "idle"),
        accumulation=failing.settings.get("accumulation_steps", 1),
        quota=failing.settings.get("quota"),
    )
    assert violations(setting, sound) == []


@pytest.mark.parametrize("start_method", START_METHODS)
def test_some_failures_come_after_steps_and_some_before(start_method: StartMethod) -> None:
    counts = {len(epochs[0].taken) for epochs, _ in failed(start_method).values()}
    assert min(counts) == 0
    assert max(counts) > 2


def test_an_error_from_a_worker_carries_the_workers_traceback() -> None:
    for failing in failings("fork"):
        if failing.num_workers:
            origin = failed("fork")[failing.name][0][1].raised
            assert origin is not None
            assert "in __getitem__" in origin.cause or "in __call__" in origin.cause


def test_the_law_refuses_doctored_records() -> None:
    failing = next(failings("fork"))
    spoilt, _ = failed("fork")[failing.name]
    stranger = Raised(type_name="KeyError", message="7")
    doctored = (
        replace(spoilt[0], taken=spoilt[0].taken[:-1]),
        replace(spoilt[0], raised=None),
        replace(spoilt[0], raised=stranger),
        replace(spoilt[1], raised=stranger),
    )
    for epoch in doctored:
        epochs = [epoch if epoch.rank == each.rank else each for each in spoilt]
        assert list(is_aligned(failing, epochs))
