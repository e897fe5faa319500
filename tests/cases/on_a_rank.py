"""What a rank does with a case: most run one epoch, some have a way of their own.

`run_cases` runs in the rank; all cases of one world size share its processes. What comes back is
judged by `verdicts.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import distributed
from torch.utils.data import Dataset

from dgap.runtime import DynamicBatchLoader, Step
from tests.cases.leftovers import leftovers
from tests.cases.reading import Case, all_cases
from tests.laws.failures import CountingCollate
from tests.laws.gradients import train
from tests.laws.records import Epoch, Work, meet, nothing, run_epoch
from tests.laws.samples import InOrder, Sample, Uneven, pad

Outcome = Any
BREAKS = 20
PAUSES = 3
TIMEOUT_S = 1.0
PAUSE_S = 1.4


def new_loader(case: Case, rank: int, tail: str, **options: Any) -> DynamicBatchLoader:
    """The case's loader on this rank; a name given in `options` replaces what it has."""
    source = options.pop("dataset", case.source(rank))
    defaults = {
        "collate_fn": pad,
        "token_budget": case.budget,
        "tail": tail,
        "timeout_s": 60.0,
        "sampler": InOrder(len(source)),
    }
    return DynamicBatchLoader(source, **{**defaults, **options})


def work_of(tail: str) -> Work:
    """The trainer's collective in every step, where the tail lets all ranks take all steps."""
    return meet if tail == "idle" and distributed.is_initialized() else nothing


def one_epoch(case: Case, rank: int, tail: str, **options: Any) -> Epoch:
    loader = new_loader(case, rank, tail, **options)
    epoch = run_epoch(loader, rank=rank, work=work_of(tail))
    loader.close()
    return replace(epoch, ledger=loader.ledger.as_dict(), balance=loader.ledger.balance)


def cut(sample: Sample, budget: int) -> Sample:
    """The user's truncation: the first tokens; `identity` stays."""
    return {name: value if value.dim() == 0 else value[:budget] for name, value in sample.items()}


def over_budget(case: Case, rank: int, tail: str) -> dict[str, Epoch]:
    """An epoch under each policy."""
    return {
        policy: one_epoch(
            case,
            rank,
            tail,
            on_over_budget=policy,
            **({"truncate_fn": cut} if policy == "truncate" else {}),
        )
        for policy in ("alone", "skip", "truncate", "error")
    }


def empty_samples(case: Case, rank: int, tail: str) -> dict[str, Epoch]:
    return {policy: one_epoch(case, rank, tail, on_empty=policy) for policy in ("skip", "error")}


def with_gradients(case: Case, rank: int, tail: str) -> tuple[Epoch, Any]:
    """One epoch for the record, one under DDP (inside Join where the tail stops)."""
    epoch = one_epoch(case, rank, tail)
    loader = new_loader(case, rank, tail)
    updates = train(loader, joins=tail == "stop")
    loader.close()
    return epoch, updates


def dataset_raises(case: Case, rank: int, tail: str) -> Epoch:
    source = replace(case.source(rank), raise_at=7 if rank == 1 else None)
    return one_epoch(case, rank, tail, dataset=source)


def collate_raises(case: Case, rank: int, tail: str) -> Epoch:
    """The third batch; the call before the first is for the idle batch."""
    return one_epoch(case, rank, tail, collate_fn=CountingCollate(4) if rank == 0 else pad)


class Heavy(Uneven):
    """24 KB a sample: a chunk of 25 is too large for a message and travels in shared memory."""

    def __getitem__(self, index: int) -> Sample:
        return {**super().__getitem__(index), "ballast": torch.zeros(3072, dtype=torch.int64)}


