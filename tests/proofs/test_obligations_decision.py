"""The decision's obligations notice a decision that breaks its contract."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dgap.proofs.check import Verdict
from dgap.proofs.obligations_decision import (
    decision_checks,
    gather_rows,
    step_count,
    step_row,
    vector_scene,
)
from dgap.proofs.planted import row_named, with_row
from dgap.protocol.decision import FAIL, FITTING, STEP_COUNT, WANTED, WIDEST
from dgap.protocol.expr import TRUE, Const, Term, larger, lesser
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Ask, Table
from dgap.protocol.vocabulary import EffectKind, Phase, setting, state

A = setting("accumulation")


def verdict(table: Table, name: str) -> Verdict:
    """What the check of that id answers for a table."""
    return {each.id: each for each in decision_checks(table)}[name].run().verdict


def with_step_count(value: Term, told: Term | None = None) -> Table:
    """The table with another T."""
    updates = dict(row_named(TABLE, "verdict_step").updates) | {"owed_steps": value}
    asks = (Ask(EffectKind.TALLY, value if told is None else told),)
    return with_row(TABLE, "verdict_step", updates=tuple(updates.items()), asks=asks)


def test_the_rows_of_the_decision_are_read_off_the_table() -> None:
    assert {row.name for row in gather_rows(TABLE)} == {
        "verdict_fail",
        "verdict_stop",
        "verdict_restart",
        "verdict_close",
        "verdict_step",
    }
    assert step_row(TABLE).name == "verdict_step"
    assert step_count(TABLE) == STEP_COUNT
    assert vector_scene(TABLE).theory.witness().verdict == Verdict.PROVED


@pytest.mark.parametrize("check", decision_checks(), ids=lambda each: each.id)
def test_the_decision_of_the_protocol_is_proved(check: object) -> None:
    assert check.run().verdict == Verdict.PROVED  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "planted"),
    [
        ("step_count.positive", with_step_count(A * lesser(WANTED, FITTING))),
        ("step_count.unit", with_step_count(larger(lesser(WANTED, FITTING), 1))),
        ("step_count.least_offer", with_step_count(A * larger(WANTED, 1))),
        ("step_count.widest", with_step_count(A * larger(FITTING, 1))),
        ("step_count.real", with_step_count(A * larger(WIDEST, 1) + A)),
        ("step_count.told", with_step_count(STEP_COUNT, told=STEP_COUNT + 1)),
        ("decision.agreement", with_step_count(STEP_COUNT + state("held"))),
        ("decision.total", with_row(TABLE, "verdict_close", guard=FAIL)),
        ("table.exclusion", with_row(TABLE, "verdict_stop", guard=TRUE)),
        ("table.shape", with_row(TABLE, "turn", phase=Phase.CLOSED)),
        ("table.shape", with_row(TABLE, "turn", updates=(("nothing", Const(0)),))),
        ("table.shape", replace(TABLE, rows=(*TABLE.rows, TABLE.rows[0]))),
    ],
)
def test_each_check_refutes_a_decision_that_breaks_it(name: str, planted: Table) -> None:
    assert verdict(planted, name) == Verdict.REFUTED
