"""All steps that a table allows in a state, and small boxes of states to ask for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

from dgap.protocol.expr import Name, Node, walk
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import Event, EventKind, Phase, Settings, State
from dgap.spec.oracle_step import Walked, walk_step


def steps_taken(table: Table, settings: Settings, state: State, event: Event) -> list[Walked]:
    """What every row that applies makes of the state; the oracle alone takes the first."""
    steps = (
        walk_step([row], settings, state, event)
        for row in table.rows
        if (row.phase, row.event) == (state.phase, event.kind)
    )
    return [step for step in steps if step is not None]


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
