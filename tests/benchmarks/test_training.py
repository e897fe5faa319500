"""One rank learns from a tiny epoch, and the learning rate follows its rule."""

from __future__ import annotations

import pytest

from benchmarks.kinds import Job
from benchmarks.model import ModelSize
from benchmarks.training import BASE_LEARNING_RATE, Training, learning_rate, train

SMALL = Training(model=ModelSize(vocabulary_size=32, width=16, layers=1, heads=2), heldout=4)


def test_four_times_the_targets_take_twice_the_rate() -> None:
    one, four = (learning_rate(progress=0.5, targets=targets) for targets in (100, 400))
    assert four == pytest.approx(2 * one)


def test_the_rate_rises_then_falls() -> None:
    start, top, end = (
        learning_rate(progress=progress, targets=2048) for progress in (0.0, 0.1, 1.0)
    )
    assert start < end < top <= BASE_LEARNING_RATE


@pytest.mark.parametrize("kind", ["gmt", "dgap"])
def test_a_pass_counts_every_target_once(kind: str) -> None:
    lengths = (5, 9, 7, 3, 12, 4)
    record = train(Job(kind=kind, lengths=lengths, budget=24, workers=0), SMALL)
    assert record.targets == sum(lengths) - len(lengths)
    assert record.heldout_loss > 0
