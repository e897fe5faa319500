"""The interpreter: what is compiled is what the rows say, and a missing row is a refusal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dgap.protocol.errors import IllegalTransition
from dgap.protocol.expr import Every, Greatest, Least, Name, Some, Total, Truth
from dgap.protocol.machine import Machine, check_settings, initial_state, python
from dgap.protocol.table import TABLE
from dgap.protocol.vocabulary import (
    LIVE,
    Event,
    EventKind,
    Phase,
    Policy,
    Report,
    Settings,
    State,
    reported,
)
from dgap.spec.oracle_step import walk_report
from tests.protocol.row_walk import small_box, steps_taken

ALL_SETTINGS = [
    Settings(window=2),
    Settings(window=2, policy=Policy.PAPER, tail_stop=1),
    Settings(window=3, accumulation=2),
    Settings(window=2, quota=1),
    Settings(window=3, accumulation=2, quota=1, tail_stop=1),
]
PLACES = sorted({(row.phase, row.event) for row in TABLE.rows})
LOCAL_PLACES = [place for place in PLACES if place[1] is not EventKind.GATHERED]
REPORTS = st.builds(
    Report,
    offered=st.integers(0, 4),
    needed=st.integers(0, 4),
    units=st.integers(0, 4),
    exhausted=st.integers(0, 1),
    failed=st.integers(0, 2),
    stopped=st.integers(0, 1),
    dry=st.integers(0, 1),
)


@pytest.mark.parametrize("settings", ALL_SETTINGS)
@pytest.mark.parametrize(("phase", "kind"), LOCAL_PLACES)
def test_a_step_is_what_its_row_says_on_every_small_state(
    settings: Settings, phase: Phase, kind: EventKind
) -> None:
    machine = Machine(settings)
    for state, event in small_box(TABLE, phase, kind, limit=1 if phase == Phase.TALLY else 2):
        steps = steps_taken(TABLE, settings, state, event)
        assert len(steps) <= 1, "two rows of one phase and event apply at once"
        expected = (steps[0].state, steps[0].effects) if steps else None
        assert machine.attempt(state, event) == expected


@given(
    settings=st.sampled_from(ALL_SETTINGS),
    reports=st.lists(REPORTS, min_size=1, max_size=4),
    target=st.integers(1, 3),
    held=st.integers(0, 3),
)
def test_a_verdict_is_what_exactly_one_row_says(
    settings: Settings, reports: list[Report], target: int, held: int
) -> None:
    state = State(phase=Phase.OFFER, target=target, held=held)
    event = Event(EventKind.GATHERED, reports=tuple(reports))
    (expected,) = steps_taken(TABLE, settings, state, event)
    assert Machine(settings).step(state, event) == (expected.state, expected.effects)


@given(
    settings=st.sampled_from(ALL_SETTINGS),
    values=st.lists(st.integers(0, 5), min_size=len(State._fields), max_size=len(State._fields)),
)
def test_a_report_is_what_the_table_reads_off_the_state(
    settings: Settings, values: list[int]
) -> None:
    state = State(*values)
    assert Machine(settings).report(state) == walk_report(TABLE.report, settings, state)


def test_an_event_without_a_row_raises_and_nothing_happens() -> None:
    machine = Machine(Settings(window=2))
    state = initial_state(machine.settings)
    with pytest.raises(IllegalTransition, match=r"no row for event TURN in phase FILL"):
        machine.step(state, Event(EventKind.TURN))
    assert state == initial_state(machine.settings)
    assert not machine.permits(state, Event(EventKind.TURN))
    assert machine.permits(state, Event(EventKind.READ))


@pytest.mark.parametrize("phase", [Phase.CLOSED, Phase.FAILED])
def test_nothing_happens_after_the_end(phase: Phase) -> None:
    machine = Machine(Settings(window=2))
    for kind in EventKind:
        event = Event(kind, code=1, needed=1, units=1, assigned=1, samples=1, reports=(Report(),))
        assert machine.attempt(State(phase=phase, held=1, owed_steps=1), event) is None


@pytest.mark.parametrize("phase", LIVE)
def test_a_broken_collective_is_accepted_in_every_live_phase(phase: Phase) -> None:
    state, effects = Machine(Settings()).step(State(phase=phase), Event(EventKind.BREAK))
    assert state.phase == Phase.FAILED
    assert [effect.kind.name for effect in effects] == ["ABANDON"]


@pytest.mark.parametrize(
    "settings",
    [
        Settings(window=0),
        Settings(window=1, accumulation=2),
        Settings(window=2, accumulation=0),
        Settings(quota=2),
        Settings(tail_stop=-1),
    ],
)
def test_settings_that_no_rank_may_run_with_are_refused(settings: Settings) -> None:
    with pytest.raises(ValueError, match=r"Settings\("):
        check_settings(settings)
    with pytest.raises(ValueError, match=r"Settings\("):
        Machine(settings)


def test_the_first_state_has_its_window_and_its_share() -> None:
    settings = Settings(window=4, accumulation=2, quota=1)
    assert initial_state(settings, quota_share=3) == State(target=4, remaining=3)
    assert initial_state(settings, first_window=2).target == 2


@pytest.mark.parametrize(
    ("first_window", "quota_share", "message"),
    [(1, 0, "accumulation 2"), (5, 0, "window 4"), (0, -1, "negative"), (0, 1, "quota mode")],
)
def test_a_first_state_out_of_bounds_is_refused(
    first_window: int, quota_share: int, message: str
) -> None:
    settings = Settings(window=4, accumulation=2)
    with pytest.raises(ValueError, match=message):
        initial_state(settings, first_window=first_window, quota_share=quota_share)


def test_the_compiled_source_is_kept_and_names_every_row() -> None:
    source = Machine(Settings(window=2)).source
    assert all(f"# {row.name}" in source for row in TABLE.rows)


def test_every_kind_of_node_has_a_text() -> None:
    offered, true = reported("offered"), Truth(True)
    texts = [
        python(node, Settings(window=7))
        for node in (
            Least(offered, true, offered),
            Greatest(offered, true, offered),
            Total(offered, true),
            Every(true),
            Some(~true),
            Name("setting", "window"),
        )
    ]
    assert [text.split("(")[0] for text in texts] == ["min", "max", "sum", "all", "any", "7"]


def test_a_node_without_a_text_is_refused() -> None:
    with pytest.raises(TypeError, match="knows no node"):
        python(object(), Settings())  # type: ignore[arg-type]
