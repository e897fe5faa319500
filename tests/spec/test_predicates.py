"""The shared names mean what they say."""

from __future__ import annotations

from itertools import product

from dgap.protocol.expr import Truth
from dgap.protocol.vocabulary import Phase, State
from dgap.spec.oracle_expr import Reading, holds
from dgap.spec.predicates import both_or_neither, in_phase, same


def test_both_or_neither_is_equality_of_truth() -> None:
    for left, right in product((False, True), repeat=2):
        formula = both_or_neither(Truth(left), Truth(right))
        assert holds(formula, Reading(own={})) == (left == right)


def test_a_rank_is_in_one_phase() -> None:
    for phase in Phase:
        reading = Reading(own={"state": State(phase=phase)._asdict()})
        assert [other for other in Phase if holds(in_phase(other), reading)] == [phase]


def test_same_compares_the_ranged_over_rank_with_this_one() -> None:
    ranks = [{"rounds": 1}, {"rounds": 2}]
    reading = Reading(own={"state": {"rounds": 2}}, ranks=ranks, ranged=1)
    assert holds(same("rounds"), reading)
    assert not holds(same("rounds"), Reading(own=reading.own, ranks=ranks, ranged=0))
