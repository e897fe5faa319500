"""`fixed`: torch's DataLoader with the largest batch size whose worst batch fits the budget.

Weakness: it has to know the longest sample beforehand, which is a kindness to it. Where one
sample alone exceeds the budget the size is 1.
"""

from __future__ import annotations

from collections.abc import Iterator

from torch.utils.data import DataLoader, Dataset, DistributedSampler

from benchmarks.samples import Sample, collate

from .job import Delivery, Job

DEFAULT_WINDOW = 0


def batch_size(lengths: tuple[int, ...], budget: int) -> int:
    """Samples a batch, at least 1."""
    return max(1, budget // max(lengths))


def open_batches(job: Job, dataset: Dataset[Sample]) -> Iterator[Delivery]:
    """One epoch in random order; ranks take equal numbers of steps by the sampler's padding."""
    loader = DataLoader(
        dataset,
        batch_size=batch_size(job.lengths, job.budget),
        sampler=DistributedSampler(
            dataset, num_replicas=job.world_size, rank=job.rank, shuffle=True, seed=job.seed
        ),
        collate_fn=collate,
        num_workers=job.workers,
        pin_memory=job.pin_memory,
    )
    return (Delivery(batch) for batch in loader)
