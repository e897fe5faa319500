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
import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta

import torch
import torch.distributed as dist

from dgap.protocol.errors import CollectiveFailed, ConfigError

from .liveness import Liveness
from .rendezvous import Gloo, come_together
from .transport import AloneTransport, Transport

SLICE_S = 1.0
"""A wait looks up so often, to see whether the transport was closed by another thread."""


OPEN: set[TorchTransport] = set()
"""Transports that nobody closed yet. A loader that is dropped unclosed waits for the cycle
collector; were its Gloo group collected in a worker forked meanwhile, the destructor would join
threads that are not there, and crash. So only `close` destroys a group."""


def open_transport(group: dist.ProcessGroup | None, *, timeout_s: float) -> Transport:
    """The transport among the ranks of `group` (None: all ranks of the job).

    Without an initialised process group the rank is alone. Collective over the ranks of `group`.
    Raises CollectiveFailed if the ranks do not come together.
    """
    if group_place(group)[1] == 1:
        return AloneTransport()
    return TorchTransport(group, timeout_s=timeout_s)


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
    """Gloo among the ranks of a group (None: all ranks of the job); `rank` counts within it.

    Methods but `close` are for one thread at a time; `close` is for any, at any time.
    """

    def __init__(self, group: dist.ProcessGroup | None, *, timeout_s: float) -> None:
        """Collective. Raises CollectiveFailed if the ranks do not come within `timeout_s`."""
        self.rank, self.world_size = group_place(group)
        self.closed = False
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._under_way = False
        store, gloo = come_together(
            group, rank=self.rank, world_size=self.world_size, timeout_s=timeout_s
        )
        self._gloo: Gloo | None = gloo
        OPEN.add(self)
        self._liveness = Liveness(
            store, rank=self.rank, world_size=self.world_size, timeout_s=timeout_s
        )

    def gather(self, words: Sequence[int]) -> list[list[int]]:
        """See `Transport.gather`."""
        own = torch.tensor(words, dtype=torch.int64)
        rows = [torch.empty_like(own) for _ in range(self.world_size)]
        self._complete(lambda gloo: gloo.allgather([rows], [own]))
        return [row.tolist() for row in rows]

    def total(self, words: Sequence[int]) -> list[int]:
        """See `Transport.total`."""
        sums = torch.tensor(words, dtype=torch.int64)
        self._complete(lambda gloo: gloo.allreduce([sums]))
        result: list[int] = sums.tolist()
        return result

    def share(self, payload: bytes, origin: int) -> bytes:
        """See `Transport.share`."""
        size = torch.tensor([len(payload)], dtype=torch.int64)
        self._complete(lambda gloo: gloo.broadcast(size, origin))
        content = bytearray(payload if self.rank == origin else int(size.item()))
        if content:
            view = torch.frombuffer(content, dtype=torch.uint8)
            self._complete(lambda gloo: gloo.broadcast(view, origin))
        return bytes(content)

    def close(self) -> None:
        """See `Transport.close`. A second call does nothing; blocks for a moment at most."""
        with self._lock:
            if self.closed:
                return
            self.closed = True
            OPEN.discard(self)
            gloo, self._gloo = self._gloo, None
            if self._under_way:
                keep_for_ever(gloo)
        self._liveness.close()

    def _complete(self, start: Callable[[Gloo], dist.Work]) -> None:
        try:
            with self._lock:
                work = start(self._open_connections())
                self._under_way = True
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
        looked_s = time.monotonic()
        while not wait_for(work, timedelta(seconds=min(SLICE_S, interval_s))):
            self._open_connections()
            now_s = time.monotonic()
            if now_s - looked_s >= interval_s:
                looked_s = now_s
                self._refuse_if_silent(self._liveness.silent_peers())

    def _open_connections(self) -> Gloo:
        gloo = self._gloo
        if gloo is None:
            raise CollectiveFailed(f"rank {self.rank}: the connections were given up")
        return gloo

    def _refuse_if_silent(self, peers: tuple[int, ...]) -> None:
        if peers:
            raise CollectiveFailed(
                f"rank {self.rank}: no sign of life from rank(s) {', '.join(map(str, peers))}; "
                "their process or host is gone",
                ranks=peers,
            )


def wait_for(work: dist.Work, wait: timedelta) -> bool:
    """Whether the collective is complete, after `wait` at most. Raises what went wrong in it."""
    try:
        work.wait(wait)
    except RuntimeError:
        if not work.is_completed():
            return False
        work.wait()  # complete by now, perhaps only since the time was up: a second, final answer
    return True


def keep_for_ever(group: object) -> None:
    """Never run this object's destructor: one reference is taken and not given back."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(group))
