"""Small data sets of known costs whose samples tell who they are, for tests of several processes.

1. An identity is one number for the whole job: rank x IDENTITIES_PER_RANK + index.
2. A sample's contents are a function of its identity, cost and targets alone, so that any process
   can build it again.
3. Everything here is at the top level of a module: it travels to processes started by spawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset, Sampler

IDENTITIES_PER_RANK = 10_000
IGNORED_LABEL = -100
VOCABULARY_SIZE = 17

Sample = dict[str, Tensor]


class PlantedError(Exception):
    """Raised on purpose by the data sets and functions of these tests."""


def sample_of(identity: int, cost: int, target_count: int) -> Sample:
    """A sample of `cost` tokens whose last `target_count` labels count."""
    token_ids = (torch.arange(cost) * 5 + identity * 3) % VOCABULARY_SIZE
    labels = (token_ids + 1 + identity) % VOCABULARY_SIZE
    labels[: cost - target_count] = IGNORED_LABEL
    return {"input_ids": token_ids, "labels": labels, "identity": torch.tensor(identity)}


def some_targets(identity: int, cost: int) -> int:
    """A number of targets in [0, cost] that has no pattern on purpose."""
    return (identity * 7919 + cost * 31) % (cost + 1)


@dataclass(frozen=True)
class Uneven(Dataset[Sample]):
    """The samples of one rank. `raise_at`: an index whose reading raises PlantedError."""

    rank: int
    costs: tuple[int, ...]
    target_counts: tuple[int, ...] | None = None
    raise_at: int | None = None

    def __len__(self) -> int:
        return len(self.costs)

    def __getitem__(self, index: int) -> Sample:
        if index == self.raise_at:
            raise PlantedError(f"sample {index} is broken")
        identity, cost = self.identity(index), self.costs[index]
        return sample_of(identity, cost, self.target_count(index))

    def identity(self, index: int) -> int:
        return self.rank * IDENTITIES_PER_RANK + index

    def target_count(self, index: int) -> int:
        if self.target_counts is not None:
            return self.target_counts[index]
        return some_targets(self.identity(index), self.costs[index])


class InOrder(Sampler[int]):
    """A user's own sampler: this rank reads all of its own data set."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Any:
        return iter(range(self.size))


def pad(samples: Sequence[Sample]) -> Sample:
    """An ordinary collate function: right-padded, padding ignored by the loss."""
    return {
        "input_ids": pad_sequence([each["input_ids"] for each in samples], batch_first=True),
        "labels": pad_sequence(
            [each["labels"] for each in samples], batch_first=True, padding_value=IGNORED_LABEL
        ),
        "identity": torch.stack([each["identity"] for each in samples]),
    }
