"""Dumb twin of the compiled machine: walks the rows of a table, tree by tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

from dgap.protocol.expr import Name, Node, walk
from dgap.protocol.transition import Row, Table
from dgap.protocol.vocabulary import Effect, Event, EventKind, Phase, Settings, State
from dgap.spec.oracle_expr import Reading, holds, value_of


def reading_of(settings: Settings, state: State, event: Event) -> Reading:
    """What the names in a row mean."""
    arguments = {name: value for name, value in event._asdict().items() if name != "reports"}
    return Reading(
        own={"state": state._asdict(), "event": arguments, "setting": settings._asdict()},
        ranks=[report._asdict() for report in event.reports],
    )


def rows_taken(table: Table, settings: Settings, state: State, event: Event) -> list[Row]:
    """Every row that applies."""
    reading = reading_of(settings, state, event)
    return [
        row
        for row in table.rows
        if row.phase == state.phase and row.event == event.kind and holds(row.guard, reading)
    ]


def result_of(
    row: Row, settings: Settings, state: State, event: Event
) -> tuple[State, tuple[Effect, ...]]:
    """What a row makes of a state, and what it asks for."""
    reading = reading_of(settings, state, event)
    new = {name: value_of(value, reading) for name, value in row.updates}
    effects = tuple(Effect(ask.kind, value_of(ask.argument, reading)) for ask in row.asks)
    return state._replace(phase=int(row.target), **new), effects


def names_in(nodes: Iterable[Node], scope: str) -> list[str]:
    """The names of a scope that the nodes read, each once, sorted."""
    found = (part for node in nodes for part in walk(node) if isinstance(part, Name))
    return sorted({part.name for part in found if part.scope == scope})


def small_box(
    table: Table, phase: Phase, kind: EventKind, limit: int
) -> Iterator[tuple[State, Event]]:
    """All states and events of a phase in which the fields that its guards read are 0..limit."""
    guards = [row.guard for row in table.rows if (row.phase, row.event) == (phase, kind)]
    fields, arguments = names_in(guards, "state"), names_in(guards, "event")
    for values in product(range(limit + 1), repeat=len(fields) + len(arguments)):
        state = State(phase=phase)._replace(**dict(zip(fields, values, strict=False)))
        chosen: dict[str, Any] = dict(zip(arguments, values[len(fields) :], strict=True))
        yield state, Event(kind, **chosen)
