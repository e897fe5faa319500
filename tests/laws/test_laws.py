"""Controls: a lawful record passes every law, and each law refuses a record doctored against it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dgap.runtime import Ledger, Step
from tests.laws.laws import (
    LAWS,
    Law,
    Setting,
    announced_totals_are_the_sums,
    ends_without_error,
    every_sample_once,
    groups_keep_the_budget,
    ledgers_balance,
    quota_is_met_exactly,
    ranks_step_together,
    steps_tell_the_truth,
    updates_are_whole,
    violations,
    weights_are_exact,
)
from tests.laws.records import Epoch, Raised, Taken

COSTS = {0: 4, 1: 5, 2: 6, 100: 3, 101: 7}
SETTING = Setting(budget=10, costs=COSTS, identities=((0, 1, 2), (100, 101)))
QUOTA = replace(SETTING, quota=5)

# Rank 0 takes (0, 1), 2 and rank 1 takes 101, 100; every token is a target but one of sample 2.
LAYOUT = (((0, 1), 9), ((2,), 5)), (((101,), 7), ((100,), 3))


def lawful() -> list[Epoch]:
    """Two ranks, two steps each, everything delivered once."""
    epochs = []
    for rank, groups in enumerate(LAYOUT):
        taken = tuple(taken_of(index, rank) for index in range(len(groups)))
        ledger = Ledger()
        for each in taken:
            ledger.count(each.step)
        ledger.read = ledger.delivered
        epochs.append(
            Epoch(
                rank=rank,
                taken=taken,
                raised=None,
                ledger=ledger.as_dict(),
                balance=ledger.balance,
                progress=1.0,
            )
        )
    return epochs


def taken_of(index: int, rank: int) -> Taken:
    def local(peer: int) -> dict[str, int]:
        group, targets = LAYOUT[peer][index]
        costs = [COSTS[each] for each in group]
        return {
            "samples": len(group),
            "tokens": sum(costs),
            "padded_tokens": len(group) * max(costs),
            "targets": targets,
        }

    identities, targets = LAYOUT[rank][index]
    sums = {name: local(0)[name] + local(1)[name] for name in local(0)}
    step = Step(
        index=index,
        epoch=0,
        round=0,
        weight=2 * targets / sums["targets"],
        idle=False,
        sync=True,
        sample_indices=tuple(each % 100 for each in identities),
        **local(rank),
        **{f"global_{name}": count for name, count in sums.items()},
    )
    longest = max(COSTS[each] for each in identities)
    return Taken(step=step, identities=identities, longest=longest, real_targets=targets)


def with_taken(epochs: list[Epoch], rank: int, at: int, **changes: Any) -> list[Epoch]:
    taken = list(epochs[rank].taken)
    taken[at] = replace(taken[at], **changes)
    return with_epoch(epochs, rank, taken=tuple(taken))


def with_step(epochs: list[Epoch], rank: int, at: int, **changes: Any) -> list[Epoch]:
    step = replace(epochs[rank].taken[at].step, **changes)
    return with_taken(epochs, rank, at, step=step)


def with_epoch(epochs: list[Epoch], rank: int, **changes: Any) -> list[Epoch]:
    return [replace(each, **changes) if each.rank == rank else each for each in epochs]


def without_last_step(epochs: list[Epoch], rank: int) -> list[Epoch]:
    return with_epoch(epochs, rank, taken=epochs[rank].taken[:-1])


def idle_in_last_step(epochs: list[Epoch]) -> list[Epoch]:
    both = with_step(epochs, 0, 1, idle=True, weight=0.0)
    return with_step(both, 1, 1, idle=True, weight=0.0)


STOP = replace(SETTING, tail="stop")
IN_TWOS = replace(SETTING, accumulation=2)
ERROR = Raised(type_name="KeyError", message="no")

# law, what is doctored, setting, how
CONTROLS: tuple[tuple[Law, str, Setting, Callable[[list[Epoch]], list[Epoch]]], ...] = (
    (ends_without_error, "raised", SETTING, lambda e: with_epoch(e, 1, raised=ERROR)),
    (ends_without_error, "unfinished", SETTING, lambda e: with_epoch(e, 1, progress=0.5)),
    (ranks_step_together, "a step less", SETTING, lambda e: without_last_step(e, 0)),
    (ranks_step_together, "a gap", SETTING, lambda e: with_step(e, 0, 1, index=2)),
    (ranks_step_together, "idle at stop", STOP, lambda e: with_step(e, 0, 1, idle=True)),
    (ranks_step_together, "another round", SETTING, lambda e: with_step(e, 0, 1, round=1)),
    (ranks_step_together, "all idle", SETTING, idle_in_last_step),
    (ranks_step_together, "half an update", replace(SETTING, accumulation=3), list),
    (every_sample_once, "missing", SETTING, lambda e: without_last_step(e, 1)),
    (every_sample_once, "doubled", SETTING, lambda e: with_taken(e, 1, 1, identities=(101,))),
    (every_sample_once, "a peer's", SETTING, lambda e: with_taken(e, 1, 1, identities=(100, 2))),
    (quota_is_met_exactly, "short", QUOTA, lambda e: without_last_step(e, 1)),
    (quota_is_met_exactly, "twice", QUOTA, lambda e: with_taken(e, 1, 1, identities=(101,))),
    (groups_keep_the_budget, "over", replace(SETTING, budget=9), list),
    (groups_keep_the_budget, "padded", SETTING, lambda e: with_taken(e, 0, 0, longest=6)),
    (steps_tell_the_truth, "samples", SETTING, lambda e: with_step(e, 0, 0, samples=1)),
    (steps_tell_the_truth, "idle counts", SETTING, lambda e: with_step(e, 0, 0, idle=True)),
    (steps_tell_the_truth, "targets", SETTING, lambda e: with_taken(e, 0, 1, real_targets=6)),
    (announced_totals_are_the_sums, "sum", SETTING, lambda e: with_step(e, 0, 0, global_tokens=9)),
    (announced_totals_are_the_sums, "part", SETTING, lambda e: with_step(e, 0, 0, tokens=8)),
    (weights_are_exact, "1.0 everywhere", SETTING, lambda e: with_step(e, 0, 0, weight=1.0)),
    (weights_are_exact, "NaN", SETTING, lambda e: with_step(e, 0, 0, weight=float("nan"))),
    (weights_are_exact, "idle weighs", SETTING, lambda e: with_step(e, 0, 0, idle=True)),
    (weights_are_exact, "per step, not per update", IN_TWOS, list),
    (updates_are_whole, "sync", IN_TWOS, list),
    (updates_are_whole, "all idle", SETTING, idle_in_last_step),
    (ledgers_balance, "lost one", SETTING, lambda e: with_epoch(e, 0, balance=1)),
    (ledgers_balance, "counts another", SETTING, lambda e: without_last_step(e, 1)),
)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("setting", [SETTING, QUOTA], ids=["join", "quota"])
def test_a_lawful_record_passes(law: Law, setting: Setting) -> None:
    assert violations(setting, lawful(), [law]) == []


@pytest.mark.parametrize(
    ("law", "setting", "doctor"),
    [(law, setting, doctor) for law, _, setting, doctor in CONTROLS],
    ids=[f"{law.__name__}: {name}" for law, name, _, _ in CONTROLS],
)
def test_a_doctored_record_is_refused(
    law: Law, setting: Setting, doctor: Callable[[list[Epoch]], list[Epoch]]
) -> None:
    found = violations(setting, doctor(lawful()), [law])
    assert found
    assert all(text.startswith(law.__name__) for text in found)


def test_every_law_has_a_control() -> None:
    assert {law for law, _, _, _ in CONTROLS} == set(LAWS)
