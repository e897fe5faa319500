"""The engine: turns what happens into events of the table, and does what the table asks.

Rules kept here:
1. Every change of state goes through `Machine.step`; what to do next is asked of the table
   (`permits`), never read off the phase.
2. No I/O, no clock, no thread: the engine is a generator of requests (requests.py), the same in
   production, in the N-rank loopback and in the simulator.
3. User code that runs here (collate) is guarded: its exception becomes the event FAIL.

A round: read until the table refuses to, offer, gather, group into T steps, sum the totals, emit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from typing import Any, cast

from dgap.protocol.errors import BadBatch, BrokenAssumption, CollectiveFailed, RanksDiffer
from dgap.protocol.machine import Machine, Transition
from dgap.protocol.vocabulary import EffectKind, Event, EventKind, FailureCode, Report, State

from .blame import Failure, nothing_to_lend, peer_failed, peer_stopped
from .chunks import Fault, Sample
from .idle import IdleBatch, collate_checked, smallest
from .introduction import Introduction
from .ledger import Ledger
from .plan import RoundPlan, Work, announced_words, describe_steps, group_window, units_needed
from .requests import (
    Deliver,
    End,
    Gather,
    Pull,
    Pulled,
    Request,
    Restart,
    Run,
    Share,
    SourceSignal,
    Total,
)
from .step import wrap

Doing = Generator[Request, Any, None]
READ = Event(EventKind.READ)


class Engine:
    """One rank in one epoch. `run` is used once; `state` and `ledger` may be read at any time."""

    def __init__(
        self,
        *,
        machine: Machine,
        state: State,
        rank: int,
        work: Work,
        introduction: Introduction,
        collate: Callable[[list[Any]], Any],
        ledger: Ledger,
        idle_batch: Any = None,
    ) -> None:
        self.state = state
        self.ledger = ledger
        self._machine = machine
        self._rank = rank
        self._work = work
        self._introduction = introduction
        self._collate = collate
        self._window: list[Sample] = []
        self._pending: deque[Sample | Fault] = deque()
        self._reports: tuple[Report, ...] = ()
        self._plan = RoundPlan()
        self._prepared: Any = None
        self._idle_batch = None if idle_batch is None else IdleBatch.of(idle_batch)
        self._failure: Failure | None = None
        self._result: BaseException | None = None
        self._ended = False
        self._effects: dict[EffectKind, Callable[[int], Doing]] = {
            EffectKind.GATHER: self._gather,
            EffectKind.TALLY: self._tally,
            EffectKind.BATCH: self._hand_over,
            EffectKind.IDLE_BATCH: self._hand_over_idle,
            EffectKind.END: self._end_iterator,
            EffectKind.RESTART: self._restart,
            EffectKind.CLOSE: self._complete,
            EffectKind.STOPPED: self._leave_early,
            EffectKind.FAILED: self._fail,
            EffectKind.REFUSED: self._close,
            EffectKind.ABANDON: self._close,
        }

    def run(self) -> Run:
        """The whole epoch, as requests. Returns what the training loop must raise, or None."""
        try:
            while not self._ended:
                yield from self._advance()
        except (CollectiveFailed, BadBatch) as error:
            self._result = error
            yield from self._apply(Event(EventKind.BREAK))
        self._withdraw()
        return self._result

    def _advance(self) -> Doing:
        if self._permits(EventKind.READ):
            yield from self._read()
        elif self._plan.groups:
            yield from self._deliver()
        elif self._permits(EventKind.IDLE):
            yield from self._apply(Event(EventKind.IDLE))
        elif self._permits(EventKind.TURN):
            yield from self._apply(Event(EventKind.TURN))
        elif self._wants_idle_batch():
            yield from self._make_idle_batch()
        else:
            yield from self._offer()

    def _permits(self, kind: EventKind) -> bool:
        return self._machine.permits(self.state, Event(kind))

    def _apply(self, event: Event) -> Doing:
        yield from self._do(self._machine.step(self.state, event))

    def _do(self, taken: Transition) -> Doing:
        self.state, effects = taken
        for effect in effects:
            yield from self._effects[effect.kind](effect.argument)

    def _read(self) -> Doing:
        if not self._pending:
            pulled = cast(Pulled, (yield Pull()))
            if isinstance(pulled, SourceSignal):
                ended = pulled is SourceSignal.ENDED
                yield from self._apply(Event(EventKind.EXHAUST if ended else EventKind.STOP))
            else:
                self._pending.extend(pulled)
            return
        if isinstance(entry := self._pending[0], Fault):
            self._pending.popleft()
            self.ledger.faults += 1
            yield from self._blame(entry.code, Failure(entry.exception(), entry.describe()))
            return
        while self._pending and isinstance(entry := self._pending[0], Sample):
            taken = self._machine.attempt(self.state, READ)
            if taken is None:
                return
            self._window.append(entry)
            self._pending.popleft()
            yield from self._do(taken)

    def _blame(self, code: FailureCode, failure: Failure) -> Doing:
        self._failure = failure
        yield from self._apply(Event(EventKind.FAIL, code=code))

    def _wants_idle_batch(self) -> bool:
        may_fail = Event(EventKind.FAIL, code=FailureCode.COLLATE)
        wants = bool(self._window) and self._idle_batch is None
        return wants and self._machine.permits(self.state, may_fail)

    def _make_idle_batch(self) -> Doing:
        content = yield from self._guarded_collate([smallest(self._window)], "as an idle batch")
        if content is not None:
            self._idle_batch = IdleBatch.of(content)

    def _offer(self) -> Doing:
        event = Event(
            EventKind.OFFER,
            needed=units_needed(self._work, self._window),
            units=len(self._window) // self._work.accumulation,
        )
        yield from self._apply(event)

    def _gather(self, _: int) -> Doing:
        words = self._introduction.words(self._machine.report(self.state), self._window)
        vector = cast(list[list[int]], (yield Gather(words)))
        self.ledger.rounds += 1
        try:
            self._reports = self._introduction.read(vector, first=self.state.rounds == 0)
        except RanksDiffer as error:
            self._result = error
            yield from self._apply(Event(EventKind.REFUSE))
        else:
            yield from self._apply(Event(EventKind.GATHERED, reports=self._reports))

    def _tally(self, step_count: int) -> Doing:
        round_index = self.state.rounds - 1
        plan = group_window(
            self._work, self._window, step_count=step_count, round_index=round_index
        )
        own = announced_words(self._work, plan, step_count)
        lacking = int(self._idle_batch is None)
        *summed, lacking_count = cast(list[int], (yield Total((*own, lacking))))
        plan.steps = describe_steps(
            self._work,
            plan,
            own=own,
            summed=summed,
            first_step=self.state.steps,
            round_index=round_index,
        )
        if lacking_count:
            yield from self._lend_idle_batch()
        self._plan, self._window = plan, plan.recycled
        yield from self._apply(Event(EventKind.SUMMED, assigned=plan.assigned))

    def _lend_idle_batch(self) -> Doing:
        """Some rank has never seen a sample: the lowest rank that offers one lends its batch.

        All ranks know of it from the sums, so all enter this collective.
        """
        lender = next(rank for rank, report in enumerate(self._reports) if report.offered)
        own = self._idle_batch.payload if self._idle_batch and lender == self._rank else b""
        lent = cast(bytes, (yield Share(own, lender)))
        if not lent:
            raise nothing_to_lend(lender)
        self._idle_batch = self._idle_batch or IdleBatch(lent)

    def _deliver(self) -> Doing:
        group = self._plan.groups[0]
        place = f"in step {self._plan.steps[0].index}"
        self._prepared = yield from self._guarded_collate(group, place)
        if self._prepared is not None:
            self._plan.groups.popleft()
            yield from self._apply(Event(EventKind.DELIVER, samples=len(group)))

    def _guarded_collate(self, samples: list[Sample], place: str) -> Generator[Request, Any, Any]:
        """The batch, or None if the collate function failed and the table was told."""
        try:
            return collate_checked(self._collate, samples)
        except Exception as error:
            indices = [sample.index for sample in samples]
            text = f"{type(error).__name__}: {error} (collating samples {indices} {place})"
            error.add_note(f"dgap: rank {self._rank}, collating samples {indices} {place}")
            self._plan.groups.clear()
            yield from self._blame(FailureCode.COLLATE, Failure(error, text))
            return None

    def _hand_over(self, _: int) -> Doing:
        content, self._prepared = self._prepared, None
        step = self._plan.steps.popleft()
        self.ledger.count(step)
        taken = yield Deliver(wrap(content, step), step)
        if not taken and self._permits(EventKind.STOP):
            self._plan.groups.clear()
            yield from self._apply(Event(EventKind.STOP))

    def _hand_over_idle(self, _: int) -> Doing:
        if self._idle_batch is not None:
            self._prepared = self._idle_batch.content()
        self._plan.steps[0] = self._plan.steps[0].as_idle()
        yield from self._hand_over(0)

    def _end_iterator(self, _: int) -> Doing:
        yield End()

    def _restart(self, _: int) -> Doing:
        self._withdraw()
        self.ledger.passes += 1
        yield Restart()

    def _complete(self, _: int) -> Doing:
        if self._window:
            raise BrokenAssumption(
                f"{len(self._window)} samples are held at the end: please report"
            )
        yield from self._close(0)

    def _close(self, _: int) -> Doing:
        self._ended = True
        yield from ()

    def _leave_early(self, origin: int) -> Doing:
        if not self.state.stopped:
            self._result = peer_stopped(origin, step=self.state.steps)
        yield from self._close(0)

    def _fail(self, origin: int) -> Doing:
        if self.state.failed:
            self._failure = self._failure or Failure.dry(self._rank)
        text = self._failure.text if self._failure else ""
        try:
            shared = cast(bytes, (yield Share(text.encode(), origin))).decode(errors="replace")
        except CollectiveFailed as error:
            shared = f"its message did not arrive: {error}"
        told = peer_failed(origin, step=self.state.steps, text=shared)
        self._result = self._failure.error if self._failure else told
        yield from self._close(0)

    def _withdraw(self) -> None:
        """Count what was read and will not be delivered."""
        owed = self.state.lost + self.state.owed_samples
        self.ledger.withdrawn += len(self._window) + len(self._pending) + owed
        self._window = []
        self._pending.clear()
