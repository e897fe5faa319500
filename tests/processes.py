"""Runs one function on W real processes over Gloo, and never waits for ever.

    results = run_ranks(target, world_size=2, args_per_rank=[10, 20])
    assert values_of(results) == [100, 400]

`target(rank, world_size, arg)` is a module-level function of a test module; each rank starts it
after `init_process_group("gloo")`. Rules of this file:

1. Every wait has a deadline. When it passes, each rank writes the stacks of its threads, dies,
   and the caller gets `RanksHung` with all of them.
2. A rank that raises is a result (`RankResult.error`), as is one that is killed: the tests of
   aligned failure ask what *each* rank saw.
3. Nothing outlives the call: every rank leads its own process group, which is killed at the end.

`start_method="spawn"` starts a fresh interpreter per rank. `"fork"` forks each rank from a server
that has imported torch and run nothing: the same fork, but free of what earlier tests left in
pytest's process (autograd threads, OpenMP pools), which a plain fork would copy half of. Inside a
rank the method is the default of `multiprocessing`, so DataLoader workers start by it too.

With `pytest --traces FOLDER` every loader of every rank writes its traces there
(`tests/tracing.py`), to be replayed against the table by `python -m dgap.proofs replay`.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from tests.rank_process import RankError, Setup, StartMethod, Target, rank_main
from tests.tracing import new_trace_folder

__all__ = [
    "START_METHODS",
    "RankError",
    "RankResult",
    "RanksHung",
    "StartMethod",
    "run_ranks",
    "values_of",
]

START_METHODS: tuple[StartMethod, ...] = ("spawn", "fork")

# A rank that was told to dump its stacks and die, or that has sent its result, needs no longer.
EXIT_TIMEOUT_S = 10.0


@dataclass(frozen=True, kw_only=True)
class RankResult:
    """One rank's outcome: `value` if `error` is None. `output` is all it wrote to fd 1 and 2."""

    rank: int
    value: Any = None
    error: RankError | None = None
    output: str = ""


class RanksHung(AssertionError):
    """Some ranks were still running at the deadline; the message holds every rank's stacks."""


def run_ranks(
    target: Target,
    *,
    world_size: int,
    start_method: StartMethod = "spawn",
    args_per_rank: Sequence[Any] | None = None,
    timeout_s: float = 60.0,
    init_group: bool = True,
    collective_timeout_s: float = 30.0,
    killed: bool = False,
) -> list[RankResult]:
    """Runs `target(rank, world_size, args_per_rank[rank])` on each rank; results in rank order.

    `timeout_s` bounds the whole call. `init_group=False` leaves torch.distributed alone. Without
    `args_per_rank` the third argument is None. `killed` says that a rank dies on the way, so
    that traces may be cut off. Raises `RanksHung` after the deadline.
    """
    args = [None] * world_size if args_per_rank is None else list(args_per_rank)
    if len(args) != world_size:
        raise ValueError(f"{len(args)} arguments for {world_size} ranks: give one per rank")
    deadline = time.monotonic() + timeout_s
    with tempfile.TemporaryDirectory(prefix="ranks-") as folder:
        setup = Setup(
            world_size=world_size,
            folder=folder,
            start_method=start_method,
            init_group=init_group,
            collective_timeout_s=collective_timeout_s,
            trace_folder=new_trace_folder(f"{target.__name__}-{start_method}", killed=killed),
        )
        ranks: list[_Rank] = []
        try:
            for rank in range(world_size):
                ranks.append(_start(setup, rank, target, args[rank]))
            _collect(ranks, deadline)
            hung = [each for each in ranks if each.running()]
            if hung:
                raise RanksHung(_describe_hang(ranks, hung, timeout_s))
            return [each.result() for each in ranks]
        finally:
            for each in ranks:
                each.kill()


