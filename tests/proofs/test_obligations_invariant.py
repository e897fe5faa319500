"""The invariant is asked of every action, and of the start."""

from __future__ import annotations

from dgap.proofs.actions import all_actions
from dgap.proofs.asking import settle
from dgap.proofs.check import Verdict
from dgap.proofs.invariant_world import invariant
from dgap.proofs.obligations_invariant import (
    action_scenes,
    at_start,
    conjunct_check,
    invariant_checks,
    preserved,
)
from dgap.proofs.parametric import Conjunct, setting
from dgap.proofs.planted import with_row
from dgap.protocol.expr import Const
from dgap.protocol.table import TABLE
from dgap.protocol.vocabulary import Phase

CONJUNCTS = {each.name: each for each in invariant(TABLE)}


def test_every_conjunct_has_a_check() -> None:
    assert [each.id for each in invariant_checks()] == [f"invariant.{name}" for name in CONJUNCTS]


def test_every_action_is_asked_of_every_conjunct() -> None:
    asked = [each.name for each in preserved(TABLE, CONJUNCTS["window"])]
    assert asked == [action.name for action in all_actions(TABLE)]
    pairs = [each.name for each in preserved(TABLE, CONJUNCTS["skew"])]
    assert len(pairs) == 3 * len(asked)  # the actor with itself, before and after another


def test_every_action_can_happen_in_a_state_that_the_invariant_allows() -> None:
    for name, scene in action_scenes(TABLE).items():
        assert scene.theory.witness().verdict == Verdict.PROVED, name


def test_the_conjuncts_about_windows_collectives_and_loops_are_inductive() -> None:
    for name in ("window", "skew", "matching", "passed", "alignment", "aligned_trainers"):
        assert conjunct_check(TABLE, CONJUNCTS[name]).run().verdict == Verdict.PROVED, name


def test_a_conjunct_that_does_not_hold_at_the_start_is_refuted() -> None:
    wrong = Conjunct(
        name="wrong",
        property="S9",
        statement="a rank has read something",
        formula=lambda x: x["held"] >= 1,
    )
    assert settle(at_start(TABLE, wrong)).verdict == Verdict.REFUTED


def test_a_row_that_breaks_a_conjunct_is_named() -> None:
    turn = with_row(TABLE, "turn", updates=(("target", setting("window") + 1),))
    outcome = conjunct_check(turn, CONJUNCTS["window"]).run()
    assert outcome.verdict == Verdict.REFUTED
    assert "turn" in outcome.detail
    assert any("action of rank a: turn" in line for line in outcome.trace)


def test_a_rank_that_turns_before_its_steps_are_emitted_breaks_what_is_owed() -> None:
    early = with_row(TABLE, "turn", guard=Const(0).equals(0), target=Phase.FILL)
    assert conjunct_check(early, CONJUNCTS["owed"]).run().verdict == Verdict.REFUTED


def test_a_pass_without_a_sample_that_is_no_failure_is_refuted() -> None:
    silent = with_row(TABLE, "exhaust", updates=(("exhausted", Const(1)),))
    assert conjunct_check(silent, CONJUNCTS["dry"]).run().verdict == Verdict.REFUTED
