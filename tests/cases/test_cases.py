"""Small inputs that broke other systems, each with what must hold (README.md)."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from tests.cases.on_a_rank import WAYS, run_cases
from tests.cases.reading import Case, all_cases
from tests.cases.verdicts import VERDICTS
from tests.processes import START_METHODS, StartMethod, run_ranks, values_of

CASES = tuple(all_cases().values())


def tails_of(case: Case) -> tuple[str, ...]:
    return ("idle", "stop") if case.world_size > 1 else ("idle",)


@cache
def outcomes(world_size: int, start_method: StartMethod) -> dict[tuple[str, str], list[Any]]:
    """By case and tail: what each rank brought back. All cases share the processes."""
    wanted = [
        (case.id, tail)
        for case in CASES
        if case.world_size == world_size
        for tail in tails_of(case)
    ]
    values = values_of(
        run_ranks(
            run_cases,
            world_size=world_size,
            start_method=start_method,
            args_per_rank=[wanted] * world_size,
            timeout_s=200.0,
        )
    )
    return dict(zip(wanted, map(list, zip(*values, strict=True)), strict=True))


@pytest.mark.parametrize("start_method", START_METHODS)
@pytest.mark.parametrize(
    ("case", "tail"),
    [pytest.param(case, tail, id=f"{case.id}-{tail}") for case in CASES for tail in tails_of(case)],
)
def test_the_case_is_as_expected(case: Case, tail: str, start_method: StartMethod) -> None:
    outcome = outcomes(case.world_size, start_method)[case.id, tail]
    VERDICTS[case.id](case, tail, outcome)


def test_each_case_has_a_test_and_each_test_a_case() -> None:
    assert set(VERDICTS) == set(all_cases())
    assert set(WAYS) <= set(all_cases())
    assert len(CASES) == len(set(VERDICTS)) >= 20


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_no_case_passes_on_an_outcome_of_nothing(case: Case) -> None:
    """A verdict that accepts ranks which did nothing would be none."""
    with pytest.raises((AssertionError, AttributeError, TypeError, ValueError, IndexError)):
        VERDICTS[case.id](case, "idle", [None] * case.world_size)
