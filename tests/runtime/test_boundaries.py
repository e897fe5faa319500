"""Paths over a sorted window: budget, number of groups and weight, against the dumb twins."""

from __future__ import annotations

import random
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dgap.runtime.boundaries import TOLERANCE_DIVISOR, BudgetKind, SortedWindow
from dgap.spec import oracle_grouping as oracle

KINDS: tuple[BudgetKind, ...] = ("padded", "packed")


def weight_of(path: list[int], costs: list[int], kind: str) -> int:
    return sum(oracle.weight_of_group(costs[i:j], kind) for i, j in pairwise(path))


def check_path(path: list[int], costs: list[int], budget: int, kind: str) -> None:
    assert path[0] == 0
    assert path[-1] == len(costs)
    for start, end in pairwise(path):
        assert start < end
        assert oracle.is_within_budget(costs[start:end], budget, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_as_few_groups_as_can_be_are_cut_with_the_least_weight(kind: BudgetKind) -> None:
    checked_count = 0
    for size in range(1, 7):
        for costs in map(sorted, product((1, 2, 5), repeat=size)):
            for budget in (1, 4, 6, 10, 21):
                window = SortedWindow(costs, budget, kind)
                fullest = window.fullest_path()
                check_path(fullest, costs, budget, kind)
                fewest = len(fullest) - 1
                assert fewest == oracle.least_group_count(costs, budget, kind)
                lightest = window.path_of(fewest, fullest)
                check_path(lightest, costs, budget, kind)
                assert len(lightest) == len(fullest)
                least = oracle.least_weight(costs, budget, kind, fewest)
                assert weight_of(lightest, costs, kind) == least, (costs, budget)
                checked_count += 1
    assert checked_count == 5 * sum(3**size for size in range(1, 7))


windows = st.lists(
    st.one_of(st.integers(1, 40), st.integers(1, 900), st.just(64)), min_size=1, max_size=90
).map(sorted)


@settings(max_examples=150, deadline=None)
@given(windows, st.integers(1, 3000), st.sampled_from(KINDS), st.data())
def test_any_number_of_groups_is_cut_close_to_the_least_weight(
    costs: list[int], budget: int, kind: BudgetKind, data: st.DataObject
) -> None:
    window = SortedWindow(costs, budget, kind)
    fullest = window.fullest_path()
    group_count = data.draw(st.integers(len(fullest) - 1, len(costs)))
    path = window.path_of(group_count, fullest)
    check_path(path, costs, budget, kind)
    assert len(path) - 1 == group_count
    least = oracle.least_weight(costs, budget, kind, group_count)
    assert least is not None
    excess = weight_of(path, costs, kind) - least
    avoidable = least - oracle.unavoidable_weight(costs, kind, group_count)
    assert 0 <= excess * TOLERANCE_DIVISOR <= avoidable


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_start_of_an_end_is_the_smallest_that_the_budget_allows(kind: BudgetKind) -> None:
    generator = random.Random(7)
    for _ in range(50):
        costs = sorted(generator.choices(range(1, 60), k=30))
        budget = generator.randint(1, 200)
        starts = SortedWindow(costs, budget, kind).first_starts()
        assert starts == sorted(starts)
        for end in range(1, len(costs) + 1):
            allowed = [
                start
                for start in range(end)
                if oracle.is_within_budget(costs[start:end], budget, kind)
            ]
            assert starts[end] == allowed[0]
