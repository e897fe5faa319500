"""The policies: each sample read is passed on, counted as skipped, cut, or a fault."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from dgap.protocol.errors import BadCost, EmptySample, OverBudget
from dgap.protocol.vocabulary import FailureCode
from dgap.runtime.chunks import Fault, Sample
from dgap.runtime.config import LoaderConfig
from dgap.runtime.intake import Intake
from dgap.runtime.ledger import Ledger

EMPTY, FITS, OVER = 0, 10, 11


def sample(cost: int, index: int = 4) -> Sample:
    return Sample(index=index, cost=cost, targets=cost, value="x" * cost)


def fault(code: FailureCode = FailureCode.SOURCE, index: int | None = 4) -> Fault:
    return Fault.of(code, index, ValueError("broken"))


def take(
    entries: Sequence[Sample | Fault], truncate: Any = None, **settings: Any
) -> tuple[list[Sample | Fault], Ledger]:
    ledger = Ledger()
    intake = Intake(
        LoaderConfig(token_budget=10, **settings),
        ledger,
        truncate=truncate,
        remeasure=lambda index, value: sample(len(value), index),
    )
    return list(intake.accept(entries)), ledger


def accounted(ledger: Ledger, passed_on: int) -> bool:
    return ledger.read == ledger.skipped + passed_on


def error_of(entry: Sample | Fault) -> BaseException:
    assert isinstance(entry, Fault)
    return entry.exception()


def test_a_sample_that_fits_is_passed_on_as_it_is() -> None:
    entries = [sample(1), sample(FITS)]
    kept, ledger = take(entries)
    assert all(left is right for left, right in zip(kept, entries, strict=True))
    assert (ledger.read, ledger.skipped, ledger.over_budget) == (2, 0, 0)


def test_an_empty_sample_is_an_error_that_names_it_and_the_setting() -> None:
    (kept,), ledger = take([sample(EMPTY)])
    error = error_of(kept)
    assert type(error) is EmptySample
    assert "sample 4" in str(error)
    assert 'on_empty="skip"' in str(error)
    assert isinstance(kept, Fault)
    assert kept.code == FailureCode.SAMPLE
    assert accounted(ledger, 1)


def test_an_empty_sample_may_be_skipped_and_is_counted() -> None:
    kept, ledger = take([sample(EMPTY), sample(FITS), sample(EMPTY)], on_empty="skip")
    assert len(kept) == 1
    assert (ledger.skipped_empty, ledger.skipped) == (2, 2)
    assert accounted(ledger, 1)


def test_an_over_budget_sample_stands_alone_by_default_and_is_counted() -> None:
    (kept,), ledger = take([sample(OVER)])
    assert isinstance(kept, Sample)
    assert (ledger.over_budget, ledger.skipped) == (1, 0)


def test_an_over_budget_sample_may_be_skipped_and_is_counted() -> None:
    kept, ledger = take([sample(OVER)], on_over_budget="skip")
    assert kept == []
    assert (ledger.skipped_over_budget, ledger.over_budget) == (1, 0)
    assert accounted(ledger, 0)


def test_an_over_budget_sample_may_be_an_error_that_names_cost_and_budget() -> None:
    (kept,), _ = take([sample(OVER)], on_over_budget="error")
    error = error_of(kept)
    assert type(error) is OverBudget
    for part in ("sample 4", "11", "10", '"alone"'):
        assert part in str(error)


def test_an_over_budget_sample_may_be_cut_and_is_measured_again() -> None:
    kept, ledger = take(
        [sample(OVER)], on_over_budget="truncate", truncate=lambda value, budget: value[:budget]
    )
    assert kept == [sample(FITS)]
    assert ledger.truncated == 1


@pytest.mark.parametrize("left", [0, 11])
def test_a_cut_that_leaves_nothing_or_too_much_is_an_error(left: int) -> None:
    (kept,), ledger = take(
        [sample(OVER)], on_over_budget="truncate", truncate=lambda value, budget: value[:left]
    )
    assert type(error_of(kept)) is OverBudget
    assert f"after truncate_fn ({left})" in str(error_of(kept))
    assert ledger.truncated == 0


def test_a_cut_that_raises_is_the_users_own_error() -> None:
    def refuse(value: Any, budget: int) -> Any:
        raise KeyError("labels")

    (kept,), _ = take([sample(OVER)], on_over_budget="truncate", truncate=refuse)
    assert type(error_of(kept)) is KeyError


def test_a_fault_is_passed_on_by_default() -> None:
    entries = [fault()]
    kept, ledger = take(entries)
    assert kept == entries
    assert (ledger.read, ledger.skipped_error) == (1, 0)


def test_faults_may_be_skipped_up_to_the_limit() -> None:
    kept, ledger = take([fault(), fault(), fault(), sample(1)], on_error="skip", error_limit=2)
    assert len(kept) == 2
    assert isinstance(kept[0], Fault)
    assert ledger.skipped_error == 2
    assert accounted(ledger, 2)


def test_a_limit_of_zero_skips_nothing() -> None:
    kept, _ = take([fault()], on_error="skip", error_limit=0)
    assert len(kept) == 1


@pytest.mark.parametrize(
    ("entry", "skipped"),
    [
        (fault(FailureCode.COST), True),
        (fault(FailureCode.SOURCE), True),
        (fault(FailureCode.SAMPLE), False),
        (fault(FailureCode.SOURCE, index=None), False),
    ],
)
def test_only_a_fault_of_one_sample_may_be_skipped(entry: Fault, skipped: bool) -> None:
    kept, _ = take([entry], on_error="skip")
    assert kept == ([] if skipped else [entry])


def test_a_cost_that_is_none_at_all_passes_as_the_error_that_it_is() -> None:
    bad = Fault.of(FailureCode.COST, 1, BadCost("cost_fn returned 'x'"))
    (kept,), _ = take([bad])
    assert type(error_of(kept)) is BadCost
