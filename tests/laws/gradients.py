"""A tiny model, its training under DDP, and the same gradient computed by one process.

1. The loop is the documented one: a loss that is a mean over the batch's own targets, times
   `step.weight`, and `no_sync` until `step.sync`.
2. The reference knows nothing of ranks, batches or weights: all samples of an update, one sum
   over all their targets, divided by the number of these.

A batch without a single target has no mean: `cross_entropy` gives NaN there, which times 0 is
still NaN. `mean_loss` divides by at least 1, as a loop with such data must.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.distributed.algorithms.join import Join
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

from dgap.runtime import DynamicBatchLoader, Step
from tests.laws.samples import IGNORED_LABEL, VOCABULARY_SIZE, Sample

LEARNING_RATE = 0.5


@dataclass(frozen=True, kw_only=True)
class Update:
    """One optimizer step on one rank: gradient before it, real samples that went in, idle steps."""

    gradient: list[float]
    identities: tuple[int, ...]
    idle_steps: int
    weights: tuple[float, ...]


class TinyModel(nn.Module):
    """Embedding, tanh, linear: enough for gradients that depend on every token."""

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(11)
        self.embedding = nn.Embedding(VOCABULARY_SIZE, 5, dtype=torch.float64)
        self.head = nn.Linear(5, VOCABULARY_SIZE, dtype=torch.float64)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.normal_(generator=generator)

    def forward(self, input_ids: Tensor) -> Tensor:
        logits: Tensor = self.head(torch.tanh(self.embedding(input_ids)))
        return logits


def summed_loss(logits: Tensor, labels: Tensor) -> Tensor:
    return cross_entropy(
        logits.flatten(0, -2), labels.flatten(), ignore_index=IGNORED_LABEL, reduction="sum"
    )


def mean_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """The mean over the targets, 0 where there is none."""
    target_count = int((labels != IGNORED_LABEL).sum())
    return summed_loss(logits, labels) / max(1, target_count)


def train(loader: DynamicBatchLoader, *, joins: bool = False) -> list[Update]:
    """One epoch under DDP; with `joins` inside torch's `Join`, for `tail="stop"`."""
    model = DistributedDataParallel(TinyModel())
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE)
    updates: list[Update] = []
    parts: list[tuple[Step, tuple[int, ...]]] = []
    surroundings: AbstractContextManager[object] = Join([model]) if joins else nullcontext()
    with surroundings:
        for batch, step in loader.steps():
            with nullcontext() if step.sync else model.no_sync():
                loss = mean_loss(model(batch["input_ids"]), batch["labels"]) * step.weight
                loss.backward()
            parts.append((step, tuple(batch["identity"].tolist())))
            if step.sync:
                updates.append(_update(model, parts))
                optimizer.step()
                optimizer.zero_grad()
                parts = []
    return updates


def reference(samples_by_update: Iterable[Sequence[Sample]]) -> list[list[float]]:
    """The gradients of one process that is given the same samples, sample by sample."""
    model = TinyModel()
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE)
    gradients = []
    for samples in samples_by_update:
        target_count = sum(int((each["labels"] != IGNORED_LABEL).sum()) for each in samples)
        for each in samples:
            loss = summed_loss(model(each["input_ids"]), each["labels"]) / max(1, target_count)
            loss.backward()
        gradients.append(_flat_gradient(model))
        optimizer.step()
        optimizer.zero_grad()
    return gradients


def relative_distance(gradient: Sequence[float], expected: Sequence[float]) -> float:
    """Largest difference over largest entry; NaN if anything is."""
    own = torch.tensor(gradient, dtype=torch.float64)
    other = torch.tensor(expected, dtype=torch.float64)
    return float((own - other).abs().max() / other.abs().max().clamp_min(1e-300))


def _update(model: nn.Module, parts: Sequence[tuple[Step, tuple[int, ...]]]) -> Update:
    return Update(
        gradient=_flat_gradient(model),
        identities=tuple(each for step, ids in parts if not step.idle for each in ids),
        idle_steps=sum(step.idle for step, _ in parts),
        weights=tuple(step.weight for step, _ in parts),
    )


def _flat_gradient(model: nn.Module) -> list[float]:
    parts = [parameter.grad for parameter in model.parameters()]
    flat: list[float] = torch.cat([each.flatten() for each in parts if each is not None]).tolist()
    return flat
