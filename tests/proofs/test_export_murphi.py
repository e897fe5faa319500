"""The Murphi model: rules named after rows, old values read before new ones are written."""

from __future__ import annotations

import re

import pytest

from dgap.proofs.export import actions, instance_of
from dgap.proofs.export_murphi import LIMIT, Pen, members, murphi
from dgap.proofs.foreign import COMMITTED
from dgap.protocol.expr import (
    Choose,
    Const,
    Every,
    Least,
    Node,
    Total,
    conjoin,
    implies,
    larger,
    lesser,
)
from dgap.protocol.table import TABLE
from dgap.protocol.vocabulary import Report, Settings, State, reported, setting, state
from dgap.spec.environment import Environment, ranked, world
from dgap.spec.properties import PROPERTIES

MODEL = murphi(instance_of(COMMITTED))
HELD = state("held")
PEN = Pen(settings=Settings())


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (HELD + 1, "(ranks[r].held + 1)"),
        (world("queued").equals(0), "(around[r].queued = 0)"),
        (HELD.differs(2), "(ranks[r].held != 2)"),
        (setting("window") > 1, "(WINDOW > 1)"),
        (Choose(HELD > 0, Const(1), Const(2)), "((ranks[r].held > 0) ? 1 : 2)"),
        (lesser(HELD, 2), "lesser(ranks[r].held, 2)"),
        (larger(HELD, 2), "larger(ranks[r].held, 2)"),
        (implies(HELD > 0, HELD > 1), "(!((ranks[r].held > 0)) | (ranks[r].held > 1))"),
        (
            Every(ranked("held") > ranked("queued")),
            "(forall p: rank_type do (ranks[p].held > around[p].queued) endforall)",
        ),
    ],
)
def test_a_node_as_text(node: Node, text: str) -> None:
    assert PEN.text(node) == text


def test_an_aggregate_becomes_one_function_over_what_it_ranges() -> None:
    pen = Pen(settings=Settings())
    over = Pen(settings=Settings(), reports=True, functions=pen.functions, texts=pen.texts)
    least = Least(reported("offered"), reported("offered") > 0, Const(7))
    assert over.text(least) == "aggregate_1(r)"
    assert over.text(least) == "aggregate_1(r)"
    assert pen.text(least) == "aggregate_2(r)"
    assert "report_offered(p)" in pen.texts[0]
    assert "ranks[p].offered" in pen.texts[1]
    assert "found := 7" in pen.texts[0]
    assert pen.text(Total(ranked("held"), conjoin())) == "aggregate_3(r)"


def test_every_row_and_move_is_a_rule_once_and_rest_stands_beside_them() -> None:
    rules = re.findall(r'\brule "(\w+)"', MODEL)
    assert rules == [*(action.name for action in actions(TABLE)), "rest"]


def test_every_always_property_is_an_invariant() -> None:
    invariants = re.findall(r'^invariant "(\w+)"', MODEL, re.MULTILINE)
    assert invariants == [each.id for each in PROPERTIES if each.kind == "always"]


def test_new_values_are_computed_before_any_is_written() -> None:
    for rule in re.findall(r"==>\n(.*?)\nend; end;", MODEL, re.DOTALL):
        body = rule.split("begin\n")[1]
        computed = [at.start() for at in re.finditer(r"\bnew_\w+ := ", body)]
        written = [at.start() for at in re.finditer(r"\[r\]\.\w+ := new_", body)]
        assert len(computed) == len(written)
        assert not written or max(computed) < min(written)


def test_every_field_has_a_bounded_type() -> None:
    for kind in (State, Environment, Report):
        (record,) = re.findall(rf"{kind.__name__.lower()}_type: record (.*) end;", MODEL)
        names = [entry.split(":")[0].strip() for entry in record.split(";") if entry.strip()]
        assert tuple(names) == kind._fields
    assert f"number: 0..{LIMIT};" in MODEL


def test_all_starts_are_there() -> None:
    assert 'ruleset start_0: 0..2; start_1: 0..2 do startstate "start" begin' in MODEL
    assert MODEL.count("around[1].source := 2;") == 1


def test_members_of_a_conjunction_leave_out_what_is_simply_true() -> None:
    parts = [HELD > 0, HELD > 1]
    assert list(members(conjoin(conjoin(), *parts))) == parts
