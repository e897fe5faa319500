"""A model is shown so that a reader sees which ranks do what."""

from __future__ import annotations

from dgap.proofs.actions import ACTOR, all_actions
from dgap.proofs.invariant_world import invariant
from dgap.proofs.parametric import Scene, setting
from dgap.proofs.readable import describe
from dgap.protocol.table import TABLE
from dgap.protocol.vocabulary import Policy

ACTIONS = {action.name: action for action in all_actions(TABLE)}


def test_a_scene_shows_settings_ranks_reports_and_the_action() -> None:
    assumed = (ACTOR["held"].equals(2), setting("policy").equals(Policy.PAPER))
    scene = Scene(TABLE, invariant(TABLE), ACTIONS["verdict_step"], assumed=assumed)
    lines = describe(scene, scene.theory.witness().model)
    text = "\n".join(lines)
    assert lines[0].startswith("settings: ")
    assert "policy=PAPER" in lines[0]
    assert "OFFER" in text
    assert "held=2" in text
    assert "report of a in gather" in text
    assert "action of rank a: verdict_step" in text
    assert lines[-1].startswith("then rank a: phase -> TALLY, ")


def test_ranks_that_are_one_are_shown_once_and_zeros_are_left_out() -> None:
    same = Scene(TABLE, (), None, assumed=(ACTOR["held"].equals(5), ACTOR["lost"].equals(0)))
    lines = describe(same, same.theory.witness().model)
    assert sum("held=5" in line for line in lines) >= 1
    assert not any("lost=0" in line for line in lines)
    assert not any("action" in line for line in lines)
