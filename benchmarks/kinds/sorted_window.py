"""`sorted_window`: fixed batch size, samples sorted by length inside windows of the random order.

What `group_by_length` does in trainers. It needs the lengths beforehand; the size of its batches
is still that of the worst batch, so short ones leave most of the budget unused.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from torch.utils.data import DataLoader, Dataset

from benchmarks.samples import Sample, collate

from .fixed import batch_size
from .job import Delivery, Job

DEFAULT_WINDOW = 1024


def plan(
    lengths: Sequence[int], *, size: int, window: int, world_size: int, seed: int
) -> list[list[list[int]]]:
    """Per rank its batches of indices; equally many, the odd ones at the end split up."""
    generator = random.Random(seed)
    order = list(range(len(lengths)))
    generator.shuffle(order)
    ranks: list[list[list[int]]] = [[] for _ in range(world_size)]
    for start in range(0, len(order), window):
        held = sorted(order[start : start + window], key=lambda index: -lengths[index])
        batches = [held[at : at + size] for at in range(0, len(held), size)]
        steps = equal_steps(batches, world_size)
        generator.shuffle(steps)
        for step in steps:
            for rank, batch in enumerate(step):
                ranks[rank].append(batch)
    return ranks


def equal_steps(batches: Sequence[Sequence[int]], world_size: int) -> list[list[list[int]]]:
    """Neighbouring batches made into steps of one batch for each rank.

    Where they do not come out even the largest are halved; nothing is doubled or dropped. Raises
    ValueError if there are fewer samples than ranks.
    """
    split = [list(batch) for batch in batches]
    while len(split) % world_size:
        place = max(range(len(split)), key=lambda at: len(split[at]))
        half = len(split[place]) // 2
        if not half:
            raise ValueError(f"{len(split)} single samples cannot be dealt to {world_size} ranks")
        split[place : place + 1] = [split[place][:half], split[place][half:]]
    return [split[at : at + world_size] for at in range(0, len(split), world_size)]


def open_batches(job: Job, dataset: Dataset[Sample]) -> Iterator[Delivery]:
    """One epoch of one rank."""
    batches = plan(
        job.lengths,
        size=batch_size(job.lengths, job.budget),
        window=job.window or DEFAULT_WINDOW,
        world_size=job.world_size,
        seed=job.seed,
    )
    loader = DataLoader(
        dataset,
        batch_sampler=batches[job.rank],
        collate_fn=collate,
        num_workers=job.workers,
        pin_memory=job.pin_memory,
    )
    return (Delivery(batch) for batch in loader)
