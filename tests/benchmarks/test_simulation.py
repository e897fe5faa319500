"""Simulated epochs keep the promises of the loader, whose engines they run."""

from __future__ import annotations

import pytest

from benchmarks.corpora import load
from benchmarks.kinds.dgap import POLICY_NAMES
from benchmarks.measure import batch_measures
from benchmarks.optimum import least_padded_total
from benchmarks.simulation import WORD_BYTES, simulate

LENGTHS = load("bimodal_cv080").take(301, seed=5).lengths


@pytest.mark.parametrize("world_size", [1, 2, 5])
@pytest.mark.parametrize("policy", POLICY_NAMES)
def test_every_sample_once_in_equal_steps_within_the_budget(policy: str, world_size: int) -> None:
    simulated = simulate(
        LENGTHS, world_size=world_size, token_budget=8192, window=32, policy=policy
    )
    measures = batch_measures(simulated.records(), LENGTHS, 8192)
    assert measures["coverage"] == 1.0
    assert measures["doubled"] == measures["step_difference"] == measures["over_budget"] == 0.0


def test_metadata_is_counted_in_whole_words_and_rounds() -> None:
    simulated = simulate(LENGTHS, world_size=2, token_budget=8192, window=64, first_window=64)
    assert simulated.metadata_bytes % WORD_BYTES == 0
    assert simulated.rounds == 1 + -(-151 // 64), "as many offers as windows, and one to close"


def test_no_round_pads_less_than_the_exact_optimum() -> None:
    simulated = simulate(LENGTHS, world_size=1, token_budget=8192, window=512, first_window=512)
    steps = [step for step in simulated.ranks[0] if step.round == 0]
    costs = [LENGTHS[index] for step in steps for index in step.sample_indices]
    padded = sum(step.padded_tokens for step in steps)
    assert padded >= least_padded_total(costs, 8192, len(steps))
