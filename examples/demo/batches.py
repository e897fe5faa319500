"""Two ways to form batches behind one face, so that there is one training loop to compare them.

Two rules: both ways deliver the same conversations, split over the ranks, each once; both scale
the loss by W x local targets / global targets, so that each step's gradient is the exact mean
over all targets of the step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

from dgap.runtime import DynamicBatchLoader

from .conversations import IGNORED, Batch, ConversationSet, collate
from .settings import NUM_WORKERS, DemoSettings, Kind


class Delivery(NamedTuple):
    """One batch of one rank with what the loop needs to know about the step."""

    batch: Batch
    weight: float  # of the mean loss of this rank; 0.0 when idle
    idle: bool
    global_samples: int  # in this step, on all ranks
    global_targets: int


def fixed_batch_size(*, token_budget: int, longest: int) -> int:
    """The largest size whose worst batch (size x longest) fits the budget; at least 1 fits."""
    if not 1 <= longest <= token_budget:
        raise ValueError(f"a sample of {longest} tokens does not fit a budget of {token_budget}")
    return token_budget // longest


def target_count(batch: Batch) -> int:
    """Labels that are learnt: the first of a row never is, it opens the conversation."""
    return int((batch["labels"] != IGNORED).sum())


def deliveries(kind: Kind, dataset: ConversationSet, settings: DemoSettings) -> Iterator[Delivery]:
    """One pass over `dataset`: this rank's part of it, batch by batch."""
    return {"fixed": fixed_deliveries, "dgap": dgap_deliveries}[kind](dataset, settings)


def fixed_deliveries(dataset: ConversationSet, settings: DemoSettings) -> Iterator[Delivery]:
    """Batches of a fixed size; steps are equal since W divides the number of samples."""
    loader: DataLoader[dict[str, torch.Tensor]] = DataLoader(
        dataset,
        batch_size=fixed_batch_size(
            token_budget=settings.token_budget, longest=settings.max_tokens
        ),
        sampler=DistributedSampler(dataset, shuffle=True, seed=settings.seed),
        collate_fn=collate,
        num_workers=NUM_WORKERS,
    )
    for batch in loader:
        local_targets = target_count(batch)
        counts = torch.tensor([len(batch["input_ids"]), local_targets])
        dist.all_reduce(counts)
        global_samples, global_targets = counts.tolist()
        weight = dist.get_world_size() * local_targets / max(1, global_targets)
        yield Delivery(batch, weight, False, global_samples, global_targets)


def dgap_deliveries(dataset: ConversationSet, settings: DemoSettings) -> Iterator[Delivery]:
    """Batches as large as the budget allows, formed while training."""
    loader = DynamicBatchLoader(
        dataset,
        token_budget=settings.token_budget,
        collate_fn=collate,
        shuffle=True,
        seed=settings.seed,
        num_workers=NUM_WORKERS,
    )
    for batch, step in loader.steps():
        yield Delivery(batch, step.weight, step.idle, step.global_samples, step.global_targets)
