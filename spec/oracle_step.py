"""Dumb twin of the compiled machine: walks the rows of a table at every step.

It shares no code with the compiler. Rows come as an argument; here is only how one is read: in
table order, the first whose phase, event and guard fit; right-hand sides read the old state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from dgap.protocol.expr import Formula, Term
from dgap.protocol.vocabulary import (
    Effect,
    EffectKind,
    Event,
    EventKind,
    Phase,
    Report,
    Settings,
    State,
)

from .oracle_expr import Reading, holds, value_of


class AskLike(Protocol):
    """An effect that a row asks for."""

    @property
    def kind(self) -> EffectKind:
        """Which effect."""

    @property
    def argument(self) -> Term:
        """Its argument, read in the old state."""


class RowLike(Protocol):
    """A row of a transition table."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def phase(self) -> Phase:
        """The phase it starts in."""

    @property
    def event(self) -> EventKind:
        """The event it answers."""

    @property
    def target(self) -> Phase:
        """The phase it leads to."""

    @property
    def guard(self) -> Formula:
        """When it applies."""

    @property
    def updates(self) -> Sequence[tuple[str, Term]]:
        """New values of fields."""

    @property
    def asks(self) -> Sequence[AskLike]:
        """The effects it asks for."""


class Walked(NamedTuple):
    """What walking the rows found."""

    row: str
    state: State
    effects: tuple[Effect, ...]


def walk_step(
    rows: Iterable[RowLike], settings: Settings, state: State, event: Event
) -> Walked | None:
    """The row that takes the event, the next state and the effects; None is the refusal."""
    reading = reading_of(settings, state, event)
    for row in rows:
        if (row.phase, row.event) == (state.phase, event.kind) and holds(row.guard, reading):
            new = {name: value_of(value, reading) for name, value in row.updates}
            effects = tuple(Effect(ask.kind, value_of(ask.argument, reading)) for ask in row.asks)
            return Walked(row.name, state._replace(phase=int(row.target), **new), effects)
    return None


def walk_report(fields: Iterable[tuple[str, Term]], settings: Settings, state: State) -> Report:
    """What a rank in this state says in a gather; `fields` are those of the table's report."""
    reading = reading_of(settings, state, Event(EventKind.TURN))
    return Report(**{name: value_of(value, reading) for name, value in fields})


def reading_of(settings: Settings, state: State, event: Event) -> Reading:
    """What the names in a row mean."""
    arguments = {name: value for name, value in event._asdict().items() if name != "reports"}
    return Reading(
        own={"state": state._asdict(), "event": arguments, "setting": settings._asdict()},
        ranks=[report._asdict() for report in event.reports],
    )
