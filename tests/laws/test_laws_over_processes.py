"""Every configuration is put through every law: 1, 2 and 3 Gloo processes, spawn and fork."""

from __future__ import annotations

from functools import cache

import pytest

from tests.laws.laws import LAWS, Law, violations
from tests.laws.records import Epoch
from tests.laws.scenarios import Scenario, all_scenarios, run_scenarios
from tests.processes import START_METHODS, StartMethod, run_ranks, values_of

WORLD_SIZES = (1, 2, 3)


@cache
def recorded(world_size: int, start_method: StartMethod) -> list[tuple[Scenario, list[Epoch]]]:
    """Each epoch of each scenario, as the ranks saw it, in rank order."""
    scenarios = all_scenarios(world_size, start_method)
    values = values_of(
        run_ranks(
            run_scenarios,
            world_size=world_size,
            start_method=start_method,
            args_per_rank=[scenarios] * world_size,
            timeout_s=180.0,
        )
    )
    return [
        (scenario, list(epochs))
        for scenario, by_rank in zip(scenarios, zip(*values, strict=True), strict=True)
        for epochs in zip(*by_rank, strict=True)
    ]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("start_method", START_METHODS)
@pytest.mark.parametrize("world_size", WORLD_SIZES)
def test_the_law_holds_in_every_configuration(
    world_size: int, start_method: StartMethod, law: Law
) -> None:
    broken = [
        f"{scenario.name}: {text}"
        for scenario, epochs in recorded(world_size, start_method)
        for text in violations(scenario.setting(), epochs, [law])
    ]
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize("start_method", START_METHODS)
def test_the_record_is_worth_judging(start_method: StartMethod) -> None:
    """Guards the laws against an empty record: idle steps, recycling, passes did happen."""
    steps = [
        taken.step
        for _, epochs in recorded(2, start_method)
        for epoch in epochs
        for taken in epoch.taken
    ]
    ledgers = [epoch.ledger for _, epochs in recorded(2, start_method) for epoch in epochs]
    assert any(step.idle for step in steps)
    assert any(step.weight not in (0.0, 1.0) for step in steps)
    assert any(not step.sync for step in steps)
    assert max(ledger["passes"] for ledger in ledgers) > 2
    assert max(ledger["rounds"] for ledger in ledgers) > 5
    assert max(ledger["over_budget"] for ledger in ledgers) > 0


@pytest.mark.parametrize("world_size", WORLD_SIZES)
def test_spawn_and_fork_give_the_same_epochs(world_size: int) -> None:
    """A9: nothing of an epoch depends on how its processes were started."""
    spawned = {scenario.name: epochs for scenario, epochs in recorded(world_size, "spawn")}
    forked = {scenario.name: epochs for scenario, epochs in recorded(world_size, "fork")}
    alike = [name for name in spawned if "workers" not in name]
    assert len(alike) > 50
    for name in alike:
        assert spawned[name] == forked[name], name
