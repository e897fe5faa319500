"""How long a rank that leaves waits for its peers to hear of it.

Rule kept here: leaving never hangs. Whoever waits for a rank that has gone without a word learns
it from the closed connection.
"""

from __future__ import annotations

import atexit
import weakref
from typing import Protocol

LEAVE_WAIT_S = 10.0
"""A loop that leaves early waits so long for its peers to hear of it, then goes on without."""

EXIT_WAIT_S = 2.0
"""The same at the end of the process, whose closed connections tell the peers anyway."""


class Closable(Protocol):
    """What can be closed within a time."""

    def close(self, wait_s: float) -> None:
        """Close, and wait for the peers so long at most."""


def close_at_exit(loader: Closable) -> None:
    """Let a process that ends in the middle of an epoch tell its peers so."""
    reference = weakref.ref(loader)

    def close() -> None:
        alive = reference()
        if alive is not None:
            alive.close(EXIT_WAIT_S)

    atexit.register(close)
    weakref.finalize(loader, atexit.unregister, close)
