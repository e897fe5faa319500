"""`DynamicBatchLoader`: what a training script imports.

Rules kept here:
1. Every setting is checked in the constructor; nothing starts before the first `next()`.
2. It is a `torch.utils.data.DataLoader` to those who ask, and composes a plain one for the work.
3. One epoch at a time: a new one ends the one before, on all ranks alike.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.utils.data import DataLoader, Dataset, Sampler

from dgap.protocol.errors import CollectiveFailed, ConfigError
from dgap.protocol.machine import Machine

from .arguments import build_config, check_arguments
from .assembly import new_engine
from .chunks import ChunkDataset, Sample, shared_chunks
from .farewell import LEAVE_WAIT_S, close_at_exit
from .intake import Intake, Truncate
from .ledger import Ledger
from .sample import CostFunction, TargetFunction, default_cost, default_target_count, measure
from .sampler import ShardingSampler
from .session import Session
from .source import Source, as_is
from .step import Step, map_tensors
from .torch_transport import group_place, open_transport
from .transport import Transport

Collate = Callable[[list[Any]], Any]


def group_of(members: dist.ProcessGroup | DeviceMesh | None) -> dist.ProcessGroup | None:
    """The group of a one-dimensional mesh; anything else as it is."""
    return members.get_group() if isinstance(members, DeviceMesh) else members


class DynamicBatchLoader(DataLoader[Any]):
    """Batches formed online by true token cost; every rank takes the same number of steps.

    Args:
        dataset: map-style. Samples may be anything if `cost_fn` is given; without it they have
            `input_ids` of shape [L] or [1, L].
        collate_fn: list of samples to a batch. Runs in this process, so it may be any function.
        cost_fn, target_fn: sample to its cost in tokens, and (sample, cost) to its number of
            target tokens. Run in the workers. Default: length of `input_ids`; labels != -100.
        truncate_fn: (sample, budget) to a shorter sample, for on_over_budget="truncate".
        sampler: indices for this rank. Default: `ShardingSampler` over the process group. One
            that is given is taken as it is; the first round refuses ranks that read the same.
        process_group: the data-parallel ranks, a group or a one-dimensional DeviceMesh. Default:
            all ranks of the job. Create the loader after the process group.
        idle_batch: what a rank without samples trains on with weight 0. Default: a batch of the
            smallest sample seen, or one lent by a peer.
        num_workers, prefetch_factor, multiprocessing_context, worker_init_fn: as in DataLoader.
        settings: the fields of `LoaderConfig` (token_budget is required).

    Raises:
        ConfigError: a setting that is not allowed, here and before any process starts.

    `for batch in loader` yields what `collate_fn` returned (a mapping as `Batch`);
    `loader.steps()` yields (batch, step). Both raise, on all ranks after the same step: the
    origin's own exception there and `PeerFailed` elsewhere; `PeerStopped`; `CollectiveFailed`.
    """

    epoch = 0
    _transport: Transport | None = None
    _session: Session | None = None
    _received = 0

    def __init__(
        self,
        dataset: Dataset[Any],
        *,
        collate_fn: Collate,
        cost_fn: CostFunction = default_cost,
        target_fn: TargetFunction = default_target_count,
        truncate_fn: Truncate | None = None,
        sampler: Sampler[int] | None = None,
        process_group: dist.ProcessGroup | DeviceMesh | None = None,
        idle_batch: Any = None,
        num_workers: int = 0,
        prefetch_factor: int | None = None,
        multiprocessing_context: Any = None,
        worker_init_fn: Callable[[int], None] | None = None,
        **settings: Any,
    ) -> None:
        self.config = build_config(settings)
        self._measures: dict[str, Any] = {"cost_fn": cost_fn, "target_fn": target_fn}
        functions = {**self._measures, "collate_fn": collate_fn, "truncate_fn": truncate_fn}
        workers = (num_workers, prefetch_factor)
        check_arguments(dataset, sampler, functions, workers, self.config)
        self._group = group_of(process_group)
        self._place = group_place(self._group)
        try:
            super().__init__(
                dataset,
                batch_size=None,
                sampler=self._own_sampler(dataset) if sampler is None else sampler,
                num_workers=num_workers,
                prefetch_factor=prefetch_factor,
                multiprocessing_context=multiprocessing_context,
                worker_init_fn=worker_init_fn,
                collate_fn=collate_fn,
            )
        except (TypeError, ValueError) as error:
            raise ConfigError(str(error)) from error
        self._truncate_fn = truncate_fn
        self._idle_batch = idle_batch
        self._ledger = Ledger()
        close_at_exit(self)

    # The epoch ----------------------------------------------------------------------------

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of the next epoch; call it on all ranks alike."""
        if type(epoch) is not int or not 0 <= epoch < 2**62:
            raise ConfigError(f"epoch must be an integer in [0, 2**62), not {epoch!r}")
        self.epoch = epoch
        if hasattr(self.sampler, "set_epoch"):
            self.sampler.set_epoch(epoch)

    def steps(self) -> Iterator[tuple[Any, Step]]:
        """(batch, step) for each step of the epoch; the epoch starts at the first `next()`."""
        session = self._open()
        try:
            for batch, step in session.items():
                self._received += step.samples
                yield batch, step
        finally:
            session.close(LEAVE_WAIT_S)

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        """The batches of the epoch, without their steps; a mapping has them as `.step`."""
        for batch, _ in self.steps():
            yield batch

    def __len__(self) -> int:
        """Raises TypeError: the number of steps is not known before the samples are read."""
        raise TypeError(
            "a dynamic batch loader has no length before its samples are read; "
            "use loader.progress, or a number of steps of your own"
        )

    @property
    def progress(self) -> float:
        """Share of this rank's samples in this epoch that the loop received or a policy skipped.

        In quota mode the share of the quota received: what is skipped there is replaced.
        """
        expected = self._expected_samples()
        skipped = 0 if self.config.mode == "quota" else self._ledger.skipped
        done = self._received + skipped
        return min(1.0, done / expected) if expected else 1.0

    @property
    def ledger(self) -> Ledger:
        """Where the samples of the present or last epoch went on this rank."""
        return self._ledger

    @cached_property
    def _machine(self) -> Machine:
        """Compiled when first needed: by then the workers are starting."""
        return Machine(self.config.settings())

    @property
    def protocol_digest(self) -> str:
        """SHA-256 of the transition table that this loader runs."""
        return self._machine.table.digest()

    def close(self, wait_s: float = LEAVE_WAIT_S) -> None:
        """End the epoch in progress, the threads, the workers and the group. May be repeated.

        Peers that are in an epoch are told; `wait_s` bounds the wait for that, in seconds. After
        an iterator that ended before its peers' (tail "stop") this rank goes on answering them.
        """
        session, self._session = self._session, None
        transport, self._transport = self._transport, None
        if session is not None:
            session.close(wait_s)
            session.close_transport(wait_s)
        elif transport is not None:
            transport.close()

    # How it is put together ---------------------------------------------------------------

    def _open(self) -> Session:
        self._end_previous()
        if group_place(self._group) != self._place:
            raise ConfigError(
                "the process group has changed since the loader was made; make the loader after "
                "init_process_group"
            )
        self._ledger = Ledger()
        self._received = 0
        source = Source(self._new_inner_loader, window=self.config.window)
        source.start()
        try:
            self._session = self._new_session(source)
        except BaseException:
            source.close(LEAVE_WAIT_S)
            raise
        self._session.start()
        return self._session

    def _new_session(self, source: Source) -> Session:
        """Meets the peers and puts the session together, while the workers start and read."""
        if self._transport is None or self._transport.closed:
            self._transport = open_transport(self._group, timeout_s=self.config.timeout_s)
        return Session(
            engine=new_engine(
                self._machine,
                self.config,
                epoch=self.epoch,
                rank=self._transport.rank,
                world_size=self._transport.world_size,
                collate=self._collate,
                ledger=self._ledger,
                idle_batch=self._idle_batch,
            ),
            source=source,
            intake=Intake(
                self.config,
                self._ledger,
                truncate=self._truncate_fn,
                remeasure=self._remeasure,
            ),
            transport=self._transport,
            queue_size=self.config.queue_size,
        )

    def _own_sampler(self, dataset: Any) -> ShardingSampler:
        rank, world_size = self._place
        return ShardingSampler(
            len(dataset),
            rank=rank,
            world_size=world_size,
            shuffle=self.config.shuffle,
            seed=self.config.seed,
        )

    def _new_inner_loader(self) -> DataLoader[Any]:
        return DataLoader(
            ChunkDataset(self.dataset, **self._measures),
            batch_size=None,
            sampler=shared_chunks(
                self.sampler,
                chunk_size=self.config.chunk_size,
                window=self.config.window,
                first_window=self.config.first_target,
                workers=self.num_workers,
            ),
            num_workers=self.num_workers,
            prefetch_factor=self.prefetch_factor,
            multiprocessing_context=self.multiprocessing_context,
            worker_init_fn=self.worker_init_fn,
            persistent_workers=self.config.mode == "quota" and self.num_workers > 0,
            generator=self._worker_seeds(),
            collate_fn=as_is,
        )

    def _worker_seeds(self) -> torch.Generator:
        """What the workers' seeds are drawn from; otherwise torch's own generator, the user's,
        would be drawn from, in quota mode at a time that differs from run to run."""
        text = f"{self.config.seed}/{self.epoch}/{self._place[0]}"
        return torch.Generator().manual_seed(random.Random(text).getrandbits(63))

    def _collate(self, samples: list[Any]) -> Any:
        content = self.collate_fn(samples)
        pins = self.config.pin_memory and torch.cuda.is_available()
        return map_tensors(content, lambda tensor: tensor.pin_memory()) if pins else content

    def _remeasure(self, index: int, value: Any) -> Sample:
        cost, targets = measure(value, index=index, **self._measures)
        return Sample(index=index, cost=cost, targets=targets, value=value)

    def _expected_samples(self) -> int:
        if self.config.mode == "quota":
            return self.config.quota_share(*self._place)
        return len(self.sampler)  # type: ignore[arg-type]

    def _end_previous(self) -> None:
        session, self._session = self._session, None
        if session is None:
            return
        session.close(LEAVE_WAIT_S)
        if not session.join(self.config.timeout_s):
            raise CollectiveFailed(
                f"rank {self._place[0]}: the epoch before has not ended, since the peers' loops "
                "are still in it; let all ranks leave an epoch at the same step"
            )
