"""Grouping against its dumb twins: every small window, random large ones, and bad arguments."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dgap.protocol.errors import BrokenAssumption, ConfigError
from dgap.runtime.boundaries import TOLERANCE_DIVISOR, BudgetKind
from dgap.runtime.grouping import Partition, group_cost, needed_group_count, partition
from dgap.spec import oracle_grouping as oracle

KINDS: tuple[BudgetKind, ...] = ("padded", "packed")


def weight_of(result: Partition, costs: list[int], kind: str) -> int:
    return sum(
        oracle.weight_of_group([costs[position] for position in group], kind)
        for group in result.groups
    )


def faults_of(result: Partition, costs: list[int], **settings_of_round: Any) -> list[str]:
    return oracle.faults_of_partition(
        costs, groups=result.groups, recycled=result.recycled, **settings_of_round
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_window_of_up_to_five_small_costs_is_split_as_the_twins_say(
    kind: BudgetKind,
) -> None:
    checked_count = 0
    for size in range(1, 6):
        for costs in map(list, product((1, 2, 7), repeat=size)):
            for budget in (1, 4, 9, 30):
                needed = needed_group_count(costs, budget, kind)
                assert needed == oracle.least_group_count(costs, budget, kind)
                for step_count in range(1, size + 2):
                    result = partition(costs, budget=budget, kind=kind, step_count=step_count)
                    round_ = {"budget": budget, "kind": kind, "step_count": step_count}
                    assert faults_of(result, costs, **round_) == [], (costs, round_)
                    if step_count >= needed:
                        least = oracle.least_weight(costs, budget, kind, min(size, step_count))
                        assert weight_of(result, costs, kind) == least, (costs, round_)
                    checked_count += 1
    assert checked_count == 4 * sum(3**size * (size + 1) for size in range(1, 6))


def test_for_padded_groups_no_partition_at_all_beats_the_contiguous_ones() -> None:
    for costs in map(list, product((1, 2, 5), repeat=6)):
        for budget in (4, 10, 16):
            fewest = min(
                len(groups)
                for groups in oracle.all_partitions(costs)
                if all(oracle.is_within_budget(group, budget, "padded") for group in groups)
            )
            assert needed_group_count(costs, budget, "padded") == fewest
            if costs != sorted(costs):
                continue
            for group_count in range(fewest, 7):
                assert oracle.least_weight(
                    costs, budget, "padded", group_count
                ) == oracle.least_weight_of_all(costs, budget, "padded", group_count)


windows = st.lists(
    st.one_of(st.integers(1, 40), st.integers(1, 900), st.just(64)), min_size=1, max_size=90
)


@settings(max_examples=100, deadline=None)
@given(windows, st.integers(1, 3000), st.sampled_from(KINDS), st.data())
def test_random_windows_keep_every_rule_and_come_close_to_the_least_weight(
    costs: list[int], budget: int, kind: BudgetKind, data: st.DataObject
) -> None:
    needed = needed_group_count(costs, budget, kind)
    assert needed == oracle.least_group_count(costs, budget, kind)
    step_count = data.draw(st.one_of(st.integers(1, needed), st.integers(needed, len(costs) + 2)))
    result = partition(costs, budget=budget, kind=kind, step_count=step_count)
    assert faults_of(result, costs, budget=budget, kind=kind, step_count=step_count) == []
    if step_count >= needed:
        least = oracle.least_weight(costs, budget, kind, min(len(costs), step_count))
        assert least is not None
        weight = weight_of(result, costs, kind)
        assert least <= weight
        unavoidable = oracle.unavoidable_weight(costs, kind, min(len(costs), step_count))
        assert (weight - least) * TOLERANCE_DIVISOR <= least - unavoidable


@settings(max_examples=50, deadline=None)
@given(windows, st.integers(1, 3000), st.sampled_from(KINDS), st.integers(1, 20))
def test_repeated_rounds_deliver_the_oldest_sample_each_time_and_end(
    costs: list[int], budget: int, kind: BudgetKind, step_count: int
) -> None:
    window = list(enumerate(costs))
    delivered: list[int] = []
    while window:
        result = partition(
            [cost for _, cost in window], budget=budget, kind=kind, step_count=step_count
        )
        leaving = [window[position][0] for group in result.groups for position in group]
        assert window[0][0] in leaving
        delivered += leaving
        window = [window[position] for position in result.recycled]
    assert sorted(delivered) == list(range(len(costs)))


def test_half_of_the_groups_are_the_oldest_the_others_the_fullest_and_the_rest_waits() -> None:
    costs = [1, 4, 4, 4, 4, 4, 1]
    assert needed_group_count(costs, 8, "padded") == 4
    two = partition(costs, budget=8, kind="padded", step_count=2)
    assert two.groups == ((2, 3), (0,)), "of (0,), (1, 6), (2, 3) and (4, 5)"
    assert two.recycled == (1, 4, 5, 6)
    three = partition(costs, budget=8, kind="padded", step_count=3)
    assert three.groups == ((1, 6), (2, 3), (0,))
    assert three.recycled == (4, 5)


def test_samples_over_the_budget_stand_alone() -> None:
    result = partition([5000, 10, 10, 4000], budget=64, kind="padded", step_count=3)
    assert result.groups == ((0,), (3,), (1, 2))
    assert needed_group_count([5000, 10, 10, 4000], 64, "padded") == 3


def test_equal_costs_keep_reading_order_inside_and_across_groups() -> None:
    result = partition([8] * 6, budget=16, kind="padded", step_count=3)
    assert result.groups == ((0, 1), (2, 3), (4, 5))
    assert result.recycled == ()


def test_no_samples_need_no_groups() -> None:
    assert needed_group_count([], 8, "padded") == 0
    assert partition([], budget=8, kind="packed", step_count=3) == Partition(groups=(), recycled=())
    assert group_cost([], "padded") == 0


def test_group_cost_is_size_times_longest_or_the_sum() -> None:
    assert group_cost([3, 5, 1], "padded") == 15
    assert group_cost([3, 5, 1], "packed") == 9


def test_costs_near_two_to_the_63_stay_exact() -> None:
    huge = 2**62
    result = partition([huge, 1, huge - 1], budget=2 * huge, kind="padded", step_count=2)
    assert result.groups == ((0, 2), (1,))


@pytest.mark.parametrize(
    ("costs", "budget", "kind", "step_count", "error", "word"),
    [
        ([1], 0, "padded", 1, ConfigError, "budget"),
        ([1], 8, "padded", 0, ConfigError, "step_count"),
        ([1], 8, "sum", 1, ConfigError, "padded"),
        ([3, 0], 8, "padded", 1, BrokenAssumption, "position 1"),
    ],
)
def test_arguments_outside_the_contract_are_refused(
    costs: list[int], budget: int, kind: Any, step_count: int, error: type[Exception], word: str
) -> None:
    with pytest.raises(error, match=word):
        partition(costs, budget=budget, kind=kind, step_count=step_count)
