"""A session: one epoch in progress on one rank, with its threads and queues.

    workers -> reader thread -> inbox (<= B) -> engine thread -> outbox (<= Q) -> training loop

Rules kept here:
1. The engine's thread alone talks to the transport, so collectives have one order.
2. What ends the epoch travels through the outbox behind the batches: all ranks raise after the
   same step (S10).
3. When the loop leaves, reader and workers end at once; the engine first tells the peers.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .channel import Channel, ChannelClosed
from .engine import Engine
from .farewell import LEAVE_WAIT_S
from .intake import Intake
from .requests import (
    Deliver,
    End,
    Gather,
    Pull,
    Pulled,
    Request,
    Restart,
    Share,
    SourceSignal,
    Total,
)
from .source import Source
from .step import Step
from .transport import Transport


@dataclass(frozen=True)
class Ending:
    """The last item of the outbox: what to raise, or None at a normal end."""

    error: BaseException | None


class Session:
    """Runs one engine. `items` is for the training loop's thread; `close` for any."""

    def __init__(
        self,
        *,
        engine: Engine,
        source: Source,
        intake: Intake,
        transport: Transport,
        queue_size: int,
    ) -> None:
        self.engine = engine
        self._source = source
        self._intake = intake
        self._transport = transport
        self._outbox: Channel[Deliver | Ending] = Channel(queue_size)
        self._iterator_ended = False
        self._thread = threading.Thread(target=self._work, name="dgap-engine", daemon=True)

    def start(self) -> None:
        """Start the engine's thread. The source reads already, or does once it is started."""
        self._thread.start()

    def items(self) -> Iterator[tuple[Any, Step]]:
        """Batches with their steps until the epoch ends. Raises what ended it, if anything."""
        while True:
            try:
                item = self._outbox.get()
            except ChannelClosed:
                return
            if isinstance(item, Ending):
                if item.error is not None:
                    raise item.error
                return
            yield item.batch, item.step

    def close(self, wait_s: float) -> bool:
        """Leave, and wait so long for the engine to tell the peers; whether it has ended.

        A rank that ended its iterator (tail "stop") has not left early: its engine goes on
        behind its back until the peers are done, and only a new epoch waits for it.
        """
        if not self._iterator_ended:
            deadline_s = time.monotonic() + wait_s
            self._outbox.close()
            self._source.close(wait_s)
            self.join(max(0.0, deadline_s - time.monotonic()))
        return not self._thread.is_alive()

    def join(self, wait_s: float) -> bool:
        """Wait so long for the engine; whether it has ended. One never started has."""
        if self._thread.is_alive():
            self._thread.join(wait_s)
        return not self._thread.is_alive()

    def close_transport(self, wait_s: float) -> None:
        """Give the connections up, after `wait_s` at most unless the peers still need them.

        An engine that waits in a collective then ends, and is waited for: at the end of the
        process a thread inside Gloo would abort it.

        They do where this rank ended its iterator (tail "stop") and they go on; then the
        connections are given up when the engine ends, behind the caller's back.
        """
        if not self._iterator_ended or self.join(wait_s):
            self._transport.close()
            self.join(wait_s)
        else:
            threading.Thread(target=self._close_at_the_end, name="dgap-last", daemon=True).start()

    def _close_at_the_end(self) -> None:
        self._thread.join()
        self._transport.close()

    def _work(self) -> None:
        error: BaseException | None
        try:
            error = self._drive()
        except BaseException as defect:  # a defect here must reach the loop, not end a thread
            self._transport.close()
            error = defect
        self._source.close(LEAVE_WAIT_S)
        if not self._iterator_ended:
            self._end(Ending(error))

    def _drive(self) -> BaseException | None:
        run = self.engine.run()
        answer: Any = None
        failure: Exception | None = None
        while True:
            try:
                request = run.send(answer) if failure is None else run.throw(failure)
            except StopIteration as stop:
                ended: BaseException | None = stop.value
                return ended
            answer, failure = None, None
            try:
                answer = self._answer(request)
            except Exception as error:
                failure = error

    def _answer(self, request: Request) -> Any:
        match request:
            case Pull():
                return self._pull()
            case Deliver():
                return self._deliver(request)
            case Gather(words):
                return self._transport.gather(words)
            case Total(words):
                return self._transport.total(words)
            case Share(payload, origin):
                return self._transport.share(payload, origin)
            case Restart():
                return self._source.restart()
            case End():
                self._iterator_ended = True
                return self._end(Ending(None))

    def _pull(self) -> Pulled:
        while True:
            pulled = self._source.pull()
            if isinstance(pulled, SourceSignal):
                return pulled
            accepted = list(self._intake.accept(pulled))
            if accepted:
                return accepted

    def _deliver(self, item: Deliver) -> bool:
        alone = self._transport.world_size == 1
        if alone and self.engine.state.failed:
            return True  # no peer waits for the steps that a failed rank still owes
        try:
            self._outbox.put(item)
        except ChannelClosed:
            return False
        return True

    def _end(self, ending: Ending) -> None:
        try:
            self._outbox.put(ending, weight=0)
        except ChannelClosed:
            self._iterator_ended = True
