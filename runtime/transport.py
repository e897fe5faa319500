"""The port for collectives: what the engine needs of any means of talking to its peers.

Rules kept here:
1. All ranks call the same methods in the same order (the table sees to it).
2. A collective that cannot complete raises `CollectiveFailed`; none waits for ever.

Adapters: `torch_transport.py` (Gloo), `loopback.py` (N ranks in one process), `AloneTransport`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Transport(Protocol):
    """Collectives among W ranks. Words are integers in [0, 2**63)."""

    @property
    def rank(self) -> int:
        """This rank, from 0."""

    @property
    def world_size(self) -> int:
        """W."""

    @property
    def closed(self) -> bool:
        """Whether the connections were given up."""

    def gather(self, words: Sequence[int]) -> list[list[int]]:
        """The words of every rank, in rank order; all ranks give equally many."""

    def total(self, words: Sequence[int]) -> list[int]:
        """The sums over the ranks, word by word."""

    def share(self, payload: bytes, origin: int) -> bytes:
        """The payload that rank `origin` gave; the others' is not looked at."""

    def close(self) -> None:
        """Give the connections up. Peers that still wait get `CollectiveFailed`."""


class AloneTransport:
    """W = 1: every collective returns at once."""

    rank = 0
    world_size = 1
    closed = False

    def gather(self, words: Sequence[int]) -> list[list[int]]:
        """One row: the words themselves."""
        return [list(words)]

    def total(self, words: Sequence[int]) -> list[int]:
        """The words themselves."""
        return list(words)

    def share(self, payload: bytes, origin: int) -> bytes:
        """The payload itself."""
        return payload

    def close(self) -> None:
        """Nothing is held."""
