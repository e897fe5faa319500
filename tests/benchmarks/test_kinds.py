"""Every kind delivers each sample; those of ours once, in equal steps, within the budget."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.corpora import load
from benchmarks.kinds import DGAP_KINDS, KINDS, Job, gmt, kind_named, open_kind, window_of
from benchmarks.kinds.sorted_window import equal_steps, plan
from benchmarks.measure import StepRecord, batch_measures, record_of
from benchmarks.samples import LengthDataset

LENGTHS = load("bimodal_cv080").take(60, seed=3).lengths
BUDGET = 8192
JOB = Job(kind="", lengths=LENGTHS, budget=BUDGET, window=32, workers=0)
IN_PROCESS = ("fixed", "sorted_window", "gmt", "dgap", *DGAP_KINDS)


def records_of(job: Job) -> list[StepRecord]:
    return [record_of(delivery) for delivery in open_kind(job, LengthDataset(job.lengths))]


@pytest.mark.parametrize("kind", IN_PROCESS)
def test_a_kind_delivers_each_sample_once_within_the_budget(kind: str) -> None:
    measures = batch_measures([records_of(replace(JOB, kind=kind))], LENGTHS, BUDGET)
    assert measures["coverage"] == 1.0
    assert measures["doubled"] == measures["over_budget"] == 0.0


@pytest.mark.parametrize("kind", ["fixed", "sorted_window", "gmt"])
def test_ranks_share_the_samples_in_equal_steps(kind: str) -> None:
    job = replace(JOB, kind=kind, world_size=2)
    ranks = [records_of(replace(job, rank=rank)) for rank in range(2)]
    measures = batch_measures(ranks, LENGTHS, BUDGET)
    assert measures["coverage"] == 1.0
    assert measures["doubled"] == measures["step_difference"] == 0.0


def test_the_oracle_pads_less_than_fixed_batches() -> None:
    padding = {
        kind: batch_measures([records_of(replace(JOB, kind=kind))], LENGTHS, BUDGET)["padding"]
        for kind in ("fixed", "gmt")
    }
    assert padding["gmt"] < padding["fixed"] / 2


def test_the_oracles_weights_average_to_one_over_the_ranks() -> None:
    step = [[0, 1], [2]]
    weights = [gmt.step_weight(step, rank, [3, 4, 5]) for rank in range(2)]
    assert sum(weights) == pytest.approx(2.0)
    assert weights[0] > weights[1]


def test_odd_batches_are_split_never_doubled() -> None:
    steps = equal_steps([[0, 1, 2], [3], [4]], 2)
    assert steps == [[[0], [1, 2]], [[3], [4]]]


def test_what_cannot_be_split_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be dealt"):
        equal_steps([[0], [1], [2]], 2)


def test_sorted_windows_keep_to_their_window() -> None:
    (batches,) = plan(LENGTHS, size=4, window=20, world_size=1, seed=0)
    # Windows do not mix: the first five batches of four are the samples of the first window.
    assert len({index for batch in batches[:5] for index in batch}) == 20
    assert not {index for batch in batches[:5] for index in batch} & {
        index for batch in batches[5:] for index in batch
    }


def test_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="sorted_window"):
        kind_named("sorted")


def test_each_kind_has_a_window_even_if_it_is_not_installed() -> None:
    windows = {kind: window_of(kind, None, 1000) for kind in KINDS}
    assert windows["gmt"] == 1000
    assert windows["fixed"] == 0
    assert window_of("dgap:fill", 64, 1000) == 64
