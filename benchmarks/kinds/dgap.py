"""`dgap` and `dgap:<policy>`: the loader of this repository, as its README shows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch.utils.data import Dataset

from benchmarks.samples import Sample, collate
from dgap.runtime import DynamicBatchLoader, LoaderConfig
from dgap.runtime.config import POLICIES

from .job import Delivery, Job

DEFAULTS = LoaderConfig(token_budget=1)
DEFAULT_WINDOW = DEFAULTS.window
DEFAULT_POLICY = DEFAULTS.policy
POLICY_NAMES = tuple(POLICIES)


def settings_of(job: Job) -> dict[str, Any]:
    """Only what the job asks for; everything else stays at its default."""
    _, _, policy = job.kind.partition(":")
    chosen: dict[str, Any] = {"token_budget": job.budget, "seed": job.seed, "shuffle": True}
    if policy:
        chosen["policy"] = policy
    if job.window is not None:
        chosen["window"] = job.window
    if job.pin_memory:
        chosen["pin_memory"] = True
    return chosen


def open_batches(job: Job, dataset: Dataset[Sample]) -> Iterator[Delivery]:
    """One epoch of one rank."""
    loader = DynamicBatchLoader(
        dataset, collate_fn=collate, num_workers=job.workers, **settings_of(job)
    )
    try:
        for batch, step in loader.steps():
            yield Delivery(batch, weight=step.weight, idle=step.idle)
    finally:
        loader.close()
