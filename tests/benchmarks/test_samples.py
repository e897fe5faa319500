"""Samples name themselves, batches are padded on the right, streams can be learnt."""

from __future__ import annotations

import torch

from benchmarks.samples import (
    IGNORED,
    PAD_ID,
    LengthDataset,
    TokenDataset,
    collate,
    indices_in,
    token_stream,
)


def test_a_sample_is_three_tensors_of_its_length() -> None:
    sample = LengthDataset([4, 9])[1]
    assert {key: (len(value), value.dtype) for key, value in sample.items()} == {
        "input_ids": (9, torch.int64),
        "attention_mask": (9, torch.int64),
        "labels": (9, torch.int64),
    }


def test_a_batch_tells_which_samples_it_holds() -> None:
    lengths = LengthDataset([4, 9, 1])
    tokens = TokenDataset([4, 9, 1], vocabulary_size=16, seed=0)
    for dataset in (lengths, tokens):
        assert indices_in(collate([dataset[2], dataset[0]])) == [2, 0]


def test_padding_stands_on_the_right_and_counts_nowhere() -> None:
    batch = collate([LengthDataset([2, 4])[0], LengthDataset([2, 4])[1]])
    assert batch["input_ids"].shape == (2, 4)
    assert batch["attention_mask"].sum() == 6
    assert batch["input_ids"][0, 2:].tolist() == [PAD_ID, PAD_ID]
    assert batch["labels"][0, 2:].tolist() == [IGNORED, IGNORED]


def test_streams_of_two_seeds_differ_and_follow_one_rule() -> None:
    first, second = (token_stream(4000, vocabulary_size=32, seed=seed) for seed in (1, 2))
    assert not torch.equal(first, second)
    assert int(first.min()) >= 1
    assert int(first.max()) < 32

    def likeliest(stream: torch.Tensor) -> list[int]:
        counts = torch.zeros(32, 32)
        counts.index_put_((stream[:-1], stream[1:]), torch.ones(len(stream) - 1), accumulate=True)
        return counts.argmax(dim=1).tolist()[1:]

    assert likeliest(first) == likeliest(second)
