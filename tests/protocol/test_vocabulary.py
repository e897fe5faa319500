"""The nouns: every name is a field, every number is stable, every value a tuple of integers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dgap.protocol.expr import Name
from dgap.protocol.vocabulary import (
    LIVE,
    EffectKind,
    Event,
    EventKind,
    FailureCode,
    Phase,
    Policy,
    Report,
    Settings,
    State,
    argument,
    reported,
    setting,
    state,
)


@pytest.mark.parametrize(
    ("make", "name"),
    [(state, "held"), (argument, "needed"), (setting, "window"), (reported, "rank")],
)
def test_a_name_is_made_for_a_field_and_refused_for_anything_else(
    make: Callable[[str], Name], name: str
) -> None:
    assert make(name).name == name
    with pytest.raises(KeyError, match="has no field 'colour'"):
        make("colour")


@pytest.mark.parametrize("name", ["kind", "reports"])
def test_an_argument_is_an_integer_of_the_event(name: str) -> None:
    with pytest.raises(KeyError, match="event has no field"):
        argument(name)


@pytest.mark.parametrize("kinds", [Phase, EventKind, EffectKind, FailureCode, Policy])
def test_kinds_are_numbered_from_zero_without_gaps(kinds: type[Phase]) -> None:
    assert [int(kind) for kind in kinds] == list(range(len(kinds)))


def test_a_rank_is_live_until_it_is_closed_or_failed() -> None:
    assert set(Phase) - set(LIVE) == {Phase.CLOSED, Phase.FAILED}


def test_values_are_tuples_of_integers() -> None:
    for value in (State(), Report(), Settings()):
        assert all(isinstance(field, int) for field in value)
    assert all(isinstance(field, int) for field in Event(EventKind.READ)[:-1])
    assert {State(), State()} == {State()}
