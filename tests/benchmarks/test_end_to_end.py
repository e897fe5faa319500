"""What a run of training is set beside: the rate that its own compute allows."""

from __future__ import annotations

import pytest

from benchmarks.end_to_end import limit_of


def test_the_limit_is_the_oracle_without_padding_and_with_equal_ranks() -> None:
    gmt = {"samples_per_s": 90.0, "targets_per_s": 900.0, "padding": 0.1, "imbalance": 1.05}
    assert limit_of(gmt) == pytest.approx({"samples_per_s": 105.0, "targets_per_s": 1050.0})


def test_a_failed_run_of_the_oracle_gives_no_limit() -> None:
    assert limit_of({"failed": 1.0}) == {}
