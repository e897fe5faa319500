"""The plan of a round: exactly T steps, totals announced before, weights from the sums."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dgap.protocol.errors import MalformedReport
from dgap.runtime.chunks import Sample
from dgap.runtime.config import LoaderConfig
from dgap.runtime.grouping import group_cost, needed_group_count
from dgap.runtime.plan import (
    TOTALS,
    RoundPlan,
    Work,
    announced_words,
    describe_steps,
    group_window,
    units_needed,
)
from dgap.runtime.step import Step

COSTS = st.lists(st.integers(1, 30), max_size=20)


def work(accumulation: int = 1, *, seed: int = 0, epoch: int = 0, world_size: int = 2) -> Work:
    config = LoaderConfig(token_budget=40, accumulation_steps=accumulation, seed=seed)
    return Work.of(config, epoch=epoch, world_size=world_size)


def window(costs: list[int]) -> list[Sample]:
    return [
        Sample(index=100 + position, cost=cost, targets=cost - 1, value=None)
        for position, cost in enumerate(costs)
    ]


def planned(
    costs: list[int], step_count: int, round_index: int = 0, of: Work | None = None
) -> RoundPlan:
    return group_window(of or work(), window(costs), step_count=step_count, round_index=round_index)


def indices(plan: RoundPlan) -> list[list[int]]:
    return [[sample.index for sample in group] for group in plan.groups]


@settings(max_examples=100, deadline=None)
@given(COSTS, st.integers(1, 25))
def test_a_window_fills_as_many_steps_as_it_can_and_loses_nothing(
    costs: list[int], step_count: int
) -> None:
    plan = planned(costs, step_count)
    assert len(plan.groups) == min(len(costs), step_count)
    assert all(plan.groups)
    placed = Counter(index for group in indices(plan) for index in group)
    recycled = [sample.index for sample in plan.recycled]
    assert recycled == sorted(recycled)
    assert placed + Counter(recycled) == Counter(s.index for s in window(costs))
    assert plan.assigned == placed.total()
    for group in plan.groups:
        assert len(group) == 1 or group_cost([s.cost for s in group], "padded") <= 40


@given(COSTS, st.integers(1, 5))
def test_units_are_groups_of_whole_updates_rounded_up(costs: list[int], accumulation: int) -> None:
    groups = needed_group_count(costs, 40, "padded") if costs else 0
    units = units_needed(work(accumulation), window(costs))
    assert (units - 1) * accumulation < groups <= units * accumulation


def test_equal_places_on_all_ranks_hold_equal_cost_and_then_similar_lengths() -> None:
    # Full groups of four lengths on both ranks, and one that its longest sample leaves half empty.
    rank_0 = planned([20] * 2 + [10] * 4 + [4] * 10 + [1] * 40 + [22], 5)
    rank_1 = planned([19] * 2 + [8] * 5 + [5] * 8 + [2] * 20 + [25], 5)
    costs, longest = (
        [
            [measure([sample.cost for sample in group]) for group in plan.groups]
            for plan in (rank_0, rank_1)
        ]
        for measure in (lambda group: group_cost(group, "padded"), max)
    )
    places = sorted(range(5), key=lambda place: (-costs[0][place], -longest[0][place]))
    assert [[row[place] for place in places] for row in costs] == [
        [40, 40, 40, 40, 22],
        [40, 40, 40, 38, 25],
    ]
    assert [[row[place] for place in places] for row in longest] == [
        [20, 10, 4, 1, 22],
        [8, 5, 2, 19, 25],
    ]


def test_the_order_of_the_steps_changes_with_seed_epoch_and_round_and_with_nothing_else() -> None:
    costs = list(range(21, 39))
    orders = [
        indices(planned(costs, 18, round_index, work(seed=seed, epoch=epoch)))
        for seed, epoch, round_index in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0))
    ]
    assert orders[0] == orders[-1]
    assert len({str(order) for order in orders}) == 4
    assert {str(sorted(order)) for order in orders} == {str(sorted(orders[0]))}


def test_a_rank_with_fewer_samples_than_steps_fills_the_first_ones() -> None:
    plan = planned([9, 30], 5)
    words = announced_words(work(), plan, 5)
    samples = words[:: len(TOTALS)]
    assert samples == [1, 1, 0, 0, 0]
    # They stay longest first: a peer's shuffled order has nothing to match them with.
    longest_first = [[105], [104], [103], [102], [101], [100]]
    assert indices(planned([21, 22, 23, 24, 25, 26], 7)) == longest_first


def test_the_announced_words_are_counts_costs_padded_costs_and_targets() -> None:
    plan = RoundPlan()
    plan.groups.extend([window([5, 3]), window([7])])
    assert announced_words(work(), plan, 3) == [2, 8, 10, 6, 1, 7, 7, 6, 0, 0, 0, 0]


def steps_of(own: list[int], summed: list[int], accumulation: int = 1) -> list[Step]:
    plan = RoundPlan()
    plan.groups.extend([window([5, 3]), window([7])])
    return list(
        describe_steps(
            work(accumulation), plan, own=own, summed=summed, first_step=10, round_index=3
        )
    )


OWN = [2, 8, 10, 6, 1, 7, 7, 6, 0, 0, 0, 0, 0, 0, 0, 0]
SUMMED = [3, 9, 11, 8, 2, 8, 8, 6, 1, 5, 5, 4, 1, 2, 2, 2]


def test_each_step_carries_its_local_and_its_global_counts() -> None:
    steps = steps_of(OWN, SUMMED)
    assert [step.index for step in steps] == [10, 11, 12, 13]
    assert {step.round for step in steps} == {3}
    first = steps[0]
    assert (first.samples, first.tokens, first.padded_tokens, first.targets) == (2, 8, 10, 6)
    assert (first.global_samples, first.global_tokens) == (3, 9)
    assert (first.global_padded_tokens, first.global_targets) == (11, 8)
    assert first.sample_indices == (100, 101)
    assert [step.idle for step in steps] == [False, False, True, True]


def test_the_weight_is_the_share_of_the_targets_times_the_ranks() -> None:
    assert [step.weight for step in steps_of(OWN, SUMMED)] == [2 * 6 / 8, 2 * 6 / 6, 0, 0]


def test_under_accumulation_the_weights_are_shares_of_the_update_and_its_last_step_syncs() -> None:
    steps = steps_of(OWN, SUMMED, accumulation=2)
    assert [step.weight for step in steps] == [2 * 6 / 14, 2 * 6 / 14, 0, 0]
    assert [step.sync for step in steps] == [False, True, False, True]


def test_without_accumulation_every_step_syncs() -> None:
    assert all(step.sync for step in steps_of(OWN, SUMMED))


def test_sums_of_another_length_are_refused() -> None:
    with pytest.raises(MalformedReport, match="12 totals came back for 16"):
        steps_of(OWN, SUMMED[:12])


def test_no_samples_make_no_groups() -> None:
    plan = planned([], 3)
    assert (list(plan.groups), plan.assigned, plan.recycled) == ([], 0, [])
    assert announced_words(work(), plan, 3) == [0] * 12


def test_the_oldest_sample_leaves_in_every_round() -> None:
    costs = [40, *[30] * 6, 1]
    plan = planned(costs, 1)
    assert indices(plan) == [[100]]
    assert [after - before for before, after in pairwise(s.index for s in plan.recycled)] == [1] * 6
