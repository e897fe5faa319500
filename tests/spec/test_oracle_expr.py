"""The tree walker: small values by hand, and refusals where a name has no meaning."""

from __future__ import annotations

import pytest

from dgap.protocol.expr import TRUE, Choose, Const, Every, Greatest, Least, Name, Total
from dgap.spec.oracle_expr import Reading, evaluate, holds, value_of

R, RANK, X = Name("report", "r"), Name("report", "rank"), Name("world", "x")
AT = Reading(own={"world": {"x": 5}}, ranks=[{"r": 3}, {"r": 7}])


def test_an_aggregate_reads_each_rank_in_turn() -> None:
    assert value_of(Total(R, TRUE), AT) == 10
    assert value_of(Least(R, R > X, Const(0)), AT) == 7
    assert value_of(Greatest(R, R > 9, X), AT) == 5
    assert value_of(Least(RANK, R.equals(7), Const(9)), AT) == 1
    assert holds(Every(R < X + 3), AT)


def test_a_choice_reads_only_the_branch_that_is_taken() -> None:
    unknown = Name("world", "unknown")
    assert evaluate(Choose(X.equals(5), X, unknown), AT) == 5


def test_a_name_without_a_meaning_is_refused() -> None:
    with pytest.raises(KeyError):
        value_of(Name("state", "x"), AT)
    with pytest.raises(KeyError, match="outside every aggregate"):
        value_of(R, AT)


def test_what_is_no_node_is_refused() -> None:
    with pytest.raises(TypeError, match="no such term"):
        value_of(object(), AT)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="no such formula"):
        holds(object(), AT)  # type: ignore[arg-type]
