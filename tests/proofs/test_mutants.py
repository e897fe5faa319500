"""Mutants are generated from the table: each differs in one thing and none is the table itself."""

from __future__ import annotations

import pytest

from dgap.proofs.mutants import NEIGHBOURS, REPORT, Mutant, mutants, written
from dgap.protocol.expr import Compare, Const, walk
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Row, Table
from dgap.protocol.vocabulary import EventKind, Phase, state


def changed_rows(mutant: Mutant) -> set[str]:
    """Names of the rows that the mutant lost or has otherwise."""
    rows = {row.name: row for row in mutant.table.rows}
    found = {row.name for row in TABLE.rows if rows.get(row.name) != row}
    return found | ({REPORT} if mutant.table.report != TABLE.report else set())


def test_every_mutant_differs_from_the_table_in_the_row_that_it_names_and_in_no_other() -> None:
    for mutant in mutants():
        assert changed_rows(mutant) == {mutant.row}, mutant.id
        assert mutant.id.startswith(f"{mutant.row}.")


def test_every_row_is_dropped_once_and_led_to_every_other_phase() -> None:
    ids = {mutant.id for mutant in mutants()}
    for row in TABLE.rows:
        assert f"{row.name}.row:dropped" in ids
        for phase in Phase:
            there = f"{row.name}.target:{row.target.name}→{phase.name}" in ids
            assert there == (phase != row.target)


def test_every_update_is_dropped_and_every_report_field_silenced() -> None:
    ids = {mutant.id for mutant in mutants()}
    for row in TABLE.rows:
        assert {f"{row.name}.{name}:dropped" for name, _ in row.updates} <= ids
    assert {f"{REPORT}.{name}:dropped" for name, _ in TABLE.report} <= ids


def test_every_comparison_and_constant_of_every_guard_is_changed() -> None:
    ids = {mutant.id for mutant in mutants()}
    for row in TABLE.rows:
        for place, node in written(row):
            if isinstance(node, Compare):
                for other in NEIGHBOURS[node.operator]:
                    assert f"{row.name}.{place}:{node.operator}→{other}" in ids
            if isinstance(node, Const):
                assert f"{row.name}.{place}:{int(node.value)}→{node.value + 1}" in ids


def test_what_stands_in_two_places_is_changed_in_both() -> None:
    shared = state("held") + 1
    row = Row(
        name="two",
        phase=Phase.FILL,
        event=EventKind.READ,
        target=Phase.FILL,
        guard=shared > 2,
        updates=(("held", shared), ("read", state("held") + 1)),
    )
    found = {m.id: m.table for m in mutants(Table(rows=(row,), report=()))}
    (changed,) = found["two.guard.1:+→-"].rows
    minus = state("held") - 1
    assert changed.guard == (minus > 2)
    assert dict(changed.updates) == {"held": minus, "read": state("held") + 1}
    assert len(list(walk(changed.guard))) == len(list(walk(row.guard)))


def test_two_rows_of_one_name_are_refused() -> None:
    row = TABLE.rows[0]
    with pytest.raises(ValueError, match="two mutants have one id"):
        mutants(Table(rows=(row, row), report=()))
