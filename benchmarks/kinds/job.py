"""What every kind is given, and what every kind gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

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


def shard(count: int, rank: int, world_size: int) -> range:
    """Indices of one rank where samples are dealt out like cards."""
    return range(rank, count, world_size)
