"""Agreed figures follow from the kinds and verdicts of the collectives, and nothing else."""

from __future__ import annotations

from dgap.proofs.agreed import (
    final_at,
    kind_at,
    origin,
    planned_at,
    recurrences,
    restarts_at,
    rounds_at,
    steps_at,
    verdict_at,
)
from dgap.proofs.check import Verdict
from dgap.proofs.parametric import before
from dgap.proofs.solver import Theory
from dgap.proofs.terms import Agreed, Reading, translate
from dgap.protocol.expr import Const, Formula, conjoin
from dgap.protocol.vocabulary import EffectKind


def follows(goal: Formula, *known: Formula) -> bool:
    reading = Reading(name=before)
    theory = Theory([translate(formula, reading) for formula in known])
    assert theory.witness().verdict == Verdict.PROVED
    return theory.implies(translate(goal, reading)).verdict == Verdict.PROVED


def is_told(number: int, verdict: EffectKind) -> Formula:
    return verdict_at(Const(number)).equals(int(verdict))


def test_the_first_collective_is_a_gather_and_counts_as_a_round() -> None:
    known = (origin, recurrences(Const(0)))
    assert follows(rounds_at(Const(0) + 1).equals(1), *known)
    assert not follows(restarts_at(Const(0) + 1).equals(0), *known)


def test_a_step_is_followed_by_a_sum_that_counts_no_round() -> None:
    known = (origin, recurrences(Const(0)), recurrences(Const(1)), is_told(1, EffectKind.TALLY))
    steps = Agreed("step_count_at", Const(1))
    goal = conjoin(
        steps_at(Const(1)),
        kind_at(Const(2)).equals(1),
        rounds_at(Const(2)).equals(1),
        planned_at(Const(2)).equals(steps),
    )
    assert follows(goal, *known)


def test_a_restart_is_counted_and_is_not_final() -> None:
    known = (origin, recurrences(Const(0)), is_told(1, EffectKind.RESTART))
    assert follows(restarts_at(Const(1)).equals(1) & ~final_at(Const(1)), *known)
    assert follows(final_at(Const(1)), *known[:2], is_told(1, EffectKind.CLOSE))
