"""Three answers, and only one of them is a proof."""

from __future__ import annotations

from dgap.proofs.check import Verdict
from dgap.proofs.solver import (
    INTEGER,
    RANK,
    Theory,
    choose,
    constant,
    every,
    function,
    holds,
    implication,
    negation,
    number,
    proposition,
    some,
    truth,
    value,
    version,
)

X, Y, Z = (constant(name) for name in "xyz")


def test_what_follows_is_proved_and_what_does_not_is_refuted_with_a_model() -> None:
    theory = Theory([X >= 1, Y >= X])
    assert theory.implies(Y >= 1).verdict == Verdict.PROVED
    refuted = theory.implies(X >= 2)
    assert refuted.verdict == Verdict.REFUTED
    assert value(refuted.model, X) == 1
    assert theory.implies(Y >= 1).verdict == Verdict.PROVED  # an answer leaves nothing behind


def test_hypotheses_that_hold_have_a_witness() -> None:
    witness = Theory([X >= 3]).witness()
    assert witness.verdict == Verdict.PROVED
    assert value(witness.model, X) >= 3
    assert holds(witness.model, X >= 3)


def test_hypotheses_that_contradict_each_other_are_refuted() -> None:
    witness = Theory([X >= 1, X <= 0]).witness()
    assert witness.verdict == Verdict.REFUTED
    assert "contradict" in witness.reason


def test_a_question_that_is_too_hard_for_its_time_limit_is_unknown() -> None:
    cubes = [X > 0, Y > 0, Z > 0, X * X * X + Y * Y * Y == Z * Z * Z]
    theory = Theory(cubes, timeout_ms=50)
    assert theory.implies(truth(False)).verdict == Verdict.UNKNOWN
    assert theory.witness().verdict == Verdict.UNKNOWN


def test_the_constructors_mean_what_they_say() -> None:
    held = function("held", RANK, INTEGER)
    a, b = constant("a", RANK), constant("b", RANK)
    p = proposition("p")
    theory = Theory([a == b, implication(p, X == 1), negation(negation(p)), held(a) == 4])
    for goal in (
        held(b) == 4,
        every([X == 1, truth(True)]),
        some([truth(False), number(1) == X]),
        choose(p, X, Y) == 1,
    ):
        assert theory.implies(goal).verdict == Verdict.PROVED
    assert theory.implies(every([]) == some([])).verdict == Verdict.REFUTED


def test_the_solver_says_its_version() -> None:
    assert version().count(".") >= 2
