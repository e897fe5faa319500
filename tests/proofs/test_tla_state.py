"""The declarations name every field, and the start is that of the instance."""

from __future__ import annotations

from dgap.proofs.tla_state import constant_names, constants, init, variables
from dgap.protocol.vocabulary import Phase, Report, Settings, State
from dgap.spec.environment import Environment, initial_environment


def test_every_setting_is_a_constant() -> None:
    assert constant_names() == ["WORLD_SIZE", *(name.upper() for name in Settings._fields)]
    assert all(f"{phase.name} == {phase.value}" in constants() for phase in Phase)


def test_every_field_is_declared_with_its_meaning() -> None:
    lines = [line for line in variables() if line.startswith("  ")]
    for name in (*State._fields, *Environment._fields, *Report._fields):
        (entry, *_) = [line for line in lines if line.startswith(f"  {name}: ")]
        assert len(entry.split("\\* ")[1]) > 3


def test_what_starts_differ_in_is_chosen_and_the_rest_is_fixed() -> None:
    starts = [[(State(target=3), initial_environment(n)) for n in (0, 2)]] * 2
    text = "\n".join(init(starts))
    assert "Starts(r) == {[source |-> 0, unread |-> 0], [source |-> 2, unread |-> 2]}" in text
    assert "source |-> start[r].source" in text
    assert "target |-> 3" in text
    assert "phase |-> FILL" in text


def test_ranks_with_other_starts_are_told_apart() -> None:
    starts = [[(State(), initial_environment(1))], [(State(), initial_environment(0))]]
    lines = init(starts)
    assert "  CASE r = 0 -> {[source |-> 1, unread |-> 1]}" in lines
    assert "    [] r = 1 -> {[source |-> 0, unread |-> 0]}" in lines


def test_a_single_start_is_still_a_choice() -> None:
    lines = init([[(State(), initial_environment(1))]])
    assert "Starts(r) == {[source |-> 1]}" in lines
