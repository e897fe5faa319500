"""The dumb twins of the weights, on losses small enough to average by hand."""

from __future__ import annotations

from fractions import Fraction

from dgap.spec.oracle_weights import averaged_like_ddp, exact_weight, mean_over_all

ONE = [[Fraction(1)]]
"""A rank with one step and one target."""

THREE = [[Fraction(2), Fraction(4), Fraction(9)]]


def test_the_mean_is_over_targets_and_not_over_ranks() -> None:
    assert mean_over_all([ONE, THREE]) == Fraction(16, 4)


def test_no_targets_at_all_have_mean_zero() -> None:
    assert mean_over_all([[[]], [[]]]) == 0


def test_unweighted_ranks_average_to_a_mean_of_means() -> None:
    unweighted = [[Fraction(1)], [Fraction(1)]]
    assert averaged_like_ddp([ONE, THREE], unweighted) == Fraction(3)


def test_exact_weights_turn_the_average_of_ranks_into_the_mean_over_targets() -> None:
    weights = [[exact_weight(1, 4, 2)], [exact_weight(3, 4, 2)]]
    assert averaged_like_ddp([ONE, THREE], weights) == mean_over_all([ONE, THREE])


def test_a_step_without_targets_anywhere_weighs_nothing() -> None:
    assert exact_weight(0, 0, 2) == 0
