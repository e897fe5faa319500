"""The queue between two threads: order, back-pressure, and ends that wake each other."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from dgap.runtime.channel import Channel, ChannelClosed

LIMIT_S = 10.0


class Doing(threading.Thread):
    """A call in a thread of its own, with its outcome."""

    def __init__(self, call: Callable[[], Any]) -> None:
        super().__init__(daemon=True)
        self.call = call
        self.outcome: Any = None
        self.start()

    def run(self) -> None:
        try:
            self.outcome = self.call()
        except ChannelClosed as error:
            self.outcome = error

    def result(self) -> Any:
        self.join(LIMIT_S)
        assert not self.is_alive(), "the call did not return"
        return self.outcome

    def blocks(self) -> bool:
        """Still there after a moment. A call that does not block may look as if it did, never
        the other way round: the moment is only as long as a wrong channel needs to show itself."""
        self.join(0.05)
        return self.is_alive()


def test_what_is_put_comes_out_in_order() -> None:
    channel: Channel[int] = Channel(10)
    for item in (3, 1, 2):
        channel.put(item)
    assert [channel.get() for _ in range(3)] == [3, 1, 2]


def test_a_full_channel_blocks_until_something_is_taken() -> None:
    channel: Channel[str] = Channel(2)
    channel.put("a")
    channel.put("b")
    third = Doing(lambda: channel.put("c"))
    assert third.blocks()
    assert channel.get() == "a"
    third.result()
    assert [channel.get(), channel.get()] == ["b", "c"]


def test_the_capacity_counts_weights() -> None:
    channel: Channel[str] = Channel(10)
    channel.put("six", weight=6)
    fits = Doing(lambda: channel.put("four", weight=4))
    fits.result()
    too_heavy = Doing(lambda: channel.put("one"))
    assert too_heavy.blocks()
    channel.get()
    too_heavy.result()


def test_an_item_heavier_than_the_capacity_goes_alone() -> None:
    channel: Channel[str] = Channel(2)
    Doing(lambda: channel.put("heavy", weight=50)).result()
    second = Doing(lambda: channel.put("light"))
    assert second.blocks()
    assert channel.get() == "heavy"
    second.result()
    assert channel.get() == "light"


def test_a_weightless_item_fits_into_a_full_channel() -> None:
    channel: Channel[str] = Channel(1)
    channel.put("a")
    Doing(lambda: channel.put("end", weight=0)).result()
    assert [channel.get(), channel.get()] == ["a", "end"]


def test_an_empty_channel_blocks_until_something_is_put() -> None:
    channel: Channel[int] = Channel(1)
    taking = Doing(channel.get)
    assert taking.blocks()
    channel.put(7)
    assert taking.result() == 7


def test_closing_wakes_a_blocked_get_and_a_blocked_put() -> None:
    empty: Channel[int] = Channel(1)
    full: Channel[int] = Channel(1)
    full.put(1)
    waiting = [Doing(empty.get), Doing(lambda: full.put(2))]
    assert all(each.blocks() for each in waiting)
    empty.close()
    full.close()
    assert all(isinstance(each.result(), ChannelClosed) for each in waiting)


def test_a_closed_channel_refuses_both_ends_and_drops_what_was_queued() -> None:
    channel: Channel[int] = Channel(5)
    channel.put(1)
    channel.close()
    channel.close()
    with pytest.raises(ChannelClosed):
        channel.get()
    with pytest.raises(ChannelClosed):
        channel.put(2)
