"""How an engine is put together from the settings: the same for production and for the loopback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dgap.protocol.machine import Machine, initial_state

from .config import LoaderConfig
from .engine import Engine
from .introduction import Introduction
from .ledger import Ledger
from .plan import Work
from .trace import traced


def new_engine(
    machine: Machine,
    config: LoaderConfig,
    *,
    epoch: int,
    rank: int,
    world_size: int,
    collate: Callable[[list[Any]], Any],
    ledger: Ledger,
    idle_batch: Any = None,
) -> Engine:
    """The engine of one rank for one epoch, before its first sample.

    `machine` is compiled from `config.settings()`, once for all epochs. Where `config.trace_dir`
    is set, the engine's steps are written there; a folder that cannot be written raises OSError.
    """
    state = initial_state(
        config.settings(),
        first_window=config.first_target,
        quota_share=config.quota_share(rank, world_size),
    )
    introduction = Introduction(
        rank=rank,
        table_digest=machine.table.digest(),
        settings=config.shared_words(epoch),
        allow_same_data=config.allow_same_data or world_size == 1,
    )
    return Engine(
        machine=traced(
            machine, config.trace_dir, state=state, epoch=epoch, rank=rank, world_size=world_size
        ),
        state=state,
        rank=rank,
        work=Work.of(config, epoch=epoch, world_size=world_size),
        introduction=introduction,
        collate=collate,
        ledger=ledger,
        idle_batch=idle_batch,
    )
