"""Collectives over torch.distributed: an own Gloo group for the ranks that share the data.

Rules kept here:
1. One group per loader for its life, made at the first batch, in the same order on all ranks.
   The job's own group may be NCCL, Gloo or anything; it is used only to make ours.
2. A wait is cut into slices; between two slices the peers' signs of life are looked at, so a
   pause is no fault and a dead peer is named. A closed connection is noticed at once.
3. After a failure the group is given up, so that the failure reaches every survivor (L3).
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from datetime import timedelta

import torch
import torch.distributed as dist

from dgap.protocol.errors import CollectiveFailed, ConfigError

from .liveness import Liveness, Store, open_store
from .transport import AloneTransport, Transport

NO_LIMIT = timedelta(days=3650)
"""Gloo's own time limit would kill a group whose loop merely pauses; signs of life decide."""

ADDRESS_SIZE = 256
"""Bytes for "host:port" in the exchange that opens the store."""


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
    """Gloo among the given global ranks; `rank` counts within them."""

    def __init__(self, ranks: Sequence[int], *, timeout_s: float) -> None:
        self._ranks = list(ranks)
        self.rank = self._ranks.index(dist.get_rank())
        self.world_size = len(self._ranks)
        self._slice = timedelta(seconds=timeout_s / 5)
        self._liveness: Liveness | None = None
        self.closed = False
        self._group = dist.new_group(
            self._ranks, backend="gloo", timeout=NO_LIMIT, use_local_synchronization=True
        )
        self._liveness = Liveness(
            self._open_store(timeout_s),
            rank=self.rank,
            world_size=self.world_size,
            timeout_s=timeout_s,
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
        count = int(size.item())
        own = payload if self.rank == origin else bytes(count)
        content = torch.frombuffer(bytearray(own), dtype=torch.uint8) if count else None
        if content is None:
            return b""
        self._complete(lambda: dist.broadcast(content, source, group=self._group, async_op=True))
        return content.numpy().tobytes()

    def close(self) -> None:
        """See `Transport.close`. A second call does nothing."""
        if self.closed:
            return
        self.closed = True
        if self._liveness is not None:
            self._liveness.close()
        if dist.is_initialized():
            dist.destroy_process_group(self._group)

    def _complete(self, start: Callable[[], dist.Work | None]) -> None:
        if self.closed:
            raise CollectiveFailed(f"rank {self.rank}: the connections were given up")
        try:
            work = start()
            while work is not None and not self._wait(work):
                silent = self._liveness.silent_peers() if self._liveness else ()
                if silent:
                    raise CollectiveFailed(
                        f"rank {self.rank}: no sign of life from rank(s) "
                        f"{', '.join(map(str, silent))}; their process or host is gone",
                        ranks=silent,
                    )
        except CollectiveFailed:
            self.close()
            raise
        except RuntimeError as error:
            self.close()
            raise CollectiveFailed(
                f"rank {self.rank}: a peer closed its connection; look at the other ranks' "
                f"logs for the first error ({error})"
            ) from error

    def _wait(self, work: dist.Work) -> bool:
        """Whether the collective is complete, after one slice at most."""
        try:
            work.wait(self._slice)
        except RuntimeError:
            if work.is_completed():
                raise
            return False
        return True

    def _open_store(self, timeout_s: float) -> Store:
        hosts = [self._address(socket.gethostname(), origin) for origin in range(self.world_size)]
        store = open_store(None, timeout_s=timeout_s) if self.rank == 0 else None
        port = int(self.share(str(store.port if store else 0).encode(), 0))
        host = "localhost" if len(set(hosts)) == 1 else hosts[0]
        return store or open_store((host, port), timeout_s=timeout_s)

    def _address(self, host: str, origin: int) -> str:
        return self.share(host.encode(), origin).decode()
