"""The weights average to the mean over all targets (S8), in floats and in exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dgap.protocol.errors import ConfigError, MalformedReport
from dgap.runtime.weights import step_weight, step_weights, update_totals
from dgap.spec import oracle_weights as oracle

fractions = st.integers(-50, 50).map(lambda number: Fraction(number, 7))
loss_tables = st.tuples(st.integers(1, 4), st.integers(1, 3)).flatmap(
    lambda sizes: st.lists(
        st.lists(st.lists(fractions, max_size=5), min_size=sizes[1], max_size=sizes[1]),
        min_size=sizes[0],
        max_size=sizes[0],
    )
)


@settings(max_examples=200, deadline=None)
@given(loss_tables)
def test_averaging_weighted_means_over_ranks_gives_the_mean_over_all_targets(
    losses: list[list[list[Fraction]]],
) -> None:
    world_size, step_count = len(losses), len(losses[0])
    local = [[len(step) for step in rank] for rank in losses]
    totals = [sum(rank[step] for rank in local) for step in range(step_count)]
    exact = [
        [oracle.exact_weight(targets, sum(totals), world_size) for targets in rank]
        for rank in local
    ]
    assert oracle.averaged_like_ddp(losses, exact) == oracle.mean_over_all(losses)
    for rank in range(world_size):
        weights = step_weights(
            local[rank], totals, world_size=world_size, accumulation_steps=step_count
        )
        assert weights == tuple(float(weight) for weight in exact[rank])


def test_an_idle_step_and_a_step_without_targets_weigh_exactly_nothing() -> None:
    assert step_weight(0, 100, 4) == 0.0
    assert step_weight(0, 0, 4) == 0.0
    assert not math.isnan(step_weight(0, 0, 1))


def test_one_target_against_ninety_nine_weighs_two_hundredths() -> None:
    assert step_weight(1, 100, 2) == 0.02
    assert step_weight(99, 100, 2) == 1.98


def test_a_weight_is_correctly_rounded_beyond_the_floats_integers() -> None:
    local, total = 2**61 + 1, 2**62 + 3
    assert step_weight(local, total, 3) == float(Fraction(3 * local, total))


def test_every_step_of_an_update_shares_the_updates_total() -> None:
    assert update_totals([1, 2, 3, 4], 2) == (3, 3, 7, 7)
    assert update_totals([5, 6], 1) == (5, 6)


@pytest.mark.parametrize(("local", "total"), [(-1, 5), (6, 5)])
def test_totals_that_do_not_hold_the_local_targets_are_refused(local: int, total: int) -> None:
    with pytest.raises(MalformedReport, match="local targets"):
        step_weight(local, total, 2)


def test_steps_that_do_not_divide_into_updates_are_refused() -> None:
    with pytest.raises(ConfigError, match="3 steps"):
        update_totals([1, 2, 3], 2)
