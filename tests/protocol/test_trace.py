"""A line of a trace says all that a step did, and a line that nobody wrote is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dgap.protocol.trace import Start, read_start, read_taken, start_line, taken_line
from dgap.protocol.vocabulary import Effect, EffectKind, Event, EventKind, Report, Settings, State

COUNT = st.integers(0, 2**62)
REPORTS = st.lists(st.tuples(*(COUNT for _ in Report._fields)).map(Report._make), max_size=3)
EVENTS = st.builds(
    Event,
    kind=st.sampled_from(EventKind),
    code=COUNT,
    needed=COUNT,
    units=COUNT,
    assigned=COUNT,
    samples=COUNT,
    reports=REPORTS.map(tuple),
)
STATES = st.tuples(st.integers(0, 5), *(COUNT for _ in State._fields[1:])).map(State._make)
EFFECTS = st.lists(st.builds(Effect, st.sampled_from(EffectKind), COUNT), max_size=2).map(tuple)
START = Start(
    digest="ab" * 32,
    rank=1,
    world_size=3,
    epoch=4,
    settings=Settings(window=8, policy=0),
    state=State(target=0, remaining=7),
)
LINE = taken_line(
    3,
    State(phase=0, held=2),
    Event(EventKind.OFFER, needed=1, units=2),
    State(phase=1, held=2, offered=2),
    (Effect(EffectKind.GATHER),),
)


@given(before=STATES, event=EVENTS, after=STATES, effects=EFFECTS, line=st.integers(1, 9))
def test_a_step_survives_its_line(
    before: State, event: Event, after: State, effects: tuple[Effect, ...], line: int
) -> None:
    text = taken_line(line, before, event, after, effects)
    taken = read_taken(text)
    assert "\n" not in text
    assert (taken.line, taken.event, taken.effects) == (line, event, effects)
    assert before._replace(**taken.changes) == after


@given(state=STATES, settings=st.tuples(*(COUNT for _ in Settings._fields)).map(Settings._make))
def test_a_start_survives_its_line(state: State, settings: Settings) -> None:
    start = START._replace(state=state, settings=settings)
    assert read_start(start_line(start)) == start


def test_a_line_is_short_and_readable() -> None:
    assert LINE == (
        '{"line":3,"event":"OFFER","needed":1,"units":2,'
        '"changes":{"phase":1,"offered":2},"effects":[["GATHER",0]]}'
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"start": 2},
        {"rank": "0"},
        {"world_size": True},
        {"epoch": None},
        {"settings": []},
        {"settings": {"windows": 1}},
        {"state": {"helt": 1}},
        {"state": {"held": 1.5}},
    ],
    ids=str,
)
def test_a_first_line_that_nobody_wrote_is_refused(changes: dict[str, Any]) -> None:
    text = json.dumps(json.loads(start_line(START)) | changes)
    with pytest.raises(ValueError, match=r"start|integer|object|know"):
        read_start(text)


@pytest.mark.parametrize(
    "changes",
    [
        {"line": "3"},
        {"event": "OFFERED"},
        {"event": None},
        {"needed": 1.0},
        {"reports": 1},
        {"reports": [[1, 2]]},
        {"reports": [[0, 0, 0, 0, 0, 0, True]]},
        {"changes": 1},
        {"changes": {"helt": 1}},
        {"changes": {"phase": 9}},
        {"effects": {}},
        {"effects": [["GATHER"]]},
        {"effects": [["GATHERING", 0]]},
        {"effects": [["GATHER", "0"]]},
    ],
    ids=str,
)
def test_a_line_that_nobody_wrote_is_refused(changes: dict[str, Any]) -> None:
    text = json.dumps(json.loads(LINE) | changes)
    with pytest.raises(ValueError, match=r"integer|event|report|change|effect|object"):
        read_taken(text)


@pytest.mark.parametrize("text", ["", "[]", "{", LINE[:-1]])
def test_what_is_no_object_is_refused(text: str) -> None:
    for read in (read_start, read_taken):
        with pytest.raises(ValueError, match=r"."):
            read(text)