def values_of(results: Sequence[RankResult]) -> list[Any]:
    """The values in rank order; raises AssertionError with every traceback if a rank failed."""
    failures = [
        f"rank {each.rank}: {each.error.type_name}: {each.error.message}\n"
        f"{each.error.traceback}{each.output}"
        for each in results
        if each.error is not None
    ]
    if failures:
        raise AssertionError("\n".join(failures))
    return [each.value for each in results]


@dataclass(kw_only=True)
class _Rank:
    """A started rank as the parent sees it. `outcome` is (value, error) once it has arrived."""

    rank: int
    process: Any
    reader: Connection
    exit_fd: int
    log: Path
    outcome: tuple[Any, RankError | None] | None = None

    def running(self) -> bool:
        return not wait([self.exit_fd], timeout=0)

    def receive(self) -> None:
        """Takes the outcome if it is there; a closed pipe without one means the rank died."""
        if self.outcome is None and self.reader.poll():
            try:
                self.outcome = pickle.loads(self.reader.recv_bytes())
            except EOFError:
                return

    def result(self) -> RankResult:
        self.receive()
        self.process.join(EXIT_TIMEOUT_S)
        output = self.log.read_text(errors="replace")
        value, error = (None, None) if self.outcome is None else self.outcome
        if error is None and (self.outcome is None or self.process.exitcode != 0):
            after = "without a result" if self.outcome is None else "after it had returned"
            message = f"ended with exit code {self.process.exitcode} {after}"
            error = RankError(type_name="ProcessDied", message=message)
        return RankResult(rank=self.rank, value=value, error=error, output=output)

    def kill(self) -> None:
        """Kills the rank and all that it started; then releases what the parent holds."""
        for send in (os.killpg, os.kill):  # the group exists once the rank has made it
            try:
                send(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.join(EXIT_TIMEOUT_S)
        os.close(self.exit_fd)
        self.reader.close()


def _start(setup: Setup, rank: int, target: Target, arg: Any) -> _Rank:
    context: Any = multiprocessing.get_context("spawn")
    if setup.start_method == "fork":
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["torch", "torch.distributed", "torch.utils.data"])
    reader, writer = context.Pipe(duplex=False)
    log = setup.log_path(rank)
    log.touch()
    process = context.Process(target=rank_main, args=(setup, rank, target, arg, writer))
    process.start()
    writer.close()
    return _Rank(
        rank=rank,
        process=process,
        reader=reader,
        # Fires at the exit of exactly this process. The process's own sentinel is a pipe that
        # its DataLoader workers inherit and hold open for as long as they live.
        exit_fd=os.pidfd_open(process.pid),
        log=log,
    )


def _collect(ranks: Sequence[_Rank], deadline: float) -> None:
    """Receives outcomes until every rank has exited, or the deadline has passed.

    A large outcome must be read while its sender still runs, or the sender blocks on the pipe.
    """
    waiting = {each.exit_fd: each for each in ranks}
    unread = {each.reader: each for each in ranks}
    while waiting:
        remaining_s = deadline - time.monotonic()
        ready = wait([*waiting, *unread], timeout=max(0.0, remaining_s))
        if not ready:
            return
        for source in ready:
            if isinstance(source, int):
                del waiting[source]
            elif isinstance(source, Connection):
                unread.pop(source).receive()


def _describe_hang(ranks: Sequence[_Rank], hung: Sequence[_Rank], timeout_s: float) -> str:
    """Makes the hung ranks write their stacks and die, and puts all ranks' output together."""
    for each in hung:
        os.kill(each.process.pid, signal.SIGUSR1)  # see `tests/rank_process.py`: dumps, then dies
    for each in hung:
        wait([each.exit_fd], timeout=EXIT_TIMEOUT_S)
    names = ", ".join(str(each.rank) for each in hung)
    parts = [f"after {timeout_s:g} s rank(s) {names} of {len(ranks)} were still running"]
    for each in ranks:
        state = "hung, its stacks follow" if each in hung else f"ended: {each.outcome}"
        parts.append(f"--- rank {each.rank} ({state})\n{each.log.read_text(errors='replace')}")
    return "\n".join(parts)
