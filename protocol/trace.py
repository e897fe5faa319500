"""The trace of a run as lines of JSON: what a machine was told, and what it made of it.

Rules kept here:
1. A line holds numbers and names of the vocabulary only: no sample and no text of the user.
2. Zeros and what did not change are left out. Changes are given as new values, so that a line
   that is missing shows in the next one.
3. What is decoded is checked: a line that could not have been written raises `ValueError`.

    {"start": 1, "digest": "9f..", "rank": 0, "world_size": 2, "epoch": 0, "settings": {..}, ..}
    {"line": 1, "event": "READ", "changes": {"held": 1, "read": 1}}
    {"line": 2, "event": "OFFER", "needed": 1, "changes": {..}, "effects": [["GATHER", 0]]}

The writer is runtime/trace.py, the reader proofs/replay.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from .vocabulary import Effect, EffectKind, Event, EventKind, Phase, Report, Settings, State

TRACE_VERSION = 1
_ARGUMENTS = Event._fields[1:-1]


class Start(NamedTuple):
    """The first line of a trace."""

    digest: str
    """SHA-256 of the transition table that ran, 64 hex digits."""
    rank: int
    world_size: int
    epoch: int
    settings: Settings
    state: State
    """The state before the first event."""


class Taken(NamedTuple):
    """One step of the machine; `line` counts from 1."""

    line: int
    event: Event
    changes: Mapping[str, int]
    """Fields of the state that changed, with their new values."""
    effects: tuple[Effect, ...]


def start_line(start: Start) -> str:
    """The first line, without its end of line."""
    return _text(
        {
            "start": TRACE_VERSION,
            "digest": start.digest,
            "rank": start.rank,
            "world_size": start.world_size,
            "epoch": start.epoch,
            "settings": _plain(start.settings._asdict()),
            "state": _plain(start.state._asdict()),
        }
    )


def taken_line(
    line: int, before: State, event: Event, after: State, effects: tuple[Effect, ...]
) -> str:
    """The line of one step, without its end of line."""
    record: dict[str, Any] = {"line": line, "event": event.kind.name}
    record |= {name: int(getattr(event, name)) for name in _ARGUMENTS if getattr(event, name)}
    if event.reports:
        record["reports"] = [[int(value) for value in report] for report in event.reports]
    pairs = zip(State._fields, before, after, strict=True)
    record["changes"] = {name: int(new) for name, old, new in pairs if new != old}
    if effects:
        record["effects"] = [[effect.kind.name, int(effect.argument)] for effect in effects]
    return _text(record)


def read_start(text: str) -> Start:
    """The first line of a trace. Raises ValueError if it is none."""
    record = _record(text)
    if record.get("start") != TRACE_VERSION:
        raise ValueError(f"the first line of a trace has start={TRACE_VERSION}")
    settings, state = _counts(record, "settings"), _counts(record, "state")
    if set(settings) - set(Settings._fields) or set(state) - set(State._fields):
        raise ValueError("a setting or a field of the state that this version does not know")
    return Start(
        digest=str(record.get("digest")),
        rank=_count(record, "rank"),
        world_size=_count(record, "world_size"),
        epoch=_count(record, "epoch"),
        # What is left out is 0, not the default of the class.
        settings=Settings(**{name: settings.get(name, 0) for name in Settings._fields}),
        state=State(**{name: state.get(name, 0) for name in State._fields}),
    )


def read_taken(text: str) -> Taken:
    """A later line of a trace. Raises ValueError if it is none."""
    record = _record(text)
    line, kind = _count(record, "line"), record.get("event")
    if not isinstance(kind, str) or kind not in EventKind.__members__:
        raise ValueError(f"there is no event {kind!r}")
    changes = _counts(record, "changes")
    if set(changes) - set(State._fields) or changes.get("phase", 0) not in list(Phase):
        raise ValueError(f"changes of what is no field of the state: {changes}")
    return Taken(
        line=line,
        event=Event(
            EventKind[kind],
            **{name: _count(record, name, default=0) for name in _ARGUMENTS},
            reports=_reports(record.get("reports", [])),
        ),
        changes=changes,
        effects=_effects(record.get("effects", [])),
    )


def _reports(rows: object) -> tuple[Report, ...]:
    if not isinstance(rows, list) or not all(_is_report(row) for row in rows):
        raise ValueError(f"reports are lists of {len(Report._fields)} integers, not {rows!r}")
    return tuple(Report(*row) for row in rows)


def _is_report(row: object) -> bool:
    return (
        isinstance(row, list)
        and len(row) == len(Report._fields)
        and all(type(value) is int for value in row)
    )


def _effects(pairs: object) -> tuple[Effect, ...]:
    if not isinstance(pairs, list):
        raise ValueError(f"effects are a list, not {pairs!r}")
    found = []
    for pair in pairs:
        if not (isinstance(pair, list) and len(pair) == 2 and type(pair[1]) is int):
            raise ValueError(f"an effect is a name and an integer, not {pair!r}")
        if pair[0] not in EffectKind.__members__:
            raise ValueError(f"there is no effect {pair[0]!r}")
        found.append(Effect(EffectKind[pair[0]], pair[1]))
    return tuple(found)


def _record(text: str) -> dict[str, Any]:
    record = json.loads(text)  # a JSONDecodeError is a ValueError
    if not isinstance(record, dict):
        raise ValueError("a line of a trace is a JSON object")
    return record


def _count(record: Mapping[str, Any], name: str, default: object = None) -> int:
    value = record.get(name, default)
    if type(value) is not int:
        raise ValueError(f"{name} is an integer, not {value!r}")
    return value


def _counts(record: Mapping[str, Any], name: str) -> dict[str, int]:
    values = record.get(name)
    if not isinstance(values, dict):
        raise ValueError(f"{name} is an object, not {values!r}")
    return {key: _count(values, key) for key in values}


def _plain(values: Mapping[str, int]) -> dict[str, int]:
    return {name: int(value) for name, value in values.items() if value}


def _text(record: Mapping[str, Any]) -> str:
    return json.dumps(record, separators=(",", ":"))
