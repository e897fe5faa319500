"""One pass of training on one rank, the same loop for every kind of loader.

Rules kept here:
1. All kinds start from the same weights, see the same samples, and follow one schedule by samples.
2. Every kind pays for the same extra collective a step: two counts, summed over the ranks, from
   which the learning rate is taken (square root rule for targets, see `learning_rate`).
3. The clock runs from before the loader is made until after the last update.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from time import perf_counter
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.optim import AdamW
from torch.utils.data import DataLoader

from .kinds import Delivery, Job, open_kind
from .measure import StepRecord, record_of
from .model import DecoderOnly, ModelSize, new_model, target_count
from .samples import Batch, TokenDataset, collate

BASE_LEARNING_RATE = 2e-3
REFERENCE_TARGETS = 2048
"""Targets of a step at which the base learning rate holds."""
WARMUP_SHARE = 0.1
FINAL_SHARE = 0.1
HELDOUT_SEED = 2**20
HELDOUT_BATCH_SIZE = 4


@dataclass(frozen=True, kw_only=True)
class Training:
    """What is trained, beside the job of the loader."""

    model: ModelSize
    heldout: int = 64
    """Samples of the held-out stream, with the lengths of the first training samples."""
    device: str = "cpu"
    autocast: bool = False
    """bfloat16 where the model runs in it; for accelerators."""


@dataclass(frozen=True, kw_only=True)
class TrainRecord:
    """One pass of one rank."""

    seconds: float
    steps: tuple[StepRecord, ...]
    targets: int
    heldout_loss: float


def learning_rate(*, progress: float, targets: int) -> float:
    """The rate of one step: linear warm-up and decay by samples, square root rule for targets.

    A step over k times the targets takes sqrt(k) times the rate, the rule for Adam (Malladi et
    al., arXiv 2205.10287; its change of betas is left out).
    """
    warmup = min(1.0, (progress + 0.01) / WARMUP_SHARE)
    decay = FINAL_SHARE + (1.0 - FINAL_SHARE) * (1.0 - min(1.0, progress))
    return BASE_LEARNING_RATE * warmup * decay * sqrt(targets / REFERENCE_TARGETS)


def train(job: Job, training: Training) -> TrainRecord:
    """Trains over one epoch of the job's kind. On a GPU `job` should pin memory."""
    size = replace(training.model, max_tokens=max(job.lengths))
    model = new_model(size, seed=0, device=training.device)
    wrapped = DistributedDataParallel(model) if dist.is_initialized() else model
    dataset = TokenDataset(job.lengths, vocabulary_size=size.vocabulary_size, seed=0)
    loop = _Loop(wrapped, training, len(job.lengths))
    loop.warm_up(size)
    if dist.is_initialized():
        dist.barrier()
    start_s = perf_counter()
    for delivery in open_kind(job, dataset):
        loop.step(delivery)
    if training.device != "cpu":
        torch.cuda.synchronize()
    seconds = perf_counter() - start_s
    return TrainRecord(
        seconds=seconds,
        steps=tuple(loop.records),
        targets=loop.targets,
        heldout_loss=heldout_loss(model, job.lengths[: training.heldout], training),
    )


class _Loop:
    """Model, optimizer and what has been counted so far."""

    def __init__(self, model: torch.nn.Module, training: Training, samples: int) -> None:
        self.records: list[StepRecord] = []
        self.targets = 0
        self._model = model
        self._optimizer = AdamW(model.parameters())
        self._training = training
        self._samples = samples
        self._seen = 0

    def warm_up(self, size: ModelSize) -> None:
        """One pass forth and back outside the clock; its gradients are dropped."""
        ids = torch.full((2, size.max_tokens), 2, device=self._training.device)
        self._loss({"input_ids": ids, "labels": ids}).backward()
        self._optimizer.zero_grad()

    def step(self, delivery: Delivery) -> None:
        """Forward, backward and update; the same on every rank, idle or not."""
        targets = 0 if delivery.idle else target_count(delivery.batch)
        samples = 0 if delivery.idle else len(delivery.batch["input_ids"])
        counts = torch.tensor([targets, samples])
        if dist.is_initialized():
            dist.all_reduce(counts)
        rate = learning_rate(progress=self._seen / self._samples, targets=int(counts[0]))
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        device = self._training.device
        batch = {
            key: delivery.batch[key].to(device, non_blocking=True)
            for key in ("input_ids", "labels")
        }
        loss = self._loss(batch) * delivery.weight
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._model.parameters(), 1.0)
        self._optimizer.step()
        self._optimizer.zero_grad()
        self._seen += int(counts[1])
        self.targets += targets
        self.records.append(record_of(delivery))

    def _loss(self, batch: Batch) -> Any:
        device = self._training.device
        with torch.autocast(device, dtype=torch.bfloat16, enabled=self._training.autocast):
            return self._model(batch["input_ids"], batch["labels"])


@torch.no_grad()
def heldout_loss(model: DecoderOnly, lengths: Sequence[int], training: Training) -> float:
    """Mean loss per target over a stream of the same rule; every rank reads all of it."""
    dataset = TokenDataset(
        lengths, vocabulary_size=training.model.vocabulary_size, seed=HELDOUT_SEED
    )
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    batches = [
        order[at : at + HELDOUT_BATCH_SIZE] for at in range(0, len(order), HELDOUT_BATCH_SIZE)
    ]
    total = targets = 0.0
    for batch in DataLoader(dataset, batch_sampler=batches, collate_fn=collate):
        count = target_count(batch)
        ids, labels = (batch[key].to(training.device) for key in ("input_ids", "labels"))
        total += float(model(ids, labels)) * count
        targets += count
    return total / targets
