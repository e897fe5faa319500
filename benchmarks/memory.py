"""Memory of a tree of processes, as Linux accounts for it.

Rule kept here: a page that k processes share counts 1/k for each (PSS), so the sum over a tree
counts shared tensors and libraries once. Weakness: pages shared with the process that forked the
tree are partly counted there, for all kinds alike; memory in flight that nobody has mapped is not
seen.
"""

from __future__ import annotations

import threading
from pathlib import Path
from types import TracebackType

# Reading it takes milliseconds for a process that has loaded torch.
INTERVAL_S = 0.1

PROC = Path("/proc")


def descendants(root: int) -> list[int]:
    """Process ids below `root`, without it; empty where /proc does not exist."""
    parents: dict[int, list[int]] = {}
    for stat in PROC.glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue
        # "pid (name) state parent ...": the name may hold spaces and parentheses.
        parent = int(text.rpartition(")")[2].split()[1])
        parents.setdefault(parent, []).append(int(stat.parent.name))
    found: list[int] = []
    todo = [root]
    while todo:
        children = parents.get(todo.pop(), [])
        found += children
        todo += children
    return found


def proportional_bytes(pid: int) -> int:
    """PSS of one process; 0 if it has gone."""
    try:
        text = (PROC / str(pid) / "smaps_rollup").read_text()
    except OSError:
        return 0
    line = next((line for line in text.splitlines() if line.startswith("Pss:")), "Pss: 0 kB")
    return int(line.split()[1]) * 1024


class MemoryWatch:
    """Samples the memory below `root` while it is open; `peak_bytes` is the largest sum seen."""

    def __init__(self, root: int, *, active: bool) -> None:
        self.peak_bytes = 0
        self._root = root
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True) if active else None

    def __enter__(self) -> MemoryWatch:
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(INTERVAL_S):
            total = sum(map(proportional_bytes, descendants(self._root)))
            self.peak_bytes = max(self.peak_bytes, total)
