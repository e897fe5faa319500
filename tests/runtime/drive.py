"""Drives an engine by hand: a test answers each request and looks at the next one.

The engine is a generator of requests, so no thread, queue or collective is needed here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dgap.protocol.codec import GREETING_SIZE
from dgap.protocol.machine import Machine
from dgap.protocol.vocabulary import Report
from dgap.runtime.assembly import new_engine
from dgap.runtime.chunks import Fault, Sample
from dgap.runtime.config import LoaderConfig
from dgap.runtime.ledger import Ledger
from dgap.runtime.requests import Deliver, End, Gather, Pull, Request, Share, SourceSignal, Total

NOT_ENDED = object()
REQUEST_LIMIT = 500


def sample(index: int, cost: int = 4, targets: int | None = None) -> Sample:
    return Sample(
        index=index,
        cost=cost,
        targets=cost if targets is None else targets,
        value={"index": index, "cost": cost},
    )


def listed(values: list[Any]) -> dict[str, list[int]]:
    """The usual collate function of these tests."""
    return {"index": [value["index"] for value in values]}


class Driven:
    """One engine and what became of it. `request` is the one that waits for an answer."""

    def __init__(
        self,
        *,
        rank: int = 0,
        world_size: int = 2,
        collate: Callable[[list[Any]], Any] = listed,
        idle_batch: Any = None,
        epoch: int = 0,
        **settings: Any,
    ) -> None:
        config = LoaderConfig(**{"token_budget": 8, "window": 4, "first_window": 4, **settings})
        self.rank = rank
        self.ledger = Ledger()
        self.engine = new_engine(
            Machine(config.settings()),
            config,
            epoch=epoch,
            rank=rank,
            world_size=world_size,
            collate=collate,
            ledger=self.ledger,
            idle_batch=idle_batch,
        )
        self.result: Any = NOT_ENDED
        self.run = self.engine.run()
        self.request: Request | None = None
        self._advance(lambda: next(self.run))

    def answer(self, value: Any = None) -> Request | None:
        """Answer the request; the next one, or None once the engine has ended."""
        if isinstance(self.request, Pull) and not isinstance(value, SourceSignal):
            self.ledger.read += len(value)  # as the intake does
        return self._advance(lambda: self.run.send(value))

    def throw(self, error: Exception) -> Request | None:
        """Let the request fail."""
        return self._advance(lambda: self.run.throw(error))

    def _advance(self, resume: Callable[[], Request]) -> Request | None:
        try:
            self.request = resume()
        except StopIteration as stop:
            self.request, self.result = None, stop.value
        return self.request

    @property
    def ended(self) -> bool:
        return self.result is not NOT_ENDED

    @property
    def balanced(self) -> bool:
        """The epoch has ended, and every sample read is accounted for."""
        return self.ended and self.ledger.balance == 0

    def read(self, *entries: Sample | Fault, ends: bool = True) -> Request | None:
        """Answer Pull with these entries, and then with the end of the pass."""
        if entries:
            assert self.request == Pull()
            self.answer(list(entries))
        if ends:
            assert self.request == Pull()
            self.answer(SourceSignal.ENDED)
        return self.request

    @property
    def own_words(self) -> tuple[int, ...]:
        assert isinstance(self.request, Gather | Total), self.request
        return self.request.words

    @property
    def own_report(self) -> Report:
        assert isinstance(self.request, Gather), self.request
        words = self.request.words
        return Report(*(words[GREETING_SIZE:] if len(words) > GREETING_SIZE else words))

    def gathered(self, *peers: Report) -> Request | None:
        """Answer Gather: the peers were started alike (their data differ) and report this."""
        assert isinstance(self.request, Gather), self.request
        words = list(self.request.words)
        rows = []
        for peer_index, peer in enumerate(peers):
            greeting = words[:GREETING_SIZE] if len(words) > GREETING_SIZE else []
            if greeting:
                greeting = [*greeting[:-1], 1000 + peer_index]
            rows.append([*greeting, *peer])
        rows.insert(self.rank, words)
        return self.answer(rows)

    def summed(self, *peers: Sequence[int], lacking: int = 0) -> Request | None:
        """Answer Total: the peers add these words; so many of them lack an idle batch."""
        own = self.own_words
        others = [[*peer, 0] for peer in peers]
        sums = [sum(column) for column in zip(own, *others, strict=True)]
        sums[-1] += lacking
        return self.answer(sums)

    def alone(self, *, until: type[Request] | None = None) -> list[Deliver]:
        """Answer as if the peers said nothing that matters: for W = 1, or after their part."""
        delivered: list[Deliver] = []
        for _ in range(REQUEST_LIMIT):
            request = self.request
            if request is None or (until is not None and isinstance(request, until)):
                return delivered
            if isinstance(request, Deliver):
                delivered.append(request)
            self.answer(self._plain_answer(request))
        raise AssertionError(f"the engine made more than {REQUEST_LIMIT} requests")

    def _plain_answer(self, request: Request) -> Any:
        match request:
            case Pull():
                return SourceSignal.ENDED
            case Gather(words):
                return [list(words)]
            case Total(words):
                return list(words)
            case Share(payload, _):
                return payload
            case Deliver():
                return True
            case End():
                return None
        return None


def indices(deliveries: Sequence[Deliver]) -> Iterator[tuple[int, ...]]:
    """The samples of each delivered batch, as its step names them."""
    for each in deliveries:
        assert dataclasses.is_dataclass(each.step)
        yield each.step.sample_indices
