"""One rank of the demo; torchrun starts WORLD_SIZE of these: `-m examples.demo.training JSON`.

Three rules:
1. the loop does not know how its batches were formed;
2. what was delivered is read off the batches themselves (`conversation`), not off the loader;
3. ranks measure, the launcher judges: rank 0 leaves `records.json` behind.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from math import sqrt
from time import perf_counter

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.optim import AdamW
from torch.utils.data import DataLoader, Subset
from tqdm import tqdm

from .batches import Delivery, deliveries, target_count
from .conversations import (
    PAD_ID,
    ConversationSet,
    collate,
    tokenizer,
)
from .fault import show_fault
from .model import DecoderOnly, build_model
from .prepared import load
from .report import RunRecord, StepRecord
from .settings import KINDS, DemoSettings, Kind

BASE_LEARNING_RATE = 6e-3
REFERENCE_TARGETS = 1024  # targets of a step at which the base learning rate holds
WARMUP_SHARE = 0.1
FINAL_SHARE = 0.1
CLIP_NORM = 1.0
HELDOUT_BATCH_SIZE = 4
GROUP_TIMEOUT = timedelta(seconds=120)


def learning_rate(*, progress: float, targets: int) -> float:
    """The rate of one step: sqrt rule for its targets, linear warm-up and decay by samples.

    A step over k times the targets takes sqrt(k) times the rate, the rule for Adam (Malladi et
    al., arXiv 2205.10287; its change of betas is left out). `progress` in [0, 1] counts samples,
    so both kinds of batches follow one schedule although they take other numbers of steps.
    """
    warmup = min(1.0, (progress + 0.01) / WARMUP_SHARE)
    decay = FINAL_SHARE + (1.0 - FINAL_SHARE) * (1.0 - progress)
    return BASE_LEARNING_RATE * warmup * decay * sqrt(targets / REFERENCE_TARGETS)


def train_step(
    model: DistributedDataParallel, optimizer: AdamW, delivery: Delivery, progress: float
) -> None:
    """Forward, backward and update; the same on every rank, idle or not."""
    for group in optimizer.param_groups:
        group["lr"] = learning_rate(progress=progress, targets=delivery.global_targets)
    batch = delivery.batch
    loss = model(batch["input_ids"], batch["labels"]) * delivery.weight
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP_NORM)
    optimizer.step()
    optimizer.zero_grad()


def record_step(delivery: Delivery, seconds: float) -> StepRecord:
    """What this rank's batch held, counted in the batch itself."""
    input_ids = delivery.batch["input_ids"]
    delivered = () if delivery.idle else tuple(delivery.batch["conversation"].tolist())
    return StepRecord(
        end_s=seconds,
        delivered=delivered,
        tokens=0 if delivery.idle else int((input_ids != PAD_ID).sum()),
        padded_tokens=input_ids.numel(),
        targets=0 if delivery.idle else target_count(delivery.batch),
        idle=delivery.idle,
    )


def train_pass(
    kind: Kind, model: DistributedDataParallel, dataset: ConversationSet, settings: DemoSettings
) -> list[StepRecord]:
    """One pass; the clock starts before the loader does and stops after the last update."""
    optimizer = AdamW(model.parameters())
    records: list[StepRecord] = []
    samples = 0
    with tqdm(
        total=settings.samples,
        desc=f"{kind:>5}",
        unit=" samples",
        file=sys.stdout,
        disable=dist.get_rank() != 0,
        mininterval=0.5,
    ) as bar:
        start_s = perf_counter()
        for delivery in deliveries(kind, dataset, settings):
            train_step(model, optimizer, delivery, samples / settings.samples)
            samples += delivery.global_samples
            records.append(record_step(delivery, perf_counter() - start_s))
            bar.update(delivery.global_samples)
    return records


@torch.no_grad()
def heldout_loss(model: DecoderOnly, dataset: ConversationSet) -> float:
    """Mean loss per target over `dataset`, each rank reading every W-th conversation."""
    part = Subset(dataset, range(dist.get_rank(), len(dataset), dist.get_world_size()))
    totals = torch.zeros(2, dtype=torch.float64)
    for batch in DataLoader(part, batch_size=HELDOUT_BATCH_SIZE, collate_fn=collate):
        targets = target_count(batch)
        loss = float(model(batch["input_ids"], batch["labels"]))
        totals += torch.tensor([loss * targets, targets], dtype=torch.float64)
    dist.all_reduce(totals)
    return float(totals[0] / totals[1])


def warm_up(settings: DemoSettings) -> None:
    """One step outside the clock, so that the first kind does not pay for torch's start."""
    model = build_model(settings)
    ids = torch.full((2, settings.max_tokens), 2)
    model(ids, ids).backward()


def run_kind(
    kind: Kind, train: ConversationSet, heldout: ConversationSet, settings: DemoSettings
) -> RunRecord:
    """Trains and evaluates with one kind of batches; the record holds all ranks' steps."""
    model = build_model(settings)
    dist.barrier()
    steps = train_pass(kind, DistributedDataParallel(model), train, settings)
    everyone: list[tuple[StepRecord, ...]] = [()] * dist.get_world_size()
    dist.all_gather_object(everyone, tuple(steps))
    return RunRecord(
        ranks=tuple(everyone),
        expected=settings.samples,
        heldout_loss=heldout_loss(model, heldout),
    )


def data_sets(
    settings: DemoSettings, *, fails_after_reads: int | None = None
) -> tuple[ConversationSet, ConversationSet]:
    """(training, held-out); the launcher has prepared both."""
    train, heldout, vocabulary = load(settings.output / "prepared.json")
    tokenizer()  # before the clock starts; workers made by fork inherit it
    return (
        ConversationSet(
            train, vocabulary, max_tokens=settings.max_tokens, fails_after_reads=fails_after_reads
        ),
        ConversationSet(heldout, vocabulary, max_tokens=settings.max_tokens),
    )


def compare(settings: DemoSettings) -> int:
    """Both kinds, one after the other; always 0, for the launcher judges the records."""
    train, heldout = data_sets(settings)
    warm_up(settings)
    runs = {kind: asdict(run_kind(kind, train, heldout, settings)) for kind in KINDS}
    if dist.get_rank() == 0:
        (settings.output / "records.json").write_text(json.dumps(runs))
    return 0


def main(arguments: Sequence[str]) -> int:
    """Exit status of this rank."""
    settings = DemoSettings.from_json(arguments[0])
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    dist.init_process_group("gloo", timeout=GROUP_TIMEOUT)
    try:
        if settings.fault == "dataset":
            return run_fault(settings)
        return compare(settings)
    finally:
        dist.destroy_process_group()


def run_fault(settings: DemoSettings) -> int:
    """Trains until rank 1 cannot read a conversation; 0 if both ranks raised at one step."""
    rank = dist.get_rank()
    train, _ = data_sets(settings, fails_after_reads=settings.samples // 3 if rank == 1 else None)
    model = DistributedDataParallel(build_model(settings))
    optimizer = AdamW(model.parameters())

    def step(delivery: Delivery) -> None:
        train_step(model, optimizer, delivery, 0.0)

    return show_fault(deliveries("dgap", train, settings), step)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
