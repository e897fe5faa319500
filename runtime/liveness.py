"""Signs of life: how a rank tells a peer that pauses from a peer that is gone.

A training loop may pause for an hour (evaluation, a checkpoint) while its peers' engines wait in
a collective; that is no fault. So waiting has no time limit of its own. Instead a small thread on
each rank leaves a sign of life in a key-value store, and a rank that waits looks at the signs.

Rules kept here:
1. A sign of life depends on the process alone, never on its training loop.
2. Only a change of the sign is looked at, so clocks need not agree.
3. The store is asked by the small thread alone: a store whose host has stopped blocks whoever
   asks it, and then the host is the peer that is silent.

Weakness: a process whose interpreter is blocked by C code that holds the lock for longer than
`timeout_s` looks dead.
"""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from typing import Protocol

from torch.distributed import TCPStore  # type: ignore[attr-defined]  # public, but not in __all__

STORE_HOST = 0
"""The rank whose process holds the store."""


class Store(Protocol):
    """What is needed of a key-value store that all ranks reach."""

    def add(self, key: str, amount: int) -> int:
        """Add to the integer at the key (0 if absent) and return the result."""


class Liveness:
    """Leaves this rank's signs of life, and watches those of the peers."""

    def __init__(self, store: Store, *, rank: int, world_size: int, timeout_s: float) -> None:
        self._rank = rank
        self._peers = [peer for peer in range(world_size) if peer != rank]
        self._timeout_s = timeout_s
        self._seen: dict[int, tuple[int, float]] = {}
        self._silent: tuple[int, ...] = ()
        self._asked = False
        self._ended = False
        self._changed = threading.Condition()
        # The thread alone holds the store, which so ends with it. Held by an object that waits for
        # the cycle collector, it might be collected in a worker that was forked meanwhile, where
        # its destructor joins threads that are not there and crashes.
        self._thread = threading.Thread(
            target=self._beat, args=(store,), name="dgap-signs-of-life", daemon=True
        )
        self._thread.start()

    def silent_peers(self) -> tuple[int, ...]:
        """Peers that gave no sign of life for `timeout_s`; the store's host if it is silent.

        The age of a sign counts from the call that first saw it. Waits `timeout_s` at most.
        """
        with self._changed:
            self._asked = True
            self._changed.notify_all()
            answered = self._changed.wait_for(
                lambda: self._ended or not self._asked, self._timeout_s
            )
            return self._silent if answered else self._host()

    def close(self) -> None:
        """Give no more signs of life. Does not wait for a thread that the store blocks."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        self._thread.join(min(1.0, self._timeout_s))

    def _beat(self, store: Store) -> None:
        while not self._ended:
            try:
                store.add(f"sign/{self._rank}", 1)
                asked, silent = self._asked, self._look(store) if self._asked else ()
            except RuntimeError:  # the store's host is gone
                asked, silent = True, self._host()
            with self._changed:
                if asked:
                    self._silent, self._asked = silent, False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._ended or self._asked, self._timeout_s / 5)

    def _look(self, store: Store) -> tuple[int, ...]:
        now_s = time.monotonic()
        for peer in self._peers:
            sign = store.add(f"sign/{peer}", 0)
            if peer not in self._seen or self._seen[peer][0] != sign:
                self._seen[peer] = (sign, now_s)
        return tuple(peer for peer in self._peers if now_s - self._seen[peer][1] > self._timeout_s)

    def _host(self) -> tuple[int, ...]:
        return () if self._rank == STORE_HOST else (STORE_HOST,)


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
