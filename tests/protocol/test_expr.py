"""The expression language: data that compares by content, and two types that do not mix."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dgap.protocol.expr import (
    TRUE,
    Arithmetic,
    Both,
    Choose,
    Compare,
    Const,
    Every,
    Greatest,
    Least,
    Name,
    Node,
    Some,
    Total,
    canonical,
    conjoin,
    implies,
    larger,
    lesser,
    parts,
    rebuild,
    term,
    walk,
)
from dgap.spec.oracle_expr import Reading, evaluate, holds, value_of

X, Y = Name("state", "x"), Name("state", "y")
R = Name("report", "r")


def reading(x: int, y: int, *ranks: int) -> Reading:
    return Reading(own={"state": {"x": x, "y": y}}, ranks=[{"r": value} for value in ranks])


@given(x=st.integers(), y=st.integers())
def test_operators_mean_what_they_say(x: int, y: int) -> None:
    at = reading(x, y)
    assert value_of((X + Y) * 2 - 1, at) == (x + y) * 2 - 1
    assert value_of(lesser(X, Y), at) == min(x, y)
    assert value_of(larger(X, Y), at) == max(x, y)
    assert holds(X < Y, at) == (x < y)
    assert holds(X <= Y, at) == (x <= y)
    assert holds(X > Y, at) == (x > y)
    assert holds(X >= Y, at) == (x >= y)
    assert holds(X.equals(Y), at) == (x == y)
    assert holds(X.differs(Y), at) == (x != y)
    assert holds(implies(X < 0, Y < 0), at) == (x >= 0 or y < 0)
    assert holds((X < 0) | ~(Y < 0), at) == (x < 0 or y >= 0)


@given(ranks=st.lists(st.integers(-3, 3), max_size=5))
def test_aggregates_range_over_the_ranks(ranks: list[int]) -> None:
    at = reading(0, 0, *ranks)
    positive = [value for value in ranks if value > 0]
    assert holds(Every(R > 0), at) == all(value > 0 for value in ranks)
    assert holds(Some(R > 0), at) == any(value > 0 for value in ranks)
    assert value_of(Least(R, R > 0, Const(-9)), at) == min(positive, default=-9)
    assert value_of(Greatest(R, R > 0, Const(-9)), at) == max(positive, default=-9)
    assert value_of(Total(R, R > 0), at) == sum(positive)


def test_expressions_are_equal_by_content_and_hash_by_content() -> None:
    assert Arithmetic("+", Name("state", "x"), Const(1)) == X + 1
    assert X + 1 != X + 2
    assert len({X < Y, X < Y, Y < X}) == 2


@pytest.mark.parametrize("value", [True, 1.0, "1", None, X < Y])
def test_what_is_no_integer_is_no_term(value: object) -> None:
    with pytest.raises(TypeError, match="an integer expression is needed"):
        term(value)  # type: ignore[arg-type]


def test_a_flag_enum_becomes_a_plain_integer() -> None:
    assert type(term(3)) is Const
    assert canonical(term(3)) == "(Const 3)"


def test_no_conjuncts_are_true_and_one_is_itself() -> None:
    assert conjoin() == TRUE
    assert conjoin(X < Y) == (X < Y)
    assert conjoin(X < Y, Y < X, TRUE) == Both(Both(X < Y, Y < X), TRUE)


def test_walking_visits_parents_first_and_every_part() -> None:
    node = Choose(X < Y, X, Const(0))
    assert list(walk(node)) == [node, X < Y, X, Y, X, Const(0)]
    assert parts(node) == (X < Y, X, Const(0))
    assert parts(X) == ()


def test_rebuilding_replaces_the_direct_parts_only() -> None:
    def swap(part: Node) -> Node:
        return Y if part == X else part

    assert rebuild(X + 1, swap) == Y + 1
    assert rebuild((X + 1) < 2, swap) == ((X + 1) < 2)
    assert rebuild(X, swap) is X


def test_different_expressions_have_different_canonical_texts() -> None:
    nodes: list[Node] = [X, Y, R, X + Y, Y + X, X - Y, X < Y, X <= Y, ~(X < Y), TRUE, Const(0)]
    nodes += [Least(R, R > 0, X), Greatest(R, R > 0, X), Total(R, R > 0), Every(R > 0), Some(R > 0)]
    assert len({canonical(node) for node in nodes}) == len(nodes)
    assert canonical(Compare("<", X, Const(1))) == "(Compare < (Name state x) (Const 1))"


def test_the_value_of_either_type_is_found() -> None:
    assert evaluate(X + 1, reading(1, 0)) == 2
    assert evaluate(X < 1, reading(1, 0)) is False
