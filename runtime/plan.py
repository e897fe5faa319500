"""The plan of a round: which samples go into which of its T steps, and what each step weighs.

Rules kept here:
1. Exactly T steps; a rank with n samples fills min(n, T) of them, first (S3).
2. Totals are announced before the first batch is handed over, and are those of the batches (S8).
3. The order of the steps comes from a seed that all ranks share: equal positions hold batches of
   similar cost on all ranks.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from dgap.protocol.errors import MalformedReport

from .boundaries import BudgetKind
from .chunks import Sample
from .config import LoaderConfig
from .grouping import group_cost, needed_group_count, partition
from .step import Step
from .weights import step_weights

TOTALS = ("samples", "tokens", "padded_tokens", "targets")
"""What is summed over the ranks for each step."""

TARGETS = TOTALS.index("targets")


@dataclass(frozen=True, kw_only=True)
class Work:
    """What the engine of one epoch needs of the settings."""

    budget: int
    budget_kind: BudgetKind
    accumulation: int
    seed: int
    epoch: int
    world_size: int

    @classmethod
    def of(cls, config: LoaderConfig, *, epoch: int, world_size: int) -> Work:
        """The work that these settings describe."""
        return cls(
            budget=config.token_budget,
            budget_kind=config.budget_kind,
            accumulation=config.accumulation_steps,
            seed=config.seed,
            epoch=epoch,
            world_size=world_size,
        )


@dataclass(kw_only=True)
class RoundPlan:
    """The groups and steps of one round that were not handed over yet."""

    groups: deque[list[Sample]] = field(default_factory=deque)
    steps: deque[Step] = field(default_factory=deque)
    assigned: int = 0
    """Samples in all groups."""
    recycled: list[Sample] = field(default_factory=list)
    """Samples that stay in the window."""


def units_needed(work: Work, samples: Sequence[Sample]) -> int:
    """Accumulation units that the samples need under the budget; 0 for no samples."""
    costs = [sample.cost for sample in samples]
    groups = needed_group_count(costs, work.budget, work.budget_kind) if costs else 0
    return -(-groups // work.accumulation)


def group_window(
    work: Work, samples: Sequence[Sample], *, step_count: int, round_index: int
) -> RoundPlan:
    """Groups for `step_count` steps out of a window in reading order."""
    if not samples:
        return RoundPlan()
    division = partition(
        [sample.cost for sample in samples],
        budget=work.budget,
        kind=work.budget_kind,
        step_count=step_count,
    )
    groups = [[samples[position] for position in group] for group in division.groups]
    if len(groups) == step_count:
        random.Random(f"{work.seed}/{work.epoch}/{round_index}").shuffle(groups)
    return RoundPlan(
        groups=deque(groups),
        assigned=sum(len(group) for group in groups),
        recycled=[samples[position] for position in sorted(division.recycled)],
    )


def announced_words(work: Work, plan: RoundPlan, step_count: int) -> list[int]:
    """`len(TOTALS)` words for each step: what this rank adds to the sums."""
    words: list[int] = []
    for group in plan.groups:
        costs = [sample.cost for sample in group]
        targets = sum(sample.targets for sample in group)
        words += [len(group), sum(costs), group_cost(costs, work.budget_kind), targets]
    return words + [0] * (len(TOTALS) * (step_count - len(plan.groups)))


def describe_steps(
    work: Work,
    plan: RoundPlan,
    *,
    own: Sequence[int],
    summed: Sequence[int],
    first_step: int,
    round_index: int,
) -> deque[Step]:
    """One `Step` per step of the round. Raises MalformedReport if the sums have another length."""
    if len(own) != len(summed):
        raise MalformedReport(f"{len(summed)} totals came back for {len(own)}")
    width = len(TOTALS)
    rows = [own[at : at + width] for at in range(0, len(own), width)]
    sums = [summed[at : at + width] for at in range(0, len(summed), width)]
    groups = [*plan.groups, *([[]] * (len(rows) - len(plan.groups)))]
    weights = step_weights(
        [row[TARGETS] for row in rows],
        [total[TARGETS] for total in sums],
        world_size=work.world_size,
        accumulation_steps=work.accumulation,
    )
    return deque(
        # Spelled out: a window of thousands makes hundreds of steps at once.
        Step(
            index=index,
            epoch=work.epoch,
            round=round_index,
            weight=weight,
            idle=not group,
            sync=(index - first_step + 1) % work.accumulation == 0,
            samples=local[0],
            tokens=local[1],
            padded_tokens=local[2],
            targets=local[TARGETS],
            global_samples=total[0],
            global_tokens=total[1],
            global_padded_tokens=total[2],
            global_targets=total[TARGETS],
            sample_indices=tuple([sample.index for sample in group]),
        )
        for index, (group, weight, local, total) in enumerate(
            zip(groups, weights, rows, sums, strict=True), start=first_step
        )
    )
