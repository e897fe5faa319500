"""What surrounds an engine in the session's tests: a source and a peer that the test controls."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from dgap.protocol.vocabulary import Report
from dgap.runtime.chunks import Sample
from dgap.runtime.requests import Pulled, SourceSignal
from dgap.runtime.source import Source
from dgap.runtime.transport import AloneTransport


class ListSource(Source):
    """Samples from a list, without workers or thread."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        self.samples = list(samples)
        self.closed = threading.Event()
        self.restarts = 0
        self.left = list(self.samples)

    def pull(self) -> Pulled:
        if self.closed.is_set():
            return SourceSignal.LEFT
        return [self.left.pop(0)] if self.left else SourceSignal.ENDED

    def restart(self) -> None:
        self.restarts += 1
        self.left = list(self.samples)

    def close(self, wait_s: float) -> None:
        self.closed.set()


class PeerTransport(AloneTransport):
    """A peer that answers as the test says; `meet` is called in every collective."""

    world_size = 2

    def __init__(self, peer: Report, meet: Callable[[], None] = lambda: None) -> None:
        self.peer = peer
        self.meet = meet
        self.given_up = False

    def gather(self, words: Sequence[int]) -> list[list[int]]:
        self.meet()
        size = len(Report._fields)
        greeting = list(words[:-size])
        if greeting:
            greeting[-1] += 1
        return [list(words), [*greeting, *self.peer]]

    def total(self, words: Sequence[int]) -> list[int]:
        self.meet()
        return list(words)

    def close(self) -> None:
        self.given_up = True
