"""The ledger: nine assumptions, each with a typed error that notices when it fails."""

from __future__ import annotations

from pathlib import Path

from dgap.protocol.errors import DgapError
from dgap.spec.assumptions import ASSUMPTIONS
from dgap.spec.environment import MOVES, OCCASIONS

ROOT = Path(__file__).resolve().parents[2]


def test_the_ledger_has_nine_lines() -> None:
    assert [each.id for each in ASSUMPTIONS] == [f"A{number}" for number in range(1, 10)]


def test_each_assumption_has_a_monitor_of_the_error_tree_and_a_place_in_the_model() -> None:
    assert all(issubclass(each.monitor, DgapError) for each in ASSUMPTIONS)
    assert all(each.statement and each.modelled for each in ASSUMPTIONS)


def test_a_named_test_exists() -> None:
    for each in ASSUMPTIONS:
        path, _, name = each.test.partition("::")
        assert f"def {name}(" in (ROOT / path).read_text(), each.id


def test_the_rows_that_formalise_an_assumption_are_rows_of_the_environment() -> None:
    known = {row.name for row in (*OCCASIONS, *MOVES)}
    assert all(set(each.rows) <= known for each in ASSUMPTIONS)


def test_what_no_row_carries_says_what_rests_on_it_or_that_nothing_does() -> None:
    in_proofs = ("A5",)  # hypotheses about costs (groups.part); no environment knows a cost
    for each in ASSUMPTIONS:
        said = (bool(each.rows), bool(each.by_construction), bool(each.only_monitored))
        assert any(said) or each.id in in_proofs
        assert not (each.only_monitored and (each.rows or each.by_construction))
