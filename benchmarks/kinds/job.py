"""What every kind is given, and what every kind gives back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch.utils.data import Sampler

from benchmarks.samples import Batch


@dataclass(frozen=True, kw_only=True)
class Job:
    """One epoch of one rank. Lengths are of all ranks' samples together, by index."""

    kind: str
    lengths: tuple[int, ...]
    budget: int
    """Padded tokens in one batch of one rank."""
    window: int | None = None
    """Samples that may be held to form batches; None: the kind's default."""
    world_size: int = 1
    rank: int = 0
    workers: int = 2
    """Worker processes of one rank."""
    seed: int = 0
    pin_memory: bool = False


class Delivery(NamedTuple):
    """One batch of one rank."""

    batch: Batch
    weight: float = 1.0
    """What the mean loss of this batch is multiplied by, as this kind tells its user."""
    idle: bool = False
    """A batch that was delivered before, given again with weight 0 to keep ranks in step."""


class EqualShard(Sampler[int]):
    """A seeded order of all samples, dealt out like cards; equal shares are the caller's care."""

    def __init__(self, job: Job) -> None:
        generator = torch.Generator().manual_seed(job.seed)
        order = torch.randperm(len(job.lengths), generator=generator).tolist()
        self.indices: list[int] = order[job.rank :: job.world_size]

    def __len__(self) -> int:
        return len(self.indices)

    def __iter__(self) -> Iterator[int]:
        return iter(self.indices)
