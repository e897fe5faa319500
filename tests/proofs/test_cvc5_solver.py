"""cvc5 reads the question itself; only unsat is a proof."""

from __future__ import annotations

import pytest

from dgap.proofs import cvc5_solver
from dgap.proofs.check import Verdict
from dgap.proofs.solver import constant, smt_text

X = constant("x")


@pytest.mark.parametrize(("goal", "verdict"), [(X >= 1, Verdict.PROVED), (X >= 4, Verdict.REFUTED)])
def test_a_goal_follows_or_does_not(goal: object, verdict: Verdict) -> None:
    assert cvc5_solver.decide(smt_text([X >= 3], [goal])) == (verdict, "")


def test_one_goal_that_does_not_follow_is_enough() -> None:
    question = smt_text([X >= 3], [X >= 1, X >= 4, X >= 2])
    assert cvc5_solver.decide(question)[0] == Verdict.REFUTED


@pytest.mark.parametrize("question", ["", "(assert", "(assert (> y 1))(check-sat)"])
def test_what_cannot_be_read_is_unknown_with_a_reason(question: str) -> None:
    verdict, reason = cvc5_solver.decide(question)
    assert verdict == Verdict.UNKNOWN
    assert reason.startswith("unknown: ")


def test_what_takes_too_long_is_unknown() -> None:
    names = [constant(name) for name in "abc"]
    cubes = sum((each * each * each for each in names[1:]), names[0] * names[0] * names[0])
    question = smt_text([cubes == 114], [X >= X + 1])
    verdict, reason = cvc5_solver.decide(question, limit_ms=50)
    assert verdict == Verdict.UNKNOWN
    assert reason


def test_the_version_is_named() -> None:
    assert cvc5_solver.version()[0].isdigit()
