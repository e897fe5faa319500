"""A bounded queue between two threads whose ends can be closed.

Rules kept here:
1. `put` blocks while the queue is full, `get` while it is empty: back-pressure, no spinning.
2. Closing wakes both ends at once; nothing waits for a thread that has gone.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Generic, TypeVar

Item = TypeVar("Item")


class ChannelClosed(Exception):
    """The other end has gone; never leaves the runtime."""


class Channel(Generic[Item]):
    """Holds items of a total weight of at most `capacity`, or one item of any weight."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._items: deque[tuple[Item, int]] = deque()
        self._weight = 0
        self._closed = False
        self._changed = threading.Condition()

    def put(self, item: Item, weight: int = 1) -> None:
        """Add an item when there is room. Raises ChannelClosed once the channel is closed."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._closed or not self._items or self._weight + weight <= self._capacity
            )
            if self._closed:
                raise ChannelClosed
            self._items.append((item, weight))
            self._weight += weight
            self._changed.notify_all()

    def get(self) -> Item:
        """The oldest item when there is one. Raises ChannelClosed once the channel is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or bool(self._items))
            if self._closed:
                raise ChannelClosed
            item, weight = self._items.popleft()
            self._weight -= weight
            self._changed.notify_all()
            return item

    def close(self) -> None:
        """Let both ends raise ChannelClosed from now on, and drop what is queued."""
        with self._changed:
            self._closed = True
            self._items.clear()
            self._weight = 0
            self._changed.notify_all()
