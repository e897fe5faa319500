"""Collectives over torch.distributed: an own Gloo group for the ranks that share the data.

Rules kept here:
1. One group per loader for its life, made at the first batch, in the same order on all ranks.
   The job's own group may be NCCL, Gloo or anything; it is used only to make ours.
2. A wait is cut into slices; between two slices the peers' signs of life are looked at, so a
   pause is no fault and a dead peer is named. A closed connection is noticed at once.
3. After a failure the group is given up, so that the failure reaches every survivor (L3).
4. Giving up never blocks. The destructor of a Gloo group waits for the collective that is under
   way, however long; so a group with one under way is kept until the process ends.
"""

from __future__ import annotations

import ctypes
import socket
import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta

import torch
import torch.distributed as dist

from dgap.protocol.errors import CollectiveFailed, ConfigError

from .liveness import STORE_HOST, Liveness, Store, open_store
from .transport import AloneTransport, Transport

NO_LIMIT = timedelta(days=3650)
"""Gloo's own time limit would kill a group whose loop merely pauses; signs of life decide."""

SLICE_S = 1.0
"""A wait looks up so often, to see whether the transport was closed by another thread."""


def open_transport(group: dist.ProcessGroup | None, *, timeout_s: float) -> Transport:
    """The transport among the ranks of `group` (None: all ranks of the job).

    Without an initialised process group the rank is alone. Collective over the ranks of `group`.
    Raises CollectiveFailed if the ranks do not come together.
    """
    if group_place(group)[1] == 1:
        return AloneTransport()
    ranks = dist.get_process_group_ranks(group or dist.group.WORLD)
    return TorchTransport(ranks, timeout_s=timeout_s)


def group_place(group: dist.ProcessGroup | None) -> tuple[int, int]:
    """(rank, world size) within the group (None: all ranks); (0, 1) without a process group.

    Raises ConfigError if this rank is not in the group.
    """
    if not dist.is_available() or not dist.is_initialized():
        return 0, 1
    rank = dist.get_rank(group)
    if rank < 0:
        raise ConfigError(f"rank {dist.get_rank()} is not in the loader's process group")
    return rank, dist.get_world_size(group)


