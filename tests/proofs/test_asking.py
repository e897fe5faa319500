"""Obligations make a check: the worst answer counts, and none at all is no proof."""

from __future__ import annotations

from dgap.proofs.actions import ACTOR
from dgap.proofs.asking import Obligation, discharge, parametric, settle
from dgap.proofs.check import Reach, Verdict
from dgap.proofs.parametric import Scene
from dgap.protocol.expr import Formula
from dgap.protocol.table import TABLE

HELD = ACTOR["held"]


def obligation(name: str, goal: Formula, *assumed: Formula) -> Obligation:
    return Obligation(name=name, scene=Scene(TABLE, (), None, assumed=assumed), goal=goal)


GOOD = obligation("good", HELD >= 1, HELD >= 2)
BAD = obligation("bad", HELD >= 3, HELD >= 2)
EMPTY = obligation("empty", HELD >= 3, HELD >= 2, HELD <= 1)
HARD = obligation(
    "hard",
    ~(HELD * HELD * HELD + ACTOR["read"] * ACTOR["read"] * ACTOR["read"]).equals(
        ACTOR["lost"] * ACTOR["lost"] * ACTOR["lost"]
    ),
    HELD >= 1,
    ACTOR["read"] >= 1,
    ACTOR["lost"] >= 1,
)


def test_a_goal_that_follows_is_proved_with_a_witness_of_its_hypotheses() -> None:
    outcome = settle([GOOD])
    assert outcome.verdict == Verdict.PROVED
    assert outcome.detail == "1 obligation, 2 ranks named"
    assert any("held=2" in line for line in outcome.trace)


def test_hypotheses_that_cannot_hold_prove_nothing() -> None:
    assert discharge(EMPTY).verdict == Verdict.REFUTED
    outcome = settle([GOOD, EMPTY])
    assert outcome.verdict == Verdict.REFUTED
    assert "contradict" in outcome.detail


def test_one_refuted_obligation_refutes_the_check_and_is_shown() -> None:
    outcome = settle([GOOD, BAD])
    assert outcome.verdict == Verdict.REFUTED
    assert "bad" in outcome.detail
    assert any("held=2" in line for line in outcome.trace)


def test_an_unknown_answer_is_never_proved() -> None:
    HARD.scene.theory.limit(50)
    assert settle([GOOD, HARD]).verdict == Verdict.UNKNOWN


def test_a_check_without_obligations_is_unknown() -> None:
    assert settle([]).verdict == Verdict.UNKNOWN


def test_a_parametric_check_is_for_all_ranks_and_runs_when_asked() -> None:
    check = parametric("an.id", "S1", "a statement", lambda: [GOOD])
    assert check.reach == Reach.ALL_RANKS
    assert check.expected == Verdict.PROVED
    assert check.run().verdict == Verdict.PROVED
