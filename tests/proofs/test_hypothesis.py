"""Hypotheses have readable names, one each, and say which assumption they are."""

from __future__ import annotations

import pytest

from dgap.proofs.actions import ACTOR
from dgap.proofs.agreed import kind_at, verdict_at
from dgap.proofs.hypothesis import (
    LONGEST,
    Hypothesis,
    Kind,
    assumptions_of,
    by_name,
    in_words,
    name_of,
    shortened,
)
from dgap.proofs.obligations_decision import vector_scene
from dgap.proofs.obligations_invariant import action_scenes
from dgap.proofs.parametric import Scene
from dgap.proofs.solver import constant
from dgap.proofs.terms import Rank
from dgap.protocol.expr import Formula, Name, Node, Some, conjoin, implies
from dgap.protocol.table import TABLE
from dgap.protocol.vocabulary import EffectKind, Phase, reported, state

X = constant("x")
NUMBER = ACTOR["entered"]


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (state("held") >= 1, "a.held >= 1"),
        (ACTOR["phase"].equals(Phase.OFFER), "a.phase == OFFER"),
        (verdict_at(NUMBER).equals(EffectKind.CLOSE), "verdict_at(a.entered) == CLOSE"),
        (Rank("b").said("offered", NUMBER) >= 2, "b.said(offered, a.entered) >= 2"),
        (
            implies(ACTOR["held"] > 0, kind_at(NUMBER) >= 0),
            "(a.held > 0) implies (kind_at(a.entered) >= 0)",
        ),
        (~conjoin(~(state("held") >= 1), ~(state("read") >= 1)), "(a.held >= 1) or (a.read >= 1)"),
        (~~(state("held") >= 1), "a.held >= 1"),
    ],
)
def test_expressions_read_as_a_reader_writes_them(node: Node, text: str) -> None:
    assert in_words(node) == text


def test_a_long_text_is_cut_and_keeps_a_checksum_of_the_whole() -> None:
    first, second = "x" * 300 + "1", "x" * 300 + "2"
    assert shortened(first, LONGEST).startswith("x" * LONGEST + "... [")
    assert shortened(first, LONGEST) != shortened(second, LONGEST)
    assert shortened("short", LONGEST) == "short"


def hypothesis(kind: Kind, formula: Formula) -> Hypothesis:
    about = (formula,) if kind == Kind.ASSUMED else ("read", formula)
    return Hypothesis(X >= 0, kind, about)


@pytest.mark.parametrize(
    ("kind", "formula", "ids"),
    [
        (Kind.GUARD, ACTOR["unread"] > 0, ("A3",)),
        (Kind.GUARD, ACTOR["gone"].equals(1), ("A4",)),
        (Kind.GUARD, ACTOR["held"] > 0, ()),
        (Kind.MOVE, ACTOR["begun"].equals(ACTOR["done"]), ("A4",)),
        (Kind.ASSUMED, ACTOR["source"] >= 0, ("A3",)),
        (Kind.ASSUMED, ACTOR["source"] < 2**32, ("A7",)),
        (Kind.ASSUMED, ACTOR["held"] < 5, ()),
        (Kind.ASSUMED, Name("group", "whole_largest") >= 1, ("A5",)),
        (Kind.ASSUMED, Name("group", "whole_size") >= 1, ()),
        (Kind.AGREED, ACTOR["held"] > 0, ("A1", "A6")),
        (Kind.ENTERED, ACTOR["held"] > 0, ("A1",)),
        (Kind.BEGUN, ACTOR["held"] > 0, ("A4",)),
        (Kind.INVARIANT, ACTOR["unread"] > 0, ()),
    ],
)
def test_a_hypothesis_says_which_assumption_it_is(
    kind: Kind, formula: Formula, ids: tuple[str, ...]
) -> None:
    assert assumptions_of(hypothesis(kind, formula)) == ids


def test_every_hypothesis_of_every_action_has_a_name_of_its_own() -> None:
    for scene in action_scenes(TABLE).values():
        assert len(scene.instances) == len(scene.hypotheses)


def test_names_say_where_a_hypothesis_comes_from() -> None:
    names = {each.name for each in action_scenes(TABLE)["verdict_step"].instances}
    assert "guard of verdict_step: a.phase == OFFER" in names
    assert "invariant.skew at a, b" in names
    assert "invariant.passed at a, collective b.left" in names
    assert "recurrence at a.entered" in names
    assert "entered: b.entered >= a.entered" in names
    assert Kind.SETTINGS in names


def test_what_another_rank_reported_is_heard_and_what_a_witness_reported_is_not() -> None:
    scene = vector_scene(TABLE)
    scene.now(Some(reported("failed") >= 1))
    heard = [each for each in scene.hypotheses if each.kind == Kind.HEARD]
    assert [name_of(each)[:12] for each in heard] == ["heard from a", "heard from b"]
    assert all(assumptions_of(each) == ("A1",) for each in heard)


def test_two_hypotheses_of_one_name_are_refused_unless_they_are_the_same() -> None:
    same = Hypothesis(X >= 0, Kind.SETTINGS)
    assert len(by_name([same, same])) == 1
    with pytest.raises(ValueError, match="two hypotheses have the name"):
        by_name([same, Hypothesis(X >= 1, Kind.SETTINGS)])


def test_a_conjunction_that_is_assumed_is_as_many_hypotheses() -> None:
    assumed = conjoin(ACTOR["held"] >= 1, ACTOR["read"] >= 1)
    scene = Scene(TABLE, (), None, assumed=(assumed,))
    names = [name_of(each) for each in scene.hypotheses if each.kind == Kind.ASSUMED]
    assert names == ["assumed: a.held >= 1", "assumed: a.read >= 1"]
