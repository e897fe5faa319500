"""A scene: the invariant, one action, any number of ranks."""

from __future__ import annotations

from dgap.proofs.actions import ACTOR, all_actions
from dgap.proofs.agreed import (
    GATHER,
    SUM,
    final_at,
    kind_at,
    planned_at,
    rounds_at,
    steps_at,
    verdict_at,
)
from dgap.proofs.check import Verdict
from dgap.proofs.invariant_world import invariant
from dgap.proofs.parametric import Scene, at_rank, invariant_hypotheses, setting
from dgap.proofs.terms import Agreed, Rank
from dgap.protocol.expr import Const, Formula, implies
from dgap.protocol.table import TABLE
from dgap.protocol.vocabulary import EffectKind, state

B = Rank("b")
ACTIONS = {action.name: action for action in all_actions(TABLE)}


def proved(scene: Scene, goal: Formula, *, after: bool = False) -> bool:
    """Whether the goal follows in a scene whose hypotheses can hold."""
    term = scene.then(goal) if after else scene.now(goal)
    assert scene.theory.witness().verdict == Verdict.PROVED
    return scene.theory.implies(term).verdict == Verdict.PROVED


def test_an_action_changes_the_actor_and_nobody_else() -> None:
    scene = Scene(TABLE, (), ACTIONS["read"])
    assert proved(scene, ACTOR["held"] >= 1, after=True) is False  # no invariant is assumed
    unlike = (ACTOR["read"].equals(0), B["read"].equals(1), B["held"].equals(7))
    other = Scene(TABLE, (), ACTIONS["read"], assumed=unlike)
    assert proved(other, B["held"].equals(7) & ACTOR["read"].equals(1), after=True)


def test_two_names_may_denote_one_rank() -> None:
    scene = Scene(TABLE, (), ACTIONS["read"], assumed=(B["held"].equals(7),))
    assert not proved(scene, B["held"].equals(7), after=True)


def test_the_updates_read_the_old_state() -> None:
    scene = Scene(TABLE, invariant(TABLE), ACTIONS["summed"])
    moved = ACTOR["held"] + ACTOR["owed_samples"]
    assert proved(scene, moved.equals(moved), after=True)
    held = Scene(TABLE, invariant(TABLE), ACTIONS["summed"], assumed=(ACTOR["held"].equals(3),))
    assert proved(held, moved.equals(3), after=True)


def test_the_agreed_figures_follow_the_recurrences() -> None:
    left = ACTOR["left"]
    scene = Scene(TABLE, (), None, assumed=(left.equals(0),))
    assert proved(scene, kind_at(left + 1).equals(GATHER))
    assert proved(scene, rounds_at(left + 1).equals(1))
    stepped = (verdict_at(Const(1)).equals(EffectKind.TALLY), left.equals(1))
    after = Scene(TABLE, (), None, assumed=stepped)
    assert proved(after, kind_at(Const(2)).equals(SUM))
    assert proved(after, planned_at(Const(1)).equals(Agreed("step_count_at", Const(1))))
    assert proved(after, steps_at(Const(1)))
    assert proved(after, ~final_at(Const(1)))


def test_a_gathered_vector_is_the_same_for_whoever_leaves_later() -> None:
    scene = Scene(
        TABLE,
        invariant(TABLE),
        ACTIONS["verdict_step"],
        assumed=(B["left"].equals(ACTOR["entered"]),),
    )
    ahead = implies(B["ended"].equals(0), (B["steps"] + B["owed_steps"]) >= 1)
    assert proved(scene, ahead)


def test_an_expression_over_the_state_is_read_at_any_rank() -> None:
    assert at_rank(B, state("held") + setting("window")) == B["held"] + setting("window")


def test_all_conjuncts_are_instantiated_at_all_pairs_of_named_ranks() -> None:
    conjuncts = tuple(each for each in invariant(TABLE) if each.name in ("skew", "window"))
    assert len(invariant_hypotheses(conjuncts, (ACTOR, B))) == 2 + 4
    numbered = tuple(each for each in invariant(TABLE) if each.name == "passed")
    assert len(invariant_hypotheses(numbered, (ACTOR,))) == 3  # left, entered, any number
