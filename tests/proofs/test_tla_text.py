"""Expressions become TLA+ text: by name where they have one, broken where they are long."""

from __future__ import annotations

import pytest

from dgap.proofs.tla_text import bare, filled, filled_with, phase_name, policy_name, writer
from dgap.protocol.decision import STEP_COUNT
from dgap.protocol.expr import (
    Choose,
    Const,
    Every,
    Formula,
    Greatest,
    Least,
    Node,
    Total,
    conjoin,
    implies,
    larger,
    lesser,
)
from dgap.protocol.vocabulary import Phase, Policy, reported, setting, state
from dgap.spec.environment import ranked, world

HELD, READ = state("held"), state("read")
OFFERED = reported("offered")


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (HELD + 1, "(ranks[r].held + 1)"),
        (HELD + READ - 1, "(ranks[r].held + ranks[r].read - 1)"),
        (HELD - (READ - 1), "(ranks[r].held - (ranks[r].read - 1))"),
        ((HELD + 1) * READ, "((ranks[r].held + 1) * ranks[r].read)"),
        (world("queued").differs(0), "around[r].queued # 0"),
        (setting("window") >= 2, "WINDOW >= 2"),
        (state("phase").equals(Phase.OFFER), "ranks[r].phase = OFFER"),
        (setting("policy").equals(Policy.FILL), "POLICY = POLICY_FILL"),
        (lesser(HELD, READ), "Lesser(ranks[r].held, ranks[r].read)"),
        (larger(HELD, 3), "Larger(ranks[r].held, 3)"),
        (Choose(HELD > 0, Const(1), READ), "(IF ranks[r].held > 0 THEN 1 ELSE ranks[r].read)"),
        (implies(HELD > 0, READ > 0), "(ranks[r].held > 0 => ranks[r].read > 0)"),
        (~(HELD > 1), "~(ranks[r].held > 1)"),
        (Every(ranked("held") > HELD), "(\\A p \\in Ranks : ranks[p].held > ranks[r].held)"),
        (Every(ranked("queued") > 7), "(\\A p \\in Ranks : around[p].queued > 7)"),
    ],
)
def test_a_node_on_one_line(node: Node, text: str) -> None:
    assert writer(frozenset()).text(node) == text


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (
            Least(OFFERED, OFFERED > 5, Const(0)),
            "Least({reports[p].offered : p \\in {p \\in Ranks : reports[p].offered > 5}}, 0)",
        ),
        (
            Greatest(reported("rank"), conjoin(), Const(9)),
            "Greatest({p : p \\in Ranks}, 9)",
        ),
        (Total(OFFERED, conjoin()), "Total([p \\in Ranks |-> reports[p].offered], Ranks)"),
    ],
)
def test_an_aggregate_over_reports(node: Node, text: str) -> None:
    assert writer(frozenset()).reading("reports").text(node) == text


def test_a_named_node_is_defined_once_after_what_it_needs() -> None:
    pen = writer(frozenset())
    assert pen.reading("reports").text(STEP_COUNT) == "STEP_COUNT(reports)"
    names = list(pen.used)
    assert names[-1] == "STEP_COUNT"
    assert names.index("OFFERS") < names.index("WIDEST") < names.index("WANTED")
    assert pen.used["OFFERS"] == ["OFFERS(report) == report.offered > 0"]


def test_a_long_formula_is_broken_into_bullets() -> None:
    parts: list[Formula] = [state(name) > 1234567 for name in ("held", "read", "steps", "lost")]
    lines = writer(frozenset()).block(implies(conjoin(*parts), parts[0]), width=40)
    assert lines == [
        "/\\ ranks[r].held > 1234567",
        "/\\ ranks[r].read > 1234567",
        "/\\ ranks[r].steps > 1234567",
        "/\\ ranks[r].lost > 1234567",
        "=> ranks[r].held > 1234567",
    ]


@pytest.mark.parametrize(
    ("text", "stripped"), [("(a + b)", "a + b"), ("(a) + (b)", "(a) + (b)"), ("a", "a")]
)
def test_only_parentheses_around_all_of_it_are_stripped(text: str, stripped: str) -> None:
    assert bare(text) == stripped


def test_pieces_fill_lines_and_a_long_piece_stands_alone() -> None:
    assert filled_with("x = [", ["a", "b"], ", ", "]") == ["x = [a, b]"]
    assert filled("f(", [["a"], ["b", "c"], ["d"]], ", ", ")") == ["f(a,", "  b", "  c, d)"]


def test_phases_and_policies_have_different_names() -> None:
    names = [phase_name(each) for each in Phase] + [policy_name(each) for each in Policy]
    assert len(set(names)) == len(names)