class TorchTransport:
    """Gloo among the given global ranks; `rank` counts within them.

    Methods but `close` are for one thread at a time; `close` is for any, at any time.
    """

    def __init__(self, ranks: Sequence[int], *, timeout_s: float) -> None:
        """Collective. Raises CollectiveFailed if the ranks do not come within `timeout_s`."""
        self._ranks = list(ranks)
        self.rank = self._ranks.index(dist.get_rank())
        self.world_size = len(self._ranks)
        self.closed = False
        self._timeout_s = timeout_s
        self._liveness: Liveness | None = None
        self._lock = threading.Lock()
        self._under_way = False
        self._group: dist.ProcessGroup | None = open_group(self._ranks, timeout_s=timeout_s)
        try:
            store = self._open_store()
        except RuntimeError as error:
            self.close()
            raise CollectiveFailed(
                f"rank {self.rank}: the store for signs of life cannot be reached ({error}); "
                "see that the ranks' host names resolve on all hosts"
            ) from error
        self._liveness = Liveness(
            store, rank=self.rank, world_size=self.world_size, timeout_s=timeout_s
        )

    def gather(self, words: Sequence[int]) -> list[list[int]]:
        """See `Transport.gather`."""
        own = torch.tensor(words, dtype=torch.int64)
        rows = [torch.empty_like(own) for _ in self._ranks]
        self._complete(lambda: dist.all_gather(rows, own, group=self._group, async_op=True))
        return [row.tolist() for row in rows]

    def total(self, words: Sequence[int]) -> list[int]:
        """See `Transport.total`."""
        sums = torch.tensor(words, dtype=torch.int64)
        self._complete(lambda: dist.all_reduce(sums, group=self._group, async_op=True))
        result: list[int] = sums.tolist()
        return result

    def share(self, payload: bytes, origin: int) -> bytes:
        """See `Transport.share`."""
        source = self._ranks[origin]
        size = torch.tensor([len(payload)], dtype=torch.int64)
        self._complete(lambda: dist.broadcast(size, source, group=self._group, async_op=True))
        content = bytearray(payload if self.rank == origin else int(size.item()))
        if content:
            view = torch.frombuffer(content, dtype=torch.uint8)
            self._complete(lambda: dist.broadcast(view, source, group=self._group, async_op=True))
        return bytes(content)

    def close(self) -> None:
        """See `Transport.close`. A second call does nothing; blocks for a moment at most."""
        with self._lock:
            if self.closed:
                return
            self.closed = True
            group, self._group = self._group, None
            if self._under_way:
                keep_for_ever(group)
        if self._liveness is not None:
            self._liveness.close()
        if dist.is_initialized():
            dist.destroy_process_group(group)

    def _complete(self, start: Callable[[], dist.Work | None]) -> None:
        try:
            with self._lock:
                self._refuse_if_closed()
                work = start()
                self._under_way = work is not None
            if work is not None:
                self._wait(work)
        except CollectiveFailed:
            self.close()
            raise
        except RuntimeError as error:
            self._under_way = False
            self.close()
            raise CollectiveFailed(
                f"rank {self.rank}: a peer closed its connection; look at the other ranks' "
                f"logs for the first error ({error})"
            ) from error
        self._under_way = False

    def _wait(self, work: dist.Work) -> None:
        """Until the collective is complete, raises, or a peer is found to be gone."""
        interval_s = self._timeout_s / 5
        started_s = looked_s = time.monotonic()
        while not wait_for(work, timedelta(seconds=min(SLICE_S, interval_s))):
            self._refuse_if_closed()
            now_s = time.monotonic()
            if self._liveness is None:
                if now_s - started_s > self._timeout_s:
                    raise not_together(self.rank, self._timeout_s)
            elif now_s - looked_s >= interval_s:
                looked_s = now_s
                self._refuse_if_silent(self._liveness.silent_peers())

    def _refuse_if_closed(self) -> None:
        if self.closed:
            raise CollectiveFailed(f"rank {self.rank}: the connections were given up")

    def _refuse_if_silent(self, peers: tuple[int, ...]) -> None:
        if peers:
            raise CollectiveFailed(
                f"rank {self.rank}: no sign of life from rank(s) {', '.join(map(str, peers))}; "
                "their process or host is gone",
                ranks=peers,
            )

    def _open_store(self) -> Store:
        hosts = [self._address(socket.gethostname(), origin) for origin in range(self.world_size)]
        store = open_store(None, timeout_s=self._timeout_s) if self.rank == STORE_HOST else None
        port = int(self.share(str(store.port if store else 0).encode(), STORE_HOST))
        host = "localhost" if len(set(hosts)) == 1 else hosts[STORE_HOST]
        return store or open_store((host, port), timeout_s=self._timeout_s)

    def _address(self, host: str, origin: int) -> str:
        return self.share(host.encode(), origin).decode()


def wait_for(work: dist.Work, wait: timedelta) -> bool:
    """Whether the collective is complete, after `wait` at most. Raises what went wrong in it."""
    try:
        work.wait(wait)
    except RuntimeError:
        if not work.is_completed():
            return False
        work.wait()  # complete by now, perhaps only since the time was up: a second, final answer
    return True


def open_group(ranks: list[int], *, timeout_s: float) -> dist.ProcessGroup:
    """A Gloo group of these ranks. Raises CollectiveFailed if they do not come in time.

    Its own time limit would also be that of every collective; so it is opened without one, in a
    thread that is left behind if a rank never comes.
    """
    opened: list[dist.ProcessGroup | Exception] = []

    def connect() -> None:
        try:
            group = dist.new_group(
                ranks, backend="gloo", timeout=NO_LIMIT, use_local_synchronization=True
            )
        except Exception as error:
            opened.append(error)
        else:
            opened.append(group)

    thread = threading.Thread(target=connect, name="dgap-rendezvous", daemon=True)
    thread.start()
    thread.join(timeout_s)
    rank = dist.get_rank()
    if not opened:
        raise not_together(rank, timeout_s)
    if isinstance(opened[0], Exception):
        raise CollectiveFailed(f"rank {rank}: the ranks cannot connect") from opened[0]
    return opened[0]


def not_together(rank: int, timeout_s: float) -> CollectiveFailed:
    """A peer did not come to the first batch in time."""
    return CollectiveFailed(
        f"rank {rank}: not all ranks asked for their first batch within {timeout_s:g} s; look at "
        "the other ranks' logs, let all ranks iterate, or raise timeout_s"
    )


def keep_for_ever(group: object) -> None:
    """Never run this object's destructor: one reference is taken and not given back."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(group))
