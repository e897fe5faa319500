"""Data sets and samplers of the source's tests, each with a way to go wrong."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import Any

from torch.utils.data import DataLoader, Dataset

from dgap.runtime.chunks import ChunkDataset, ChunkSampler
from dgap.runtime.source import as_is
from tests.runtime.leftovers import LIMIT_S


class Numbers(Dataset[Any]):
    """Sample i is a text of i + 1 letters; `trouble` at index 3 takes over."""

    def __init__(self, size: int = 6, trouble: str = "") -> None:
        self.size = size
        self.trouble = trouble

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> Any:
        if index == 3 and self.trouble == "exits":
            raise SystemExit(4)
        if index == 3 and self.trouble == "dies":
            os._exit(5)
        if index == 3 and self.trouble == "does not load":
            return DoesNotLoad()
        return "x" * (index + 1)


class DoesNotLoad:
    def __len__(self) -> int:
        return 4

    def __reduce__(self) -> Any:
        return (int, ("no number",))


class Patient(Dataset[Any]):
    """Waits at its first sample until it is let go."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.released = threading.Event()

    def __len__(self) -> int:
        return 100

    def __getitem__(self, index: int) -> str:
        self.entered.set()
        self.released.wait(LIMIT_S)
        return "x"


class BreakingSampler:
    """Breaks after so many indices."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return 100

    def __iter__(self) -> Iterator[int]:
        yield from range(self.count)
        raise LookupError("no more indices")


def inner(
    dataset: Any, sampler: Any = None, num_workers: int = 0, chunk_size: int = 2, **options: Any
) -> DataLoader[Any]:
    return DataLoader(
        ChunkDataset(dataset, cost_fn=len),
        batch_size=None,
        sampler=ChunkSampler(sampler or range(len(dataset)), chunk_size),
        num_workers=num_workers,
        collate_fn=as_is,
        **options,
    )
