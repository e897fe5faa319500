"""What a test leaves behind: threads and child processes that were not there before it."""

from __future__ import annotations

import multiprocessing
import threading
import time
from types import TracebackType
from typing import Any, Self

LIMIT_S = 20.0
"""A bound on waits of tests that are over at once unless something is broken."""


class Leftovers:
    """A context that fails if threads or child processes begun in it outlive it.

    Both are given `LIMIT_S` to end, by joining them: ending is not instantaneous.
    """

    def __enter__(self) -> Self:
        self._threads = set(threading.enumerate())
        self._children = set(multiprocessing.active_children())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            return
        deadline_s = time.monotonic() + LIMIT_S
        threads = set(threading.enumerate()) - self._threads
        children = set(multiprocessing.active_children()) - self._children
        begun: list[Any] = [*threads, *children]
        for each in begun:
            each.join(max(0.0, deadline_s - time.monotonic()))
        left = [each.name for each in begun if each.is_alive()]
        for child in children:
            child.kill()
        assert not left, f"left behind: {', '.join(left)}"
