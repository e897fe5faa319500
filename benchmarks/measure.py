"""What a rank records of its epoch, and the measures that are computed from all ranks' records.

Rules kept here:
1. Everything is counted in the batches themselves, the same way for every kind; nothing is copied
   from a loader's own statistics.
2. While the clock runs a batch is only looked at (its shape and one column), never summed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean
from time import perf_counter

import torch.distributed as dist

from .kinds import Delivery, Job, open_kind
from .samples import BYTES_PER_TOKEN, LengthDataset, indices_in


@dataclass(frozen=True, kw_only=True)
class StepRecord:
    """One batch of one rank."""

    indices: tuple[int, ...]
    """Samples in it; those of an idle batch are not counted as delivered."""
    padded_tokens: int
    idle: bool


@dataclass(frozen=True, kw_only=True)
class RankRecord:
    """One epoch of one rank; seconds since the loader began to be made."""

    steps: tuple[StepRecord, ...]
    first_batch_s: float
    last_batch_s: float
    end_s: float
    """When the iterator had ended, its processes and threads included."""


def record_of(delivery: Delivery) -> StepRecord:
    """What is kept of a batch."""
    return StepRecord(
        indices=tuple(indices_in(delivery.batch)),
        padded_tokens=delivery.batch["input_ids"].numel(),
        idle=delivery.idle,
    )


def consume(job: Job) -> RankRecord:
    """Takes every batch of one epoch as fast as it comes."""
    if dist.is_initialized():
        dist.barrier()
    start_s = perf_counter()
    dataset = LengthDataset(job.lengths)
    return drain(open_kind(job, dataset), start_s)


def drain(deliveries: Iterator[Delivery], start_s: float) -> RankRecord:
    """The record of an epoch that is taken as fast as it comes."""
    steps: list[StepRecord] = []
    first_s = last_s = 0.0
    for delivery in deliveries:
        last_s = perf_counter() - start_s
        if not steps:
            first_s = last_s
        steps.append(record_of(delivery))
    return RankRecord(
        steps=tuple(steps),
        first_batch_s=first_s,
        last_batch_s=last_s,
        end_s=perf_counter() - start_s,
    )


def speed_measures(records: Sequence[RankRecord], cpu_s: float) -> dict[str, float]:
    """Rates over all ranks by the slowest rank's clock; CPU seconds of all processes."""
    delivered = sum(len(step.indices) for rank in records for step in rank.steps if not step.idle)
    last_s = max(rank.last_batch_s for rank in records)
    return {
        "samples_per_s": delivered / last_s if last_s else 0.0,
        "cpu_s_per_1000": 1000 * cpu_s / max(1, delivered),
        "first_batch_s": max(rank.first_batch_s for rank in records),
        "epoch_s": max(rank.end_s for rank in records),
    }


def batch_measures(
    ranks: Sequence[Sequence[StepRecord]], lengths: Sequence[int], budget: int
) -> dict[str, float]:
    """Padding, fill, steps, imbalance, idle share and coverage; ratios are shares of 1.

    padding: of all padded tokens in real batches. fill: mean padded tokens of a real batch over
    the budget, where a single sample over it counts as full. tokens_per_step: true tokens of all
    ranks in a step. imbalance: mean over steps of the largest over the mean padded tokens of the
    ranks. spread: steps of the rank with most minus those of the rank with fewest. over_budget:
    batches of two or more samples above the budget.
    """
    real = [step for rank in ranks for step in rank if not step.idle]
    delivered = Counter(index for step in real for index in step.indices)
    tokens = sum(lengths[index] * count for index, count in delivered.items())
    padded = sum(step.padded_tokens for step in real)
    counts = [len(rank) for rank in ranks]
    steps = max(counts)
    return {
        "padding": 1 - tokens / padded if padded else 0.0,
        "fill": mean(min(1.0, step.padded_tokens / budget) for step in real) if real else 0.0,
        "steps": float(steps),
        "tokens_per_step": tokens / steps if steps else 0.0,
        "imbalance": _imbalance(ranks),
        "idle_share": 1 - len(real) / sum(counts) if sum(counts) else 0.0,
        "coverage": len(delivered) / len(lengths),
        "doubled": float(delivered.total() - len(delivered)),
        "step_difference": float(steps - min(counts)),
        "over_budget": float(
            sum(len(step.indices) > 1 and step.padded_tokens > budget for step in real)
        ),
    }


def _imbalance(ranks: Sequence[Sequence[StepRecord]]) -> float:
    costs = [
        [0 if step.idle else step.padded_tokens for step in together]
        for together in zip(*ranks, strict=False)
    ]
    ratios = [max(row) * len(row) / sum(row) for row in costs if sum(row)]
    return mean(ratios) if ratios else 1.0


def limit_measures(lengths: Sequence[int], budget: int, world_size: int) -> dict[str, float]:
    """What no loader can beat: zero padding, and every batch full of true tokens."""
    tokens = sum(lengths)
    least_steps = -(-tokens // (budget * world_size))
    return {
        "padding": 0.0,
        "fill": 1.0,
        "steps": float(least_steps),
        "tokens_per_step": tokens / least_steps,
        "imbalance": 1.0,
        "idle_share": 0.0,
        "coverage": 1.0,
    }


def copy_rate(lengths: Sequence[int], bytes_per_s: float) -> float:
    """Samples a second if loading were nothing but one copy of the batch's true bytes."""
    mean_bytes = BYTES_PER_TOKEN * sum(lengths) / len(lengths)
    return bytes_per_s / mean_bytes
