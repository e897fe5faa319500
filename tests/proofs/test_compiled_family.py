"""A family in both explorers: equal numbers, and "unknown" wherever something is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from dgap.proofs import compiled_family
from dgap.proofs.check import Verdict
from dgap.proofs.compiled import Found, Job
from dgap.proofs.compiled_family import agreement_check, agrees, decided, jobs_of
from dgap.proofs.families import FAMILIES, Family
from dgap.proofs.foreign_tools import MissingTool
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import Settings

SMALL = [family for family in FAMILIES if family.name in ("unlike", "one-rank", "join-stop")]
TINY = Family(
    name="tiny",
    scope="W=2, 0..1 samples a rank",
    settings=(Settings(),),
    witnesses=("a_loop_ends",),
    most_samples=1,
)
WHOLE = Found(
    finished=True,
    states=5,
    transitions=6,
    at_rest=1,
    depth=3,
    ends=True,
    overflow=False,
    shown=frozenset({"a_loop_ends"}),
)


def answer_with(monkeypatch: pytest.MonkeyPatch, found: Found) -> None:
    def answer(jobs: Sequence[Job], *, table: Table = TABLE) -> tuple[Found, ...]:
        return (found,) * len(jobs)

    monkeypatch.setattr(compiled_family, "search", answer)


@pytest.mark.parametrize("family", SMALL, ids=lambda family: family.name)
def test_the_explorers_agree_on_a_family(family: Family) -> None:
    outcome = agreement_check(family).run()
    assert outcome.verdict == Verdict.PROVED, outcome.detail
    assert outcome.states > 0


def test_other_numbers_refute(monkeypatch: pytest.MonkeyPatch) -> None:
    answer_with(monkeypatch, WHOLE)
    assert agrees(TINY).verdict == Verdict.REFUTED


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (replace(WHOLE, finished=False), "limit of states"),
        (replace(WHOLE, finished=False, overflow=True), "outgrew its cell"),
        (replace(WHOLE, ends=False), "PROGRESS"),
        (replace(WHOLE, shown=frozenset()), "not reached: a_loop_ends"),
    ],
)
def test_what_is_not_complete_decides_nothing(
    found: Found, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_with(monkeypatch, found)
    outcome = agrees(TINY)
    assert outcome.verdict == Verdict.UNKNOWN
    assert why in outcome.detail


def test_a_missing_compiler_was_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(jobs: Sequence[Job], *, table: Table = TABLE) -> tuple[Found, ...]:
        raise MissingTool("gcc is not installed")

    monkeypatch.setattr(compiled_family, "search", missing)
    outcome = agrees(TINY)
    assert outcome.verdict == Verdict.UNKNOWN
    assert "not run" in outcome.detail


def test_a_row_that_undoes_itself_is_no_proof_that_runs_end() -> None:
    rows = tuple(
        replace(row, updates=tuple(u for u in row.updates if u[0] not in ("steps", "owed_steps")))
        if row.name == "idle"
        else row
        for row in TABLE.rows
    )
    broken = replace(TABLE, rows=rows)
    outcome = decided(
        jobs_of(TINY), (), lambda found: (Verdict.PROVED, ""), table=broken, property_id="S7"
    )
    assert outcome.verdict == Verdict.UNKNOWN
