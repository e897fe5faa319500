"""`lhotse`: its DynamicBucketingSampler under a token constraint, with a plain DataLoader.

As its documentation shows it for text: examples that know their token count (so lengths must be
known before reading), 30 buckets, a buffer of 20,000, and the sampler handing whole batches to a
map-style data set. Weaknesses of it that the measures show: batches over the budget, because a
longer sample may be the last one added, and samples doubled at the end to keep ranks in step.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from lhotse.dataset import DynamicBucketingSampler
from lhotse.dataset.sampling.base import TokenConstraint
from torch.utils.data import DataLoader, Dataset

from benchmarks.samples import Batch, Sample, collate

from .job import Delivery, Job

DEFAULT_WINDOW = 20_000
BUCKETS = 30


@dataclass
class Example:
    """What the sampler needs of a sample; it sets attributes of its own on it."""

    id: str
    index: int
    num_tokens: int


class BatchDataset(Dataset[Batch]):
    """Reads and collates what the sampler chose; the index of this data set is a whole batch."""

    def __init__(self, samples: Dataset[Sample]) -> None:
        self._samples = samples

    def __getitem__(self, examples: Any) -> Batch:
        return collate([self._samples[example.index] for example in examples])


def open_batches(job: Job, dataset: Dataset[Sample]) -> Iterator[Delivery]:
    """One epoch of one rank."""
    examples = [
        Example(id=str(index), index=index, num_tokens=length)
        for index, length in enumerate(job.lengths)
    ]
    with warnings.catch_warnings():
        # It notes that quadratic_length is not set, and that few samples fill few buckets.
        warnings.simplefilter("ignore")
        sampler = DynamicBucketingSampler(
            examples,
            constraint=TokenConstraint(max_tokens=job.budget),
            num_buckets=BUCKETS,
            buffer_size=job.window or DEFAULT_WINDOW,
            shuffle=True,
            world_size=job.world_size,
            rank=job.rank,
            seed=job.seed,
        )
        loader: DataLoader[Batch] = DataLoader(
            BatchDataset(dataset),
            sampler=sampler,
            batch_size=None,
            num_workers=job.workers,
            pin_memory=job.pin_memory,
        )
        for batch in loader:
            yield Delivery({key: torch.as_tensor(value) for key, value in batch.items()})
