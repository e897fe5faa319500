"""W real engines of dgap in one process, in lockstep, with samples that are nothing but costs.

Rules kept here:
1. The engines, the table, the grouping and the reports are those of production; only their
   requests are answered here, so what is counted is what the loader does.
2. Bytes and rounds of metadata are counted in the messages themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from dgap.protocol.machine import Machine
from dgap.protocol.vocabulary import Settings
from dgap.runtime import Ledger, LoaderConfig, ShardingSampler, Step
from dgap.runtime.assembly import new_engine
from dgap.runtime.chunks import Sample
from dgap.runtime.requests import (
    Deliver,
    Gather,
    Pull,
    Request,
    Restart,
    Run,
    Share,
    SourceSignal,
    Total,
)

from .measure import StepRecord

WORD_BYTES = 8
PULL_SIZE = 32

compiled = cache(Machine)


@dataclass(frozen=True, kw_only=True)
class Simulated:
    """One epoch of all ranks: their steps in order, and what they told each other."""

    ranks: tuple[tuple[Step, ...], ...]
    rounds: int
    metadata_bytes: int
    """What one rank sent in all rounds, the greeting of the first one included."""

    def records(self) -> tuple[tuple[StepRecord, ...], ...]:
        """The steps as they would be recorded from batches."""
        return tuple(
            tuple(
                StepRecord(
                    indices=step.sample_indices, padded_tokens=step.padded_tokens, idle=step.idle
                )
                for step in rank
            )
            for rank in self.ranks
        )


class _Rank:
    """One engine, its unread samples and its steps, up to its next collective."""

    def __init__(self, run: Run, samples: list[Sample]) -> None:
        self.steps: list[Step] = []
        self.request: Request | None = None
        self._run = run
        self._samples = samples
        self._at = 0
        self.advance(None)

    def advance(self, answer: Any) -> None:
        """Answer the engine until it asks for a collective or ends. Raises what it ended with."""
        while True:
            try:
                request = self._run.send(answer)
            except StopIteration as stop:
                self.request = None
                if stop.value is not None:
                    raise stop.value from None
                return
            if isinstance(request, Gather | Total | Share):
                self.request = request
                return
            answer = self._local(request)

    def _local(self, request: Request) -> Any:
        match request:
            case Pull():
                pulled = self._samples[self._at : self._at + PULL_SIZE]
                self._at += len(pulled)
                return pulled or SourceSignal.ENDED
            case Deliver(step=step):
                self.steps.append(step)
                return True
            case Restart():
                self._at = 0
        return None


def simulate(
    lengths: Sequence[int], *, world_size: int, seed: int = 0, **settings: Any
) -> Simulated:
    """One epoch over samples of these costs, dealt out as the loader's own sampler does.

    settings: the fields of `LoaderConfig`.
    """
    config = LoaderConfig(**({"seed": seed, "shuffle": True, "allow_same_data": True} | settings))
    ranks = [_new_rank(config, lengths, rank, world_size) for rank in range(world_size)]
    rounds = sent = 0
    while any(rank.request is not None for rank in ranks):
        requests = [rank.request for rank in ranks]
        answer, size = _answer(requests)
        rounds += isinstance(requests[0], Gather)
        sent += size
        for rank in ranks:
            rank.advance(answer)
    return Simulated(
        ranks=tuple(tuple(rank.steps) for rank in ranks), rounds=rounds, metadata_bytes=sent
    )


def _new_rank(config: LoaderConfig, lengths: Sequence[int], rank: int, world_size: int) -> _Rank:
    settings: Settings = config.settings()
    engine = new_engine(
        compiled(settings),
        config,
        epoch=0,
        rank=rank,
        world_size=world_size,
        collate=list,
        ledger=Ledger(),
    )
    order = ShardingSampler(
        len(lengths), rank=rank, world_size=world_size, shuffle=True, seed=config.seed
    )
    samples = [
        Sample(index=index, cost=lengths[index], targets=lengths[index], value=index)
        for index in order
    ]
    return _Rank(engine.run(), samples)


def _answer(requests: Sequence[Request | None]) -> tuple[Any, int]:
    """What all ranks get, and the bytes that one of them sent."""
    first = requests[0]
    if isinstance(first, Gather):
        words = [request.words for request in requests if isinstance(request, Gather)]
        return [list(row) for row in words], WORD_BYTES * len(first.words)
    if isinstance(first, Total):
        rows = [request.words for request in requests if isinstance(request, Total)]
        sums = [sum(column) for column in zip(*rows, strict=True)]
        return sums, WORD_BYTES * len(first.words)
    if isinstance(first, Share):
        shared = requests[first.origin]
        payload = shared.payload if isinstance(shared, Share) else b""
        return payload, WORD_BYTES + len(payload)
    raise RuntimeError(f"the ranks are in different requests: {requests}")
