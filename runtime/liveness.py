"""Signs of life: how a rank tells a peer that pauses from a peer that is gone.

A training loop may pause for an hour (evaluation, a checkpoint) while its peers' engines wait in
a collective; that is no fault. So waiting has no time limit of its own. Instead a small thread on
each rank leaves a sign of life in a key-value store, and a rank that waits looks at the signs.

Rules kept here:
1. A sign of life depends on the process alone, never on its training loop.
2. Only a change of the sign is looked at, so clocks need not agree.

Weakness: a process whose interpreter is blocked by C code that holds the lock for longer than
`timeout_s` looks dead.
"""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from typing import Protocol

from torch.distributed import TCPStore  # type: ignore[attr-defined]  # public, but not in __all__


class Store(Protocol):
    """What is needed of a key-value store that all ranks reach."""

    def add(self, key: str, amount: int) -> int:
        """Add to the integer at the key (0 if absent) and return the result."""


class Liveness:
    """Leaves this rank's signs of life, and watches those of the peers."""

    def __init__(self, store: Store, *, rank: int, world_size: int, timeout_s: float) -> None:
        self._store = store
        self._rank = rank
        self._peers = [peer for peer in range(world_size) if peer != rank]
        self._timeout_s = timeout_s
        self._seen: dict[int, tuple[int, float]] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="dgap-signs-of-life", daemon=True)
        self._thread.start()

    def silent_peers(self) -> tuple[int, ...]:
        """Peers that gave no sign of life for `timeout_s`, all of them if the store is gone."""
        now_s = time.monotonic()
        for peer in self._peers:
            try:
                sign = self._store.add(f"sign/{peer}", 0)
            except RuntimeError:
                return tuple(self._peers)
            if peer not in self._seen or self._seen[peer][0] != sign:
                self._seen[peer] = (sign, now_s)
        return tuple(peer for peer in self._peers if now_s - self._seen[peer][1] > self._timeout_s)

    def close(self) -> None:
        """Give no more signs of life."""
        self._ended.set()
        self._thread.join(self._timeout_s)

    def _beat(self) -> None:
        while not self._ended.wait(self._timeout_s / 5):
            try:
                self._store.add(f"sign/{self._rank}", 1)
            except RuntimeError:
                return  # the store's host is gone: the peers' own watch will say so


def open_store(address: tuple[str, int] | None, *, timeout_s: float) -> TCPStore:
    """The store: hosted here on a free port if `address` is None, else the one at the address."""
    host, port = address or ("localhost", 0)
    return TCPStore(
        host,
        port,
        is_master=address is None,
        wait_for_workers=False,
        timeout=timedelta(seconds=timeout_s),
    )
