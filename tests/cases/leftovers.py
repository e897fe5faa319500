"""What a process holds: children, threads, descriptors, shared memory."""

from __future__ import annotations

import os
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

TRACKER = "resource_tracker"
LIMIT_S = 10.0


@dataclass(frozen=True, kw_only=True)
class Held:
    """children: pids. threads: names. descriptors: what they point to, counted by kind.
    segments: shared-memory files that are mapped here or named after this process or a child."""

    children: tuple[int, ...]
    threads: tuple[str, ...]
    descriptors: dict[str, int]
    segments: tuple[str, ...]


def leftovers() -> Held:
    """What this process holds now.

    The thread that feeds a queue of `multiprocessing` ends by itself after the queue was closed,
    a moment later; it is waited for, so that a loaded machine does not look like a leak.
    """
    for thread in threading.enumerate():
        if thread.name == "QueueFeederThread":
            thread.join(LIMIT_S)
    children = _children()
    return Held(
        children=children,
        threads=tuple(sorted(each.name for each in threading.enumerate())),
        descriptors=_descriptors(),
        segments=_segments((os.getpid(), *children)),
    )


def _children() -> tuple[int, ...]:
    """All but Python's own tracker of semaphores, of which a process has one for its life."""
    threads = Path("/proc/self/task").iterdir()
    pids = [pid for thread in threads for pid in _children_of(thread)]
    return tuple(sorted(pid for pid in pids if TRACKER not in _command(pid)))


def _children_of(thread: Path) -> list[int]:
    """Those that a thread started; none of one that ended since it was listed, for its children
    are another thread's then."""
    try:
        return [int(pid) for pid in (thread / "children").read_text().split()]
    except FileNotFoundError:
        return []


def _command(pid: int) -> str:
    """Its command line; empty for one that has ended and waits to be reaped, which is a child."""
    return Path(f"/proc/{pid}/cmdline").read_text()


def _descriptors() -> dict[str, int]:
    kinds: Counter[str] = Counter()
    for descriptor in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{descriptor}")
        except FileNotFoundError:  # the descriptor of this very listing
            continue
        kinds[target.split(":")[0]] += 1
    return dict(sorted(kinds.items()))


def _segments(pids: tuple[int, ...]) -> tuple[str, ...]:
    lines = Path("/proc/self/maps").read_text().splitlines()
    mapped = [line.split(maxsplit=5)[-1] for line in lines if "/dev/shm" in line]
    named = [
        path.name
        for path in Path("/dev/shm").iterdir()
        if any(str(pid) in path.name.split("_") for pid in pids)
    ]
    return tuple(sorted(mapped + named))
