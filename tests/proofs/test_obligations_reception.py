"""When events are taken is proved of the table and refuted of changed ones."""

from __future__ import annotations

import pytest

from dgap.proofs.check import Check, Verdict
from dgap.proofs.obligations_reception import ORIGINS, VERDICTS, reception_checks
from dgap.proofs.planted import row_named, step_count_above_least_offer, with_report, with_row
from dgap.protocol.expr import TRUE, Const
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Ask, Table
from dgap.protocol.vocabulary import EffectKind, EventKind, argument


def named(table: Table, id_: str) -> Check:
    return next(check for check in reception_checks(table) if check.id == id_)


@pytest.mark.parametrize("check", reception_checks(), ids=lambda each: each.id)
def test_it_holds_of_the_protocol(check: Check) -> None:
    assert check.run().verdict == Verdict.PROVED


def narrowed(row: str) -> Table:
    """The row applies to less: the engine may no longer choose how large a batch is."""
    guard = row_named(TABLE, row).guard
    return with_row(TABLE, row, guard=guard & argument("samples").equals(1))


@pytest.mark.parametrize(
    ("id_", "table"),
    [
        ("reception.taken", narrowed("deliver")),
        ("reception.taken", with_row(TABLE, "fail_reading", guard=TRUE)),
        ("reception.taken", Table(rows=TABLE.rows[1:], report=TABLE.report)),
        ("reception.idle", with_row(TABLE, "end", guard=~TRUE)),
        ("decision.verdicts", with_row(TABLE, "verdict_stop", guard=~TRUE)),
        (
            "decision.origin",
            with_row(TABLE, "verdict_fail", asks=(Ask(EffectKind.FAILED, Const(0)),)),
        ),
        ("report.true", with_report(TABLE, exhausted=Const(0))),
        ("step_count.policy", step_count_above_least_offer()),
        (
            "step_count.policy",
            with_row(
                TABLE,
                "verdict_step",
                updates=tuple(
                    (name, Const(1) if name == "owed_steps" else value)
                    for name, value in row_named(TABLE, "verdict_step").updates
                ),
            ),
        ),
    ],
)
def test_an_event_taken_otherwise_is_refuted(id_: str, table: Table) -> None:
    assert named(table, id_).run().verdict == Verdict.REFUTED


def test_every_verdict_of_the_table_is_stated() -> None:
    asked = {row.asks[0].kind for row in TABLE.rows if row.event == EventKind.GATHERED}
    assert asked == set(VERDICTS)
    assert set(ORIGINS) <= asked
