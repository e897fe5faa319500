"""The dumb twins of grouping, on windows small enough to see the answer."""

from __future__ import annotations

import pytest

from dgap.spec.oracle_grouping import (
    all_partitions,
    cost_of_group,
    is_within_budget,
    least_group_count,
    least_weight,
    least_weight_of_all,
)


@pytest.mark.parametrize(("kind", "cost"), [("padded", 21), ("packed", 13)])
def test_a_group_costs_its_padded_size_or_its_sum(kind: str, cost: int) -> None:
    assert cost_of_group([2, 7, 4], kind) == cost


def test_a_single_sample_is_always_within_the_budget_and_a_pair_is_not() -> None:
    assert is_within_budget([50], 10, "padded")
    assert is_within_budget([5, 5], 10, "padded")
    assert not is_within_budget([5, 6], 10, "padded")


def test_three_things_have_five_partitions_and_none_is_listed_twice() -> None:
    found = {
        frozenset(frozenset(group) for group in groups) for groups in all_partitions([1, 2, 3])
    }
    assert len(found) == 5
    assert len(list(all_partitions([1, 2, 3]))) == 5


def test_the_fewest_groups_of_a_window_are_counted_by_hand() -> None:
    assert least_group_count([], 10, "padded") == 0
    assert least_group_count([8, 8, 8], 8, "padded") == 3
    assert least_group_count([10, 10, 10, 100, 100], 150, "padded") == 3


@pytest.mark.parametrize("kind", ["padded", "packed"])
def test_the_least_weight_is_none_where_no_partition_has_so_many_groups(kind: str) -> None:
    assert least_weight([8, 8], 8, kind, 1) is None
    assert least_weight([8, 8], 8, kind, 3) is None
    assert least_weight([8, 8], 8, kind, 2) is not None


def test_contiguous_groups_are_as_good_as_any_for_padded_costs() -> None:
    costs = [1, 2, 5, 9, 9]
    for group_count in (2, 3, 4):
        contiguous = least_weight(costs, 20, "padded", group_count)
        assert contiguous == least_weight_of_all(costs, 20, "padded", group_count)
