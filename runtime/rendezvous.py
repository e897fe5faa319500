"""How the ranks of a loader come together: a store of their own, and a Gloo group over it.

Rules kept here:
1. The job's own group is asked for one thing, once: where the first rank's store is.
2. Nothing is shared with other groups. `torch.distributed.new_group` is not used: with local
   synchronisation it names a group after the number of groups alive on this rank, so that a
   loader made after another was closed meets the dead group's addresses in the job's store, and
   ranks that are members of different numbers of groups never meet at all.
3. Coming together has a time limit; what comes after has none (liveness.py decides).
"""

from __future__ import annotations

import socket
import threading
from datetime import timedelta
from typing import Any, Protocol, cast

import torch
import torch.distributed as dist
from torch.distributed import PrefixStore, TCPStore  # type: ignore[attr-defined]  # public

from dgap.protocol.errors import CollectiveFailed

from .liveness import STORE_HOST, open_store

NO_LIMIT = timedelta(days=3650)
"""Gloo's own time limit would kill a group whose loop merely pauses; signs of life decide."""


class Gloo(Protocol):
    """The methods of `torch.distributed.ProcessGroupGloo` that its type stub leaves out."""

    def allgather(self, rows: list[list[torch.Tensor]], own: list[torch.Tensor]) -> dist.Work:
        """Start to gather `own[0]` of each rank into `rows[0]`."""

    def allreduce(self, sums: list[torch.Tensor]) -> dist.Work:
        """Start to sum `sums[0]` over the ranks, in place."""

    def broadcast(self, content: torch.Tensor, root: int) -> dist.Work:
        """Start to copy `content` of rank `root` to all ranks."""


def come_together(
    group: dist.ProcessGroup | None, *, rank: int, world_size: int, timeout_s: float
) -> tuple[TCPStore, Gloo]:
    """A store and a Gloo group of the ranks of `group` (None: all). Collective.

    Raises CollectiveFailed if a rank does not come within `timeout_s`, or the connections fail.
    It waits in a thread, which is left behind if a rank never comes.
    """
    device = torch.cuda.current_device() if torch.cuda.is_initialized() else None
    opened: list[tuple[TCPStore, Gloo] | Exception] = []

    def connect() -> None:
        try:
            if device is not None:
                torch.cuda.set_device(device)  # the current device belongs to a thread
            store = _open_store(group, rank=rank, world_size=world_size, timeout_s=timeout_s)
            opened.append((store, _open_gloo(store, rank, world_size)))
        except Exception as error:
            opened.append(error)

    thread = threading.Thread(target=connect, name="dgap-rendezvous", daemon=True)
    thread.start()
    thread.join(timeout_s)
    if not opened:
        raise CollectiveFailed(
            f"rank {rank}: not all ranks asked for their first batch within {timeout_s:g} s; look "
            "at the other ranks' logs, let all ranks iterate, or raise timeout_s"
        )
    if isinstance(opened[0], Exception):
        raise CollectiveFailed(
            f"rank {rank}: the ranks cannot connect ({opened[0]}); look at the other ranks' logs, "
            "and see that the ranks' host names resolve on all hosts"
        ) from opened[0]
    return opened[0]


def _open_store(
    group: dist.ProcessGroup | None, *, rank: int, world_size: int, timeout_s: float
) -> TCPStore:
    """Hosted by one rank on a free port, whose number the others hear over the job's own group."""
    hosted = open_store(None, timeout_s=timeout_s) if rank == STORE_HOST else None
    own = (socket.gethostname(), hosted.port if hosted else 0)
    places: list[Any] = [None] * world_size
    dist.all_gather_object(places, own, group=group)
    host, port = places[STORE_HOST]
    alike = all(each == host for each, _ in places)
    return hosted or open_store(("localhost" if alike else host, port), timeout_s=timeout_s)


def _open_gloo(store: TCPStore, rank: int, world_size: int) -> Gloo:
    group = dist.ProcessGroupGloo(PrefixStore("gloo", store), rank, world_size, NO_LIMIT)
    return cast(Gloo, group)
