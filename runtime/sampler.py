"""The order in which each rank reads: a seeded permutation, dealt out like cards.

Three rules: the ranks' shards are disjoint and together are the whole data set; their sizes
differ by at most one and nothing is padded or doubled; the order is a function of (size, seed,
epoch, shuffle) alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch.utils.data import Sampler

from dgap.protocol.errors import ConfigError

_WORD = 2**64


class ShardingSampler(Sampler[int]):
    """Indices of one rank: places rank, rank + W, rank + 2 W, ... of the epoch's permutation.

    Args:
        size: number of samples in the data set, all ranks together; 0 is allowed.
        rank: this data-parallel rank, 0 <= rank < world_size.
        world_size: W.
        shuffle: permute anew in each epoch; otherwise the order is 0, 1, 2, ...
        seed: the same on all ranks, 0 <= seed < 2**64.

    Call `set_epoch` before each epoch, as with torch's DistributedSampler.

    Raises:
        ConfigError: an argument outside these bounds.
    """

    def __init__(
        self, size: int, *, rank: int = 0, world_size: int = 1, shuffle: bool = True, seed: int = 0
    ) -> None:
        _check_integer("size", size, 0, 2**63)
        _check_integer("world_size", world_size, 1, 2**31)
        _check_integer("rank", rank, 0, world_size)
        _check_integer("seed", seed, 0, _WORD)
        self.size = size
        self.rank = rank
        self.world_size = world_size
        self.shuffle = shuffle
        self.seed = seed
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Choose the permutation of this epoch; takes effect at the next `iter()`."""
        _check_integer("epoch", epoch, 0, 2**63)
        self.epoch = epoch

    def __len__(self) -> int:
        return len(range(self.rank, self.size, self.world_size))

    def __iter__(self) -> Iterator[int]:
        if not self.shuffle:
            return iter(range(self.rank, self.size, self.world_size))
        generator = torch.Generator()
        generator.manual_seed(_mixed(self.seed, self.epoch))
        order = torch.randperm(self.size, generator=generator)
        shard: list[int] = order[self.rank :: self.world_size].tolist()
        return iter(shard)


def _mixed(seed: int, epoch: int) -> int:
    """One 64-bit word of two (splitmix64), so that (seed 0, epoch 1) is not (seed 1, epoch 0).

    The halves are folded together because torch's CPU generator starts from 32 bits of a seed.
    """
    word = (seed + (epoch + 1) * 0x9E3779B97F4A7C15) % _WORD
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % _WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % _WORD
    return word ^ (word >> 31) ^ (word >> 32)


def _check_integer(name: str, value: object, least: int, limit: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < limit:
        raise ConfigError(f"{name} is {value!r}; it must be an integer in [{least}, {limit})")
