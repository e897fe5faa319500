"""What rows hand out and leave behind is proved of the table and refuted of changed ones."""

from __future__ import annotations

import pytest

from dgap.proofs.check import Check, Verdict
from dgap.proofs.obligations_effects import effect_checks
from dgap.proofs.planted import row_named, with_row
from dgap.protocol.expr import Const
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Ask, Table
from dgap.protocol.vocabulary import EffectKind, Phase, state


def named(table: Table, id_: str) -> Check:
    return next(check for check in effect_checks(table) if check.id == id_)


@pytest.mark.parametrize("check", effect_checks(), ids=lambda each: each.id)
def test_it_holds_of_the_protocol(check: Check) -> None:
    assert check.run().verdict == Verdict.PROVED


@pytest.mark.parametrize(
    ("table", "what"),
    [
        (
            with_row(TABLE, "deliver", asks=(Ask(EffectKind.IDLE_BATCH),)),
            "samples are counted for each real batch",
        ),
        (with_row(TABLE, "idle", asks=()), "a step is counted for each batch"),
        (with_row(TABLE, "read", target=Phase.FAILED), "only a verdict, a refusal"),
        (with_row(TABLE, "turn", target=Phase.CLOSED), "only a verdict closes"),
        (with_row(TABLE, "end", target=Phase.FILL), "only a turn opens the next round"),
        (
            with_row(TABLE, "break_fill", asks=(Ask(EffectKind.FAILED),)),
            "only a verdict, a refusal",
        ),
    ],
)
def test_an_effect_that_does_not_fit_is_named(table: Table, what: str) -> None:
    outcome = named(table, "table.effects").run()
    assert outcome.verdict == Verdict.REFUTED
    assert any(what in line for line in outcome.trace)


def with_update(row: str, field: str, value: object) -> Table:
    updates = tuple(dict(row_named(TABLE, row).updates, **{field: value}).items())
    return with_row(TABLE, row, updates=updates)


@pytest.mark.parametrize(
    "table",
    [
        with_update("exhaust", "failed", state("failed")),
        with_update("verdict_restart", "passes", state("passes")),
        with_update("verdict_step", "target", state("target")),
        with_update("verdict_step", "target", state("target") + Const(0)),
    ],
)
def test_another_value_is_refuted(table: Table) -> None:
    assert named(table, "table.values").run().verdict == Verdict.REFUTED