def break_early(case: Case, rank: int, tail: str) -> dict[str, Any]:
    """Breaks after 3 steps, BREAKS times, with two forked workers; then a whole epoch."""
    source = case.source(rank)
    loader = new_loader(
        case,
        rank,
        tail,
        dataset=Heavy(rank, source.costs, source.target_counts),
        num_workers=2,
        multiprocessing_context="fork",
    )
    broken = [run_epoch(loader, rank=rank, work=work_of(tail), break_after=3)]
    before = leftovers()
    for _ in range(BREAKS - 1):
        broken.append(run_epoch(loader, rank=rank, work=work_of(tail), break_after=3))
    after = leftovers()
    whole = run_epoch(loader, rank=rank, work=work_of(tail))
    loader.close()
    return {"broken": broken, "before": before, "after": after, "whole": whole}


def break_on_one_rank(case: Case, rank: int, tail: str) -> Epoch:
    loader = new_loader(case, rank, tail)
    epoch = run_epoch(loader, rank=rank, break_after=3 if rank == 0 else None)
    loader.close()
    return epoch


def same_data(case: Case, rank: int, tail: str) -> dict[str, Epoch]:
    """Both ranks read the samples of rank 0; then with the opt-out."""
    source = case.source(0)
    return {
        "refused": one_epoch(case, rank, tail, dataset=source),
        "allowed": one_epoch(case, rank, tail, dataset=source, allow_same_data=True),
    }


def different_settings(case: Case, rank: int, tail: str) -> Epoch:
    return one_epoch(case, rank, tail, token_budget=case.budget + 10 * rank)


def one_empty_sample(case: Case, rank: int, tail: str) -> Epoch:
    return one_epoch(case, rank, tail, on_empty="skip")


def pause_in_the_loop(case: Case, rank: int, tail: str) -> Epoch:
    """Rank 0 waits three times for an event that nobody sets."""
    never_set = threading.Event()

    def pause(batch: Any, step: Step) -> None:
        if rank == 0 and step.index in (10, 20, 30):
            never_set.wait(PAUSE_S)
        work_of(tail)(batch, step)

    loader = new_loader(case, rank, tail, timeout_s=TIMEOUT_S)
    epoch = run_epoch(loader, rank=rank, work=pause)
    loader.close()
    return replace(epoch, ledger=loader.ledger.as_dict(), balance=loader.ledger.balance)


class HoldsALambda(Dataset[Sample]):
    """A data set that does not pickle."""

    def __init__(self, source: Uneven) -> None:
        self.source = source
        self.transform: Callable[[Sample], Sample] = lambda sample: sample

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, index: int) -> Any:
        return self.transform(self.source[index])


def lambdas(case: Case, rank: int, tail: str) -> dict[str, Any]:
    """Under spawned workers: a data set that does not pickle, and a collate that does not."""
    options = {"num_workers": 1, "multiprocessing_context": "spawn"}
    before = leftovers()
    refused = one_epoch(case, rank, tail, dataset=HoldsALambda(case.source(rank)), **options)
    after = leftovers()
    accepted = one_epoch(case, rank, tail, collate_fn=lambda samples: pad(samples), **options)
    return {"refused": refused, "before": before, "after": after, "accepted": accepted}


Way = Callable[[Case, int, str], Outcome]
WAYS: dict[str, Way] = {
    "over-budget-sample": over_budget,
    "zero-cost-first": empty_samples,
    "no-targets-on-one-rank": with_gradients,
    "one-against-ninety-nine-targets": with_gradients,
    "raise-on-one-rank": dataset_raises,
    "collate-raises": collate_raises,
    "early-break": break_early,
    "break-on-one-rank": break_on_one_rank,
    "same-data-on-both-ranks": same_data,
    "different-settings": different_settings,
    "lambda-under-spawn": lambdas,
    "one-empty-sample-under-ddp": one_empty_sample,
    "pause-in-the-loop": pause_in_the_loop,
}
"""Cases with a way of their own; the others run one epoch."""


def run_cases(rank: int, world_size: int, ids_and_tails: list[tuple[str, str]]) -> list[Outcome]:
    """Runs in a rank."""
    cases = all_cases()
    return [_way_of(each)(cases[each], rank, tail) for each, tail in ids_and_tails]


def _way_of(case_id: str) -> Way:
    return WAYS.get(case_id, one_epoch)
