"""`gmt`: the offline oracle. All true lengths are known, all samples are sorted once, batches hold
as many as the budget allows, and their order is shuffled.

Nobody has these lengths before the samples were preprocessed once; it stands for the best that a
plain DataLoader can do when an earlier pass has written them down.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from torch.utils.data import DataLoader, Dataset

from benchmarks.samples import Sample, collate

from .job import Delivery, Job
from .sorted_window import equal_steps

DEFAULT_WINDOW = 0
"""None to choose: all samples are held."""


def max_token_batches(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Batches of indices, longest first, each as large as its padded cost allows."""
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    batches: list[list[int]] = []
    for index in order:
        # The first of a batch is its longest.
        if batches and lengths[batches[-1][0]] * (len(batches[-1]) + 1) <= budget:
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches


def plan(
    lengths: Sequence[int], *, budget: int, world_size: int, seed: int
) -> list[list[list[int]]]:
    """Steps in random order, each with one batch of similar cost for every rank."""
    steps = equal_steps(max_token_batches(lengths, budget), world_size)
    random.Random(seed).shuffle(steps)
    return steps


def step_weight(step: Sequence[Sequence[int]], rank: int, lengths: Sequence[int]) -> float:
    """W x local tokens / global tokens, which only an oracle knows without a collective."""
    totals = [sum(lengths[index] for index in batch) for batch in step]
    return len(step) * totals[rank] / sum(totals)


def open_batches(job: Job, dataset: Dataset[Sample]) -> Iterator[Delivery]:
    """One epoch of one rank."""
    steps = plan(job.lengths, budget=job.budget, world_size=job.world_size, seed=job.seed)
    loader = DataLoader(
        dataset,
        batch_sampler=[step[job.rank] for step in steps],
        collate_fn=collate,
        num_workers=job.workers,
        pin_memory=job.pin_memory,
    )
    return (
        Delivery(batch, weight=step_weight(step, job.rank, job.lengths))
        for step, batch in zip(steps, loader, strict=True)
    )
