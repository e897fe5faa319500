"""Running checks: in parallel, each with a limit, and nothing counted that did not pass.

Rules kept here:
1. A check that raises, dies or takes too long is unknown; one that was never run is skipped.
2. Success is: at least one check, and every check gave the verdict expected of it.
3. No check waits for ever: each has a limit, and so has the whole run.

Workers are forked, since checks are closures. One takes checks from the front of the list and
the next from its back, so that those which share what they build stay in one process.
"""

from __future__ import annotations

import multiprocessing
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from multiprocessing.connection import Connection, wait
from typing import Any

from .check import Check, Outcome, Reach, Verdict

CHECK_LIMIT_S = 150.0
RUN_LIMIT_S = 900.0
WORKER_COUNT = 2


class Standing(StrEnum):
    """How a result counts."""

    VERIFIED = "verified"
    REFUTED = "refuted"
    UNKNOWN = "unknown"
    SKIPPED = "skipped"


@dataclass(frozen=True, kw_only=True)
class Result:
    """A check that was run, or skipped where `outcome` is None."""

    check: Check
    outcome: Outcome | None
    seconds: float = 0.0

    @property
    def standing(self) -> Standing:
        """VERIFIED where the verdict is the expected one; a control must be refuted."""
        if self.outcome is None:
            return Standing.SKIPPED
        if self.outcome.verdict == Verdict.UNKNOWN:
            return Standing.UNKNOWN
        expected = self.outcome.verdict == self.check.expected
        return Standing.VERIFIED if expected else Standing.REFUTED

    @property
    def verdict(self) -> str:
        """The verdict in words, and whether a refutation was expected."""
        if self.outcome is None:
            return "skipped"
        if self.check.expected != Verdict.REFUTED:
            return str(self.outcome.verdict)
        found = self.outcome.verdict == Verdict.REFUTED
        return "refuted as expected" if found else f"{self.outcome.verdict}, not refuted"

    @property
    def reach(self) -> str:
        """How far the verdict reaches."""
        bounded = self.check.reach == Reach.EXHAUSTIVE
        return f"{self.check.reach} {self.check.scope}" if bounded else str(self.check.reach)


def passed(results: Sequence[Result]) -> bool:
    """At least one check, and all of them verified."""
    return bool(results) and all(each.standing == Standing.VERIFIED for each in results)


def summary(results: Sequence[Result], seconds: float) -> str:
    """The last line of a run."""
    count = {s: sum(each.standing == s for each in results) for s in Standing}
    return (
        f"verified: {count[Standing.VERIFIED]} checks, {count[Standing.REFUTED]} refuted, "
        f"{count[Standing.UNKNOWN]} unknown, {count[Standing.SKIPPED]} skipped, {seconds:.0f} s"
    )


def run_check(check: Check) -> Result:
    """Run one check here. Whatever it raises makes it unknown, with the traceback as trace."""
    started = time.perf_counter()
    try:
        outcome = check.run()
    except Exception as error:  # a check that raises has an answer: unknown
        lines = tuple("".join(traceback.format_exception(error)).splitlines())
        outcome = Outcome(verdict=Verdict.UNKNOWN, detail=f"raised {error!r}", trace=lines)
    return Result(check=check, outcome=outcome, seconds=time.perf_counter() - started)


@dataclass
class _Worker:
    """A process that runs the checks whose indices it is sent."""

    process: Any
    pipe: Connection
    takes: Callable[[], int]
    index: int = -1
    deadline: float = 0.0
    usable: bool = True


@dataclass
class _Pool:
    checks: Sequence[Check]
    check_limit_s: float
    waiting: deque[int] = field(default_factory=deque)

    def start(self, takes: Callable[[], int]) -> _Worker:
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(self.checks, theirs), daemon=True)
        process.start()
        theirs.close()
        return _Worker(process=process, pipe=ours, takes=takes)

    def feed(self, worker: _Worker) -> bool:
        """Send the next check; False if there is none."""
        if not self.waiting:
            return False
        worker.index = worker.takes()
        worker.deadline = time.monotonic() + self.check_limit_s
        worker.pipe.send(worker.index)
        return True

    def receive(self, worker: _Worker) -> Result | None:
        """The worker's result, or unknown where it died or is late; None while it is busy."""
        check = self.checks[worker.index]
        if worker.pipe.poll():
            try:
                outcome, seconds = worker.pipe.recv()
                return Result(check=check, outcome=outcome, seconds=seconds)
            except EOFError:
                return _lost(worker, check, "its process died")
        if time.monotonic() >= worker.deadline:
            return _lost(worker, check, f"it took more than {self.check_limit_s:g} s")
        return None

    def go_on(self, worker: _Worker) -> _Worker | None:
        """The worker, or a fresh one in its place, with the next check; None if there is none."""
        successor = worker
        if not worker.usable:
            stop(worker)
            successor = self.start(worker.takes)
        if self.feed(successor):
            return successor
        stop(successor)
        return None


def _lost(worker: _Worker, check: Check, reason: str) -> Result:
    worker.usable = False
    return Result(check=check, outcome=Outcome(verdict=Verdict.UNKNOWN, detail=reason))


def _work(checks: Sequence[Check], pipe: Connection) -> None:
    while (index := pipe.recv()) is not None:
        result = run_check(checks[index])
        pipe.send((result.outcome, result.seconds))


def stop(worker: _Worker) -> None:
    """End a worker's process, whatever it does."""
    worker.process.kill()
    worker.process.join()
    worker.pipe.close()


def run_checks(
    checks: Sequence[Check],
    *,
    worker_count: int = WORKER_COUNT,
    check_limit_s: float = CHECK_LIMIT_S,
    run_limit_s: float = RUN_LIMIT_S,
) -> Iterator[Result]:
    """One result per check, in the order in which they are done."""
    pool = _Pool(checks, check_limit_s, deque(range(len(checks))))
    ends = (pool.waiting.popleft, pool.waiting.pop)
    end_of_run = time.monotonic() + run_limit_s
    busy = [pool.start(ends[n % 2]) for n in range(min(worker_count, len(checks)))]
    busy = [worker for worker in busy if pool.feed(worker)]
    try:
        while busy and time.monotonic() < end_of_run:
            first = min(min(worker.deadline for worker in busy), end_of_run)
            wait([worker.pipe for worker in busy], timeout=max(0.0, first - time.monotonic()))
            for worker in list(busy):
                result = pool.receive(worker)
                if result is None:
                    continue
                yield result
                busy.remove(worker)
                successor = pool.go_on(worker)
                busy += [] if successor is None else [successor]
        unfinished = [worker.index for worker in busy] + list(pool.waiting)
        yield from (Result(check=checks[index], outcome=None) for index in unfinished)
    finally:
        for worker in busy:
            stop(worker)
