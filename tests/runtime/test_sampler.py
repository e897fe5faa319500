"""Shards: disjoint, complete, even, seeded."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dgap.protocol.errors import ConfigError
from dgap.runtime.sampler import ShardingSampler


def shards(size: int, world_size: int, *, shuffle: bool, seed: int, epoch: int) -> list[list[int]]:
    found = []
    for rank in range(world_size):
        sampler = ShardingSampler(
            size, rank=rank, world_size=world_size, shuffle=shuffle, seed=seed
        )
        sampler.set_epoch(epoch)
        found.append(list(sampler))
        assert len(sampler) == len(found[-1])
    return found


@settings(max_examples=100, deadline=None)
@given(
    st.integers(0, 60),
    st.integers(1, 9),
    st.booleans(),
    st.integers(0, 2**64 - 1),
    st.integers(0, 2**40),
)
def test_shards_are_disjoint_complete_and_differ_by_at_most_one(
    size: int, world_size: int, shuffle: bool, seed: int, epoch: int
) -> None:
    found = shards(size, world_size, shuffle=shuffle, seed=seed, epoch=epoch)
    assert sorted(index for shard in found for index in shard) == list(range(size))
    lengths = [len(shard) for shard in found]
    assert max(lengths) - min(lengths) <= 1
    assert found == shards(size, world_size, shuffle=shuffle, seed=seed, epoch=epoch)


def test_epochs_and_seeds_each_have_their_own_order() -> None:
    orders = {
        tuple(shards(50, 1, shuffle=True, seed=seed, epoch=epoch)[0])
        for seed in (0, 1, 2, 2**32, 2**63)
        for epoch in (0, 1, 2, 2**32)
    }
    assert len(orders) == 20


def test_without_shuffle_the_order_is_dealt_out_in_turn() -> None:
    assert shards(5, 2, shuffle=False, seed=0, epoch=3) == [[0, 2, 4], [1, 3]]


def test_one_sampler_gives_the_same_order_again_until_the_epoch_changes() -> None:
    sampler = ShardingSampler(40, seed=3)
    first = list(sampler)
    assert list(sampler) == first
    sampler.set_epoch(1)
    assert list(sampler) != first


@pytest.mark.parametrize(
    ("size", "arguments", "word"),
    [
        (-1, {}, "size"),
        (2.5, {}, "size"),
        (True, {}, "size"),
        (4, {"world_size": 0}, "world_size"),
        (4, {"rank": 2, "world_size": 2}, "rank"),
        (4, {"rank": -1}, "rank"),
        (4, {"seed": -1}, "seed"),
        (4, {"seed": 2**64}, "seed"),
    ],
)
def test_arguments_out_of_bounds_are_named(size: Any, arguments: dict[str, Any], word: str) -> None:
    with pytest.raises(ConfigError, match=f"^{word} is"):
        ShardingSampler(size, **arguments)


def test_a_negative_epoch_is_refused() -> None:
    with pytest.raises(ConfigError, match="epoch"):
        ShardingSampler(4).set_epoch(-1)
