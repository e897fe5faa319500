"""One run in isolation: W rank processes, forked for it and gone after it.

Rules kept here:
1. Each run has fresh processes, so no run inherits another's workers, threads or memory. They
   are forked from one process that has imported torch, so no run pays for the import.
2. CPU time is the kernel's own count for all processes of the run, workers and theirs included:
   orphans are adopted and waited for.
3. A run has a time limit. Whatever is left of it then is ended, and the run counts as failed,
   with a reason; it never becomes a number.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import resource
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Generic, TypeVar

import torch
import torch.distributed as dist

from .memory import MemoryWatch, descendants

Answer = TypeVar("Answer")
Work = Callable[[int], Answer]
"""What a rank does: a function of its rank. The answer is sent back pickled."""

GROUP_TIMEOUT = timedelta(seconds=120)
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of prctl(2)
END_WAIT_S = 5.0


@dataclass(frozen=True, kw_only=True)
class Cell(Generic[Answer]):
    """What a run left: the answers by rank (none if it failed) and what it cost."""

    answers: tuple[Answer, ...]
    cpu_s: float
    """User and system time of all its processes, from their start to their end."""
    peak_bytes: int
    """Largest sum of proportional set sizes seen; 0 if memory was not watched."""
    failure: str = ""


def run_cell(
    work: Work[Answer],
    world_size: int,
    *,
    timeout_s: float,
    watch_memory: bool = False,
    environment: dict[str, str] | None = None,
) -> Cell[Answer]:
    """Run `work(rank)` in `world_size` processes with a Gloo group (none for one rank).

    Watching memory costs CPU time: take speed from runs without it.
    """
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    torch.set_num_threads(1)
    others = frozenset(descendants(os.getpid()))
    context = multiprocessing.get_context("fork")
    before_s = _children_cpu_s()
    with tempfile.TemporaryDirectory() as folder:
        pipes = [context.Pipe(duplex=False) for _ in range(world_size)]
        processes = [
            context.Process(
                target=_rank_main,
                args=(work, rank, world_size, Path(folder), pipes[rank][1], environment or {}),
            )
            for rank in range(world_size)
        ]
        for process in processes:
            process.start()
        for _, sender in pipes:
            sender.close()
        with MemoryWatch(os.getpid(), active=watch_memory) as watch:
            received: list[list[Answer] | str] = _receive(
                [reader for reader, _ in pipes], timeout_s
            )
            _join(processes)
    _end_descendants(others)
    ctypes.CDLL(None).prctl(SUBREAPER, 0, 0, 0, 0)
    failures = [text for text in received if isinstance(text, str)]
    return Cell(
        answers=() if failures else tuple(each[0] for each in received if isinstance(each, list)),
        cpu_s=_children_cpu_s() - before_s,
        peak_bytes=watch.peak_bytes,
        failure="; ".join(failures),
    )


def _receive(readers: list[Connection], timeout_s: float) -> list[list[Answer] | str]:
    """Per rank its answer in a list, or what went wrong as text."""
    deadline_s = time.monotonic() + timeout_s
    received: dict[int, list[Answer] | str] = {}
    pending = {reader: rank for rank, reader in enumerate(readers)}
    while pending:
        ready = wait(list(pending), max(0.0, deadline_s - time.monotonic()))
        if not ready:
            break
        for reader in ready:
            if isinstance(reader, Connection):
                rank = pending.pop(reader)
                try:
                    received[rank] = reader.recv()
                except EOFError:
                    received[rank] = f"rank {rank} ended without an answer"
    for rank in pending.values():
        received[rank] = f"rank {rank} did not end within {timeout_s:g} s"
    return [received[rank] for rank in range(len(readers))]


def _rank_main(
    work: Work[Answer],
    rank: int,
    world_size: int,
    folder: Path,
    sender: Connection,
    environment: dict[str, str],
) -> None:
    os.environ.update({"GLOO_SOCKET_IFNAME": "lo"} | environment)
    if world_size > 1:
        dist.init_process_group(
            "gloo",
            init_method=f"file://{folder / 'rendezvous'}",
            rank=rank,
            world_size=world_size,
            timeout=GROUP_TIMEOUT,
        )
    try:
        answer: list[Answer] | str = [work(rank)]
    except Exception as error:
        answer = f"rank {rank}: {type(error).__name__}: {error}"
    sender.send(answer)
    if world_size > 1 and not isinstance(answer, str):
        dist.destroy_process_group()


def _join(processes: Sequence[BaseProcess]) -> None:
    deadline_s = time.monotonic() + END_WAIT_S
    for process in processes:
        process.join(max(0.0, deadline_s - time.monotonic()))
        if process.is_alive():
            process.kill()
            process.join()


def _end_descendants(others: frozenset[int]) -> None:
    """End and reap whatever the run has left below this process; `others` are not of the run."""
    for pid in descendants(os.getpid()):
        if pid not in others:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    for pid in descendants(os.getpid()):
        if pid not in others:
            # Somebody else's child once its parent has ended: then it is ours, by the reaper.
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _children_cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
