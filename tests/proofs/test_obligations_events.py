"""Every pair of phase and event is accounted for, and a pair that is not is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dgap.proofs.actions import ACTOR
from dgap.proofs.check import Check, Verdict
from dgap.proofs.obligations_events import (
    IMPOSSIBLE,
    REFUSED,
    event_checks,
    own_part,
    unanswered,
)
from dgap.proofs.planted import row_named
from dgap.protocol.expr import TRUE, Every, Some
from dgap.protocol.machine import Machine
from dgap.protocol.table import TABLE
from dgap.protocol.vocabulary import Event, EventKind, Phase, Settings, State
from dgap.spec.environment import ranked


@pytest.mark.parametrize("check", event_checks(), ids=lambda each: each.id)
def test_it_holds_of_the_protocol(check: Check) -> None:
    assert check.run().verdict == Verdict.PROVED


def test_a_dropped_row_and_one_too_many_are_named() -> None:
    turn = row_named(TABLE, "turn")
    without = replace(TABLE, rows=tuple(row for row in TABLE.rows if row != turn))
    assert unanswered(without) == ["TURN in EMIT: neither taken nor refused"]
    more = replace(TABLE, rows=(*TABLE.rows, replace(turn, name="early", phase=Phase.OFFER)))
    assert unanswered(more) == ["TURN in OFFER: both taken and refused"]


def test_the_machine_refuses_every_listed_pair() -> None:
    machine = Machine(Settings())
    for phase, event in (*IMPOSSIBLE, *REFUSED):
        assert not machine.permits(State(phase=phase), Event(EventKind(event)))


def test_an_occasion_is_read_at_the_rank_itself() -> None:
    assert own_part(Every(ranked("unlike").equals(0))) == ACTOR["unlike"].equals(0)
    assert own_part(Some(ranked("crashed").equals(1))) == TRUE
