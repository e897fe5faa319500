"""The reference's own grouping, alignment, warm-up and recycling, without its worker processes.

Rule kept here: its collate loop (`odb.collate.collate_loop_odb`) is called as it is, with plain
queues that hold every sample from the start, and its groups are read off what it would collate.
Its rounds are counted around its grouping function. Ranks are real processes with Gloo.
"""

from __future__ import annotations

import queue
import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import torch

from .cells import run_cell
from .kinds.job import EqualShard, Job
from .measure import StepRecord

TIMEOUT_S = 240.0
WORD_BYTES = 8


@dataclass(frozen=True, kw_only=True)
class ReferenceEpoch:
    """One epoch of all ranks; empty with a reason if it failed."""

    ranks: tuple[tuple[StepRecord, ...], ...]
    rounds: int
    metadata_bytes: int
    """What one rank sent: 2 + 2 B words a round (exact loss scaling), and again where ranks were
    adjusted, which is not counted here, in the reference's favour."""
    failure: str = ""


def reference_epoch(job: Job) -> ReferenceEpoch:
    """What the reference makes of these lengths with window `job.window` on `job.world_size`."""
    window = job.window or 1
    cell = run_cell(
        lambda rank: _rank_epoch(replace(job, rank=rank), window),
        job.world_size,
        timeout_s=TIMEOUT_S,
    )
    if cell.failure:
        return ReferenceEpoch(ranks=(), rounds=0, metadata_bytes=0, failure=cell.failure)
    rounds = max(rounds for _, rounds in cell.answers)
    return ReferenceEpoch(
        ranks=tuple(steps for steps, _ in cell.answers),
        rounds=rounds,
        metadata_bytes=rounds * WORD_BYTES * (2 + 2 * window),
    )


def _rank_epoch(job: Job, window: int) -> tuple[tuple[StepRecord, ...], int]:
    import odb.collate  # only in the rank: without the package the run fails, not the part

    warnings.simplefilter("ignore", FutureWarning)  # it calls a deprecated collective
    arriving: queue.Queue[Any] = queue.Queue()
    leaving: queue.Queue[Any] = queue.Queue()
    for position, index in enumerate(EqualShard(job).indices):
        # Only the shape is ever looked at: one element, seen L times.
        tokens = torch.zeros(1, dtype=torch.int64).expand(job.lengths[index])
        arriving.put((position, [{"input_ids": tokens, "index": index}]))
    arriving.put(None)
    grouping = odb.collate.grouping_data
    with mock.patch.object(odb.collate, "grouping_data", wraps=grouping) as counted:
        odb.collate.collate_loop_odb(
            arriving,
            leaving,
            _collate,
            window,
            job.budget,
            threading.Event(),
            random_seed=job.seed + 1042,
            loss_scaling=True,
            loss_scaling_approx=False,
            join_mode=job.world_size > 1,
        )
        rounds = counted.call_count
    return tuple(_records(_emptied(leaving))), rounds


def _collate(samples: Sequence[dict[str, Any]]) -> dict[str, Any]:
    longest = max(len(sample["input_ids"]) for sample in samples)
    return {
        "indices": tuple(sample["index"] for sample in samples),
        "padded_tokens": longest * len(samples),
    }


def _emptied(items: queue.Queue[Any]) -> list[Any]:
    return [items.get() for _ in range(items.qsize())]


def _records(items: Sequence[tuple[int, Any]]) -> list[StepRecord]:
    """The batches in the order the training loop gets them; slots without one are passed over."""
    return [
        StepRecord(indices=data["indices"], padded_tokens=data["padded_tokens"], idle=False)
        for _, data in sorted(items, key=lambda item: item[0])
        if isinstance(data, dict)
    ]
