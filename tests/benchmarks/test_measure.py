"""Measures of hand-made epochs, each small enough to count on paper."""

from __future__ import annotations

import pytest

from benchmarks.measure import (
    RankRecord,
    StepRecord,
    batch_measures,
    limit_measures,
    speed_measures,
)


def step(*indices: int, padded: int, idle: bool = False) -> StepRecord:
    return StepRecord(indices=indices, padded_tokens=padded, idle=idle)


LENGTHS = [4, 2, 3, 5]


def test_a_perfect_epoch() -> None:
    ranks = [[step(0, padded=4)], [step(1, padded=2)], [step(2, padded=3)], [step(3, padded=5)]]
    measures = batch_measures(ranks, LENGTHS, budget=5)
    assert measures["padding"] == 0.0
    assert measures["coverage"] == 1.0
    assert measures["tokens_per_step"] == 14.0
    assert measures["imbalance"] == pytest.approx(5 / 3.5)


def test_padding_fill_and_imbalance_are_shares_of_padded_tokens() -> None:
    ranks = [[step(0, 1, padded=8)], [step(3, padded=5)]]
    measures = batch_measures(ranks, LENGTHS, budget=10)
    assert measures["padding"] == pytest.approx(1 - 11 / 13)
    assert measures["fill"] == pytest.approx((0.8 + 0.5) / 2)
    assert measures["imbalance"] == pytest.approx(8 / 6.5)
    assert measures["coverage"] == 0.75


def test_an_idle_batch_delivers_nothing_and_weighs_nothing() -> None:
    ranks = [
        [step(0, padded=4), step(1, padded=2)],
        [step(3, padded=5), step(3, padded=5, idle=True)],
    ]
    measures = batch_measures(ranks, LENGTHS, budget=5)
    assert measures["idle_share"] == 0.25
    assert measures["doubled"] == 0.0
    assert measures["imbalance"] == pytest.approx((5 / 4.5 + 2 / 1) / 2)


def test_doubled_samples_unequal_steps_and_broken_budgets_are_seen() -> None:
    ranks = [[step(0, 1, padded=8), step(0, padded=4)], [step(3, padded=50)]]
    measures = batch_measures(ranks, LENGTHS, budget=7)
    assert measures["doubled"] == 1.0
    assert measures["step_difference"] == 1.0
    assert measures["over_budget"] == 1.0, "a single sample may exceed the budget, two may not"


def test_rates_follow_the_slowest_rank() -> None:
    ranks = [
        RankRecord(steps=(step(0, padded=4),), first_batch_s=0.5, last_batch_s=1.0, end_s=1.5),
        RankRecord(steps=(step(1, padded=2),), first_batch_s=0.2, last_batch_s=4.0, end_s=4.0),
    ]
    measures = speed_measures(ranks, cpu_s=6.0)
    assert measures == {
        "samples_per_s": 0.5,
        "cpu_s_per_1000": 3000.0,
        "first_batch_s": 0.5,
        "epoch_s": 4.0,
    }


def test_the_limit_is_full_batches_of_true_tokens() -> None:
    assert limit_measures([5, 5, 5], budget=4, world_size=2)["steps"] == 2.0
