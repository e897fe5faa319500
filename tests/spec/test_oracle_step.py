"""The twin of the machine takes the row that a reader of the table would take."""

from __future__ import annotations

import random

from dgap.protocol.machine import Machine, initial_state
from dgap.protocol.table import TABLE
from dgap.protocol.vocabulary import Effect, EffectKind, Event, EventKind, Phase, Settings, State
from dgap.spec.oracle_step import reading_of, walk_report, walk_step

SETTINGS = Settings(window=2)
ROW_OF = {row.name: row for row in TABLE.rows}


def test_a_step_names_its_row_and_says_what_follows() -> None:
    state = State(held=2, target=2)
    walked = walk_step(TABLE.rows, SETTINGS, state, Event(EventKind.OFFER, needed=1, units=2))
    assert walked is not None
    assert walked.row == "offer"
    assert walked.state == state._replace(phase=Phase.OFFER, offered=2, needed=1, units=2)
    assert walked.effects == (Effect(EffectKind.GATHER),)


def test_without_a_row_there_is_no_step() -> None:
    assert walk_step(TABLE.rows, SETTINGS, State(), Event(EventKind.TURN)) is None
    assert walk_step((), SETTINGS, State(), Event(EventKind.READ)) is None
    failed = State(phase=Phase.FAILED)
    assert walk_step(TABLE.rows, SETTINGS, failed, Event(EventKind.BREAK)) is None


def test_the_first_row_that_fits_is_taken() -> None:
    rows = (ROW_OF["read"], ROW_OF["break_fill"], ROW_OF["break_fill"])
    walked = walk_step(rows, SETTINGS, State(), Event(EventKind.BREAK))
    assert walked is not None
    assert walked.row == "break_fill"


def test_names_are_read_in_their_own_scope() -> None:
    reading = reading_of(SETTINGS, State(held=7), Event(EventKind.FAIL, code=3))
    assert reading.own["state"]["held"] == 7
    assert reading.own["event"]["code"] == 3
    assert reading.own["setting"]["window"] == 2


def test_the_twin_and_the_machine_go_the_same_way() -> None:
    rng = random.Random("the same way")
    for _ in range(60):
        settings = Settings(window=rng.randint(1, 3), quota=rng.randint(0, 1))
        machine = Machine(settings)
        state = initial_state(settings, quota_share=2 * settings.quota)
        for _ in range(40):
            held = state.held
            kinds = [kind for kind in EventKind if kind is not EventKind.GATHERED]
            event = Event(rng.choice(kinds), 1, min(1, held), held, held, 1)
            if state.phase == Phase.OFFER and rng.random() < 0.8:
                report = machine.report(state)
                assert walk_report(TABLE.report, settings, state) == report
                event = Event(EventKind.GATHERED, reports=(report, report))
            walked = walk_step(TABLE.rows, settings, state, event)
            assert machine.attempt(state, event) == (walked and walked[1:])
            state = walked.state if walked and event.kind != EventKind.BREAK else state
