"""What is loaded: samples of three int64 tensors, as a tokenizer would leave them.

Rules kept here:
1. The first token of a sample is its index, so a batch of any loader tells which samples it holds
   without a key or an attribute of its own.
2. Reading is cheap, so that loaders are compared and not tokenizers; where reading shall take
   time it waits (`wait_s_per_token`), as for a disk or a network, and computes nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.utils.data import Dataset

IGNORED = -100
PAD_ID = 0
BYTES_PER_TOKEN = 3 * 8
"""Three int64 tensors."""

Sample = dict[str, Tensor]
Batch = dict[str, Tensor]


class LengthDataset(Dataset[Sample]):
    """Sample i has `lengths[i]` tokens: input_ids, attention_mask, labels, each int64 [L]."""

    def __init__(self, lengths: Sequence[int], *, wait_s_per_token: float = 0.0) -> None:
        self.lengths = lengths
        self.wait_s_per_token = wait_s_per_token

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: int) -> Sample:
        length = self.lengths[index]
        if self.wait_s_per_token:
            threading.Event().wait(length * self.wait_s_per_token)
        input_ids = torch.full((length,), 7)
        input_ids[0] = index
        return {
            "input_ids": input_ids,
            "attention_mask": torch.ones(length, dtype=torch.int64),
            "labels": input_ids.clone(),
        }


class TokenDataset(Dataset[Sample]):
    """As `LengthDataset`, with tokens that a model can learn: pieces of one long seeded stream.

    The stream follows a permutation of the vocabulary most of the time. Ids lie in
    [1, vocabulary_size); the index of a sample is in the extra key "index", shape [].
    """

    def __init__(self, lengths: Sequence[int], *, vocabulary_size: int, seed: int) -> None:
        self.lengths = lengths
        self._stream = token_stream(
            max(lengths) + STREAM_SLACK, vocabulary_size=vocabulary_size, seed=seed
        )

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: int) -> Sample:
        length = self.lengths[index]
        start = index * STREAM_STRIDE % (len(self._stream) - length)
        input_ids = self._stream[start : start + length].clone()
        return {
            "input_ids": input_ids,
            "attention_mask": torch.ones(length, dtype=torch.int64),
            "labels": input_ids.clone(),
            "index": torch.tensor(index),
        }


STREAM_SLACK = 50_000
STREAM_STRIDE = 7919
# How often the next token is the one that the permutation names: the loss has a floor above 0.
STREAM_REGULARITY = 0.8
RULE_SEED = 20
"""The permutation is one for all streams, so that a held-out stream follows the same rule."""


def token_stream(size: int, *, vocabulary_size: int, seed: int) -> Tensor:
    """`size` ids in [1, vocabulary_size): the permutation's successor, or any id at random."""
    rule = torch.randperm(
        vocabulary_size - 1, generator=torch.Generator().manual_seed(RULE_SEED)
    ).tolist()
    generator = torch.Generator().manual_seed(seed)
    follows = (torch.rand(size, generator=generator) < STREAM_REGULARITY).tolist()
    drawn = torch.randint(0, vocabulary_size - 1, (size,), generator=generator).tolist()
    tokens, current = [], 0
    for position in range(size):
        current = rule[current] if follows[position] else drawn[position]
        tokens.append(current + 1)
    return torch.tensor(tokens)


def collate(samples: Sequence[Sample]) -> Batch:
    """Pads on the right to [n, longest]: ids with 0, mask with 0, labels with IGNORED."""
    longest = max(len(sample["input_ids"]) for sample in samples)
    shape = (len(samples), longest)
    batch = {
        "input_ids": torch.full(shape, PAD_ID),
        "attention_mask": torch.zeros(shape, dtype=torch.int64),
        "labels": torch.full(shape, IGNORED),
    }
    for row, sample in enumerate(samples):
        for key, rows in batch.items():
            values = sample[key]
            rows[row, : len(values)] = values
    if "index" in samples[0]:
        batch["index"] = torch.stack([sample["index"] for sample in samples])
    return batch


def indices_in(batch: Batch) -> list[int]:
    """Which samples a batch holds."""
    marks: Tensor = batch["index"] if "index" in batch else batch["input_ids"][:, 0]
    found: list[int] = marks.tolist()
    return found
