"""`reference`: the public implementation of the paper, PyPI `online-dynamic-batching` 0.1.2.

As its README shows it: `odb.ODBDataLoader` in join mode with exact loss scaling. Its window is
prefetch_factor x num_workers, 256 with the settings of the README (64 x 4); here prefetch_factor
makes up for fewer workers. Given to its advantage: equal shards (unequal ones lose samples or
hang), and its random start-up delay of up to two seconds is switched off by the caller
(`ODB_ITERATOR_STARTUP_JITTER_SEC=0`).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import odb
from torch.utils.data import Dataset

from benchmarks.samples import Sample, collate

from .job import Delivery, EqualShard, Job

DEFAULT_WINDOW = 256


def open_batches(job: Job, dataset: Dataset[Sample]) -> Iterator[Delivery]:
    """One epoch of one rank."""
    warnings.simplefilter("ignore", FutureWarning)  # it calls a deprecated collective
    window = job.window or DEFAULT_WINDOW
    loader = odb.ODBDataLoader(
        dataset,
        token_budget=job.budget,
        batch_size=1,
        sampler=EqualShard(job),
        num_workers=job.workers,
        prefetch_factor=max(2, window // job.workers),
        collate_fn=collate,
        loss_scaling="exact",
        join=True,
        pin_memory=job.pin_memory,
    )
    for batch in loader:
        info = odb.pop_step_info(batch, loss_scaling="exact")
        yield Delivery(batch, weight=float(info.loss_scale))
