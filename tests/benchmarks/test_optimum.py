"""The fast exact optimum equals the table over all partitions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.optimum import least_padded_total
from dgap.spec.oracle_grouping import least_group_count, least_weight

costs_strategy = st.lists(st.integers(1, 12), min_size=1, max_size=14)


@given(costs=costs_strategy, budget=st.integers(1, 40), extra=st.integers(0, 5))
def test_it_equals_the_dumb_table(costs: list[int], budget: int, extra: int) -> None:
    group_count = min(len(costs), least_group_count(costs, budget, "padded") + extra)
    expected = least_weight(costs, budget, "padded", group_count)
    assert least_padded_total(costs, budget, group_count) == expected


@given(costs=costs_strategy, budget=st.integers(1, 40))
def test_it_refuses_what_cannot_be_grouped(costs: list[int], budget: int) -> None:
    for group_count in (least_group_count(costs, budget, "padded") - 1, len(costs) + 1):
        with pytest.raises(ValueError, match="do not fit"):
            least_padded_total(costs, budget, group_count)
