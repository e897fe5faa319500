"""The rule for fixed batches and the schedule that both kinds share."""

from __future__ import annotations

import pytest

from examples.demo.batches import fixed_batch_size
from examples.demo.training import BASE_LEARNING_RATE, REFERENCE_TARGETS, learning_rate


@pytest.mark.parametrize("budget", [8, 9, 31, 32])
def test_the_fixed_size_is_the_largest_whose_worst_batch_fits(budget: int) -> None:
    for longest in range(1, budget + 1):
        size = fixed_batch_size(token_budget=budget, longest=longest)
        assert size * longest <= budget < (size + 1) * longest


@pytest.mark.parametrize("longest", [0, 9])
def test_a_budget_below_one_sample_is_refused(longest: int) -> None:
    with pytest.raises(ValueError, match="does not fit a budget of 8"):
        fixed_batch_size(token_budget=8, longest=longest)


def test_four_times_the_targets_take_twice_the_rate() -> None:
    once, fourfold = (learning_rate(progress=0.5, targets=n) for n in (500, 2000))
    assert fourfold == pytest.approx(2 * once)


def test_the_rate_warms_up_and_then_decays_by_samples() -> None:
    def rate(progress: float) -> float:
        return learning_rate(progress=progress, targets=REFERENCE_TARGETS) / BASE_LEARNING_RATE

    assert 0 < rate(0.0) < rate(0.05) < rate(0.1) < 1
    assert rate(0.1) > rate(0.5) > rate(1.0) == pytest.approx(0.1)
