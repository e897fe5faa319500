"""The TLA+ module: fixed order, actions named after rows, and the committed copy is fresh."""

from __future__ import annotations

import re

import pytest

from dgap.proofs.export import Instance, actions, instance_of
from dgap.proofs.export_tla import tla
from dgap.proofs.foreign import COMMITTED, INSTANCES
from dgap.proofs.planted import PLANTED
from dgap.protocol.table import TABLE
from dgap.protocol.vocabulary import Settings
from dgap.spec.properties import PROPERTIES
from tests.architecture.source import ROOT

INSTANCE = instance_of(COMMITTED)
FILES = tla(INSTANCE)


def test_the_committed_module_is_what_the_table_says_now() -> None:
    remedy = "run `python -m dgap.proofs export`"
    assert (ROOT / "spec" / "Dgap.tla").read_text() == FILES.module, remedy
    assert (ROOT / "spec" / "Dgap.cfg").read_text() == FILES.config, remedy


def test_sections_stand_in_their_fixed_order() -> None:
    marks = ["CONSTANTS", "VARIABLES", "TypeOK ==", "Init ==", "read(r) ==", "Next ==", "S1a =="]
    places = [FILES.module.index(f"\n{mark}") for mark in [*marks, "Rest ==", "Spec =="]]
    assert places == sorted(places)


def test_every_row_and_move_is_an_action_that_next_may_take() -> None:
    following = FILES.module[FILES.module.index("\nNext ==") :]
    for action in actions(TABLE):
        assert f"\n{action.name}(r) ==\n" in FILES.module
        assert f" {action.name}(r)" in following


def test_every_action_says_what_becomes_of_every_variable() -> None:
    texts = re.split(r"\n(?=\w+\(r\) ==\n)", FILES.module.split("Actions of rank r.")[1])
    bodies = [text for text in texts if "==" in text]
    assert len(bodies) == len(actions(TABLE))
    for body in bodies:
        assert "ranks' = " in body or "UNCHANGED ranks" in body
        assert "around' = " in body or "UNCHANGED around" in body
        assert ("LeaveGather(r)" in body) != ("StayOutside" in body)


def test_no_name_is_defined_twice() -> None:
    defined = re.findall(r"^(\w+)(?:\([^)]*\))? ==", FILES.module, re.MULTILINE)
    assert len(defined) == len(set(defined)) > len(actions(TABLE))


def test_always_properties_are_invariants_and_at_rest_ones_guard_rest() -> None:
    invariants = FILES.config.split("INVARIANTS\n")[1].split()
    always = [each.id for each in PROPERTIES if each.kind == "always"]
    assert invariants == ["TypeOK", *always]
    assert "Rest ==\n  /\\ S10 /\\ L1 /\\ L3\n  /\\ UNCHANGED vars\n" in FILES.module


def test_the_configuration_gives_every_constant() -> None:
    settings = Settings(window=5, quota=1, tail_stop=1)
    other = Instance(name="other", scope="", settings=settings, starts=INSTANCE.starts)
    config = tla(other).config
    for text in ("WORLD_SIZE = 2", "WINDOW = 5", "QUOTA = 1", "TAIL_STOP = 1"):
        assert f"  {text}\n" in config


def test_a_single_property_is_exported_alone() -> None:
    (one,) = [each for each in PROPERTIES if each.id == "S5"]
    files = tla(INSTANCE, properties=[one])
    assert "\nS1a ==" not in files.module
    assert files.config.split("INVARIANTS\n")[1].split() == ["TypeOK", "S5"]


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_shows_in_the_module(name: str) -> None:
    planted = tla(INSTANCE, table=PLANTED[name]()).module
    ours, theirs = (text.split("EXTENDS")[1] for text in (FILES.module, planted))
    assert ours != theirs


def test_all_instances_are_exported_in_readable_lines() -> None:
    for family in INSTANCES:
        lines = tla(instance_of(family)).module.splitlines()
        assert max(map(len, lines)) < 130
