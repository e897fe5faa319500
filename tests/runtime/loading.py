"""Data sets and shortcuts of the loader's tests; at the top level, so that workers find them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.utils.data import Dataset

from dgap.runtime import DynamicBatchLoader


class Tokens(Dataset[Any]):
    """Sample i is a dict of costs[i] tokens, all i."""

    def __init__(self, costs: Sequence[int]) -> None:
        self.costs = list(costs)

    def __len__(self) -> int:
        return len(self.costs)

    def __getitem__(self, index: int) -> Any:
        return {"input_ids": torch.full((self.costs[index],), index)}


def firsts(samples: list[Any]) -> dict[str, Any]:
    """A collate function: the number of each sample, and its tokens padded."""
    rows = [sample["input_ids"].reshape(-1) for sample in samples]
    return {
        "numbers": [int(row[0]) for row in rows],
        "input_ids": torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=-1),
    }


COSTS = [3, 9, 1, 4, 7, 2, 8, 5, 6, 10, 1, 1]


def loader(
    costs: Sequence[int] = COSTS, *, dataset: Any = None, collate_fn: Any = firsts, **settings: Any
) -> DynamicBatchLoader:
    """A loader over `Tokens(costs)` with a budget of 20 tokens."""
    return DynamicBatchLoader(
        Tokens(costs) if dataset is None else dataset,
        **{"collate_fn": collate_fn, "token_budget": 20, "window": 8, **settings},
    )


def numbers(batches: Any) -> list[int]:
    """The numbers of all samples of the batches, in order."""
    return [number for batch in batches for number in batch["numbers"]]
