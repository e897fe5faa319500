"""What the exporters write down: the table under its environment, flattened into actions of a rank.

Rules kept here:
1. Nothing of table or environment is restated: guards, updates and starts are read from them.
2. An action is one row of the table under the environment's row for its event, with the responses
   to what it asks for put in; or a move of the environment by itself.
3. Only the composition is said again, apart from world.py: which arguments are tried (`CHOICES`),
   that a dead rank does nothing, and that a gathered vector is kept until all have left.

Two rows of one phase and event become two actions, both taken where both guards hold. The
interpreter takes the first. So equal counts of states also show that the guards exclude each other.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TypeVar, cast

from dgap.protocol.expr import Const, Formula, Name, Node, Term, conjoin, has_aggregate, rebuild
from dgap.protocol.machine import initial_state
from dgap.protocol.transition import Row, Table
from dgap.protocol.vocabulary import EventKind, Report, Settings, State, state
from dgap.spec.environment import (
    MOVES,
    OCCASIONS,
    RESPONSES,
    Environment,
    EnvironmentRow,
    world,
)

from .families import Family

N = TypeVar("N", bound=Node)
Start = tuple[State, Environment]
Update = tuple[str, Term]
FieldHolder = type[State] | type[Environment] | type[Report]


@dataclass(frozen=True, kw_only=True)
class Choice:
    """An argument of an event, tried with every integer of `low`..`high`."""

    argument: str
    low: Term
    high: Term


CHOICES: Mapping[EventKind, tuple[Choice, ...]] = {
    EventKind.FAIL: (Choice(argument="code", low=Const(1), high=Const(1)),),
    EventKind.OFFER: (
        Choice(argument="needed", low=Const(0), high=state("held")),
        Choice(argument="units", low=Const(0), high=state("held")),
    ),
    EventKind.SUMMED: (Choice(argument="assigned", low=Const(0), high=state("offered")),),
    EventKind.DELIVER: (Choice(argument="samples", low=Const(1), high=state("owed_samples")),),
}
"""All arguments that could be legal; the table says which are."""


@dataclass(frozen=True, kw_only=True)
class Action:
    """One thing that a rank may do.

    Aggregates of `occasion` range over the ranks; those of `guard` and of the updates range over
    the gathered reports. `row` is None where the environment moves by itself; updates read the
    old values.
    """

    name: str
    row: Row | None
    occasion: Formula
    guard: Formula
    choices: tuple[Choice, ...]
    state: tuple[Update, ...]
    environment: tuple[Update, ...]

    @property
    def gathers(self) -> bool:
        """Whether the action leaves a gather, and so reads the vector of reports."""
        return self.row is not None and self.row.event == EventKind.GATHERED


@dataclass(frozen=True, kw_only=True)
class Instance:
    """A finite instance: settings, and for each rank the pairs that it may start with."""

    name: str
    scope: str
    settings: Settings
    starts: tuple[tuple[Start, ...], ...]

    @property
    def world_size(self) -> int:
        """The number of ranks."""
        return len(self.starts)


def instance_of(family: Family) -> Instance:
    """A family as an instance. Raises ValueError unless it has exactly one choice of settings,
    every interleaving, and starts that can be chosen for each rank apart."""
    if len(family.settings) != 1 or family.reduced:
        raise ValueError(f"{family.name}: an instance has one choice of settings, unreduced")
    (settings,) = family.settings
    worlds = list(family.environments())
    apart = [sorted({each[rank] for each in worlds}) for rank in range(family.world_size)]
    if set(product(*apart)) != set(worlds):
        raise ValueError(f"{family.name}: the starts of its ranks depend on each other")
    return Instance(
        name=family.name,
        scope=family.scope,
        settings=settings,
        starts=tuple(tuple(_start(family, settings, each) for each in one) for one in apart),
    )


def _start(family: Family, settings: Settings, environment: Environment) -> Start:
    before = initial_state(
        settings, first_window=family.first_window, quota_share=environment.share
    )
    return before, environment


def actions(table: Table) -> tuple[Action, ...]:
    """All actions: the rows in table order, then the environment's moves."""
    return (*_row_actions(table), *(_move(each) for each in MOVES))


def _row_actions(table: Table) -> Iterator[Action]:
    for row in table.rows:
        for occasion in OCCASIONS:
            if occasion.event == row.event:
                yield _composed(row, occasion)


def _composed(row: Row, occasion: EnvironmentRow) -> Action:
    choices = CHOICES.get(row.event, ())
    only: dict[Node, Node] = {
        Name("event", each.argument): each.low for each in choices if each.low == each.high
    }
    moved = (("phase", Const(row.target)),) if row.target != row.phase else ()
    changes: tuple[Update, ...] = (*moved, *row.updates)
    return Action(
        name=row.name,
        row=row,
        occasion=_while_alive(occasion),
        guard=substitute(conjoin(state("phase").equals(row.phase), row.guard), only),
        choices=tuple(each for each in choices if each.low != each.high),
        state=_put_in(changes, only),
        environment=_put_in(_responded(row, occasion, dict(changes)), only),
    )


def _put_in(updates: tuple[Update, ...], meaning: Mapping[Node, Node]) -> tuple[Update, ...]:
    return tuple((name, substitute(value, meaning)) for name, value in updates)


def _move(row: EnvironmentRow) -> Action:
    _refuse_aggregates(row.updates)
    return Action(
        name=row.name,
        row=None,
        occasion=_while_alive(row),
        guard=conjoin(),
        choices=(),
        state=(),
        environment=row.updates,
    )


def _while_alive(row: EnvironmentRow) -> Formula:
    return conjoin(world("crashed").equals(0), row.guard)


def _responded(
    row: Row, occasion: EnvironmentRow, changes: Mapping[str, Term]
) -> tuple[Update, ...]:
    """The environment's new values: the occasion's, then those of each response in turn."""
    _refuse_aggregates(occasion.updates)
    new: dict[str, Term] = dict(occasion.updates)
    responses = {each.effect: each.updates for each in RESPONSES}
    for ask in row.asks:
        updates = responses.get(ask.kind, ())
        _refuse_aggregates(updates)
        meaning: dict[Node, Node] = {Name("event", "argument"): ask.argument}
        meaning |= {Name("state", name): value for name, value in changes.items()}
        meaning |= {Name("world", name): value for name, value in new.items()}
        new |= {name: substitute(value, meaning) for name, value in updates}
    return tuple(new.items())


def _refuse_aggregates(updates: tuple[Update, ...]) -> None:
    """In an update an aggregate would not say whether it ranges over ranks or over reports."""
    if any(has_aggregate(value) for _, value in updates):
        raise ValueError("an update of the environment has an aggregate; export it by a guard")


def substitute(node: N, meaning: Mapping[Node, Node]) -> N:
    """The node with each part that is a key replaced by its value, all at once. A name is
    replaced by an integer expression, so a term stays a term and a formula a formula."""
    if node in meaning:
        return cast(N, meaning[node])
    return cast(N, rebuild(node, lambda part: substitute(part, meaning)))


def field_meanings(kind: FieldHolder) -> dict[str, str]:
    """The comment behind each field, read from the source of the class; empty where none is."""
    source = inspect.getsource(kind)
    found = dict(re.findall(r"^    (\w+): int = [^#\n]*# (.+)$", source, re.MULTILINE))
    return {name: found.get(name, "") for name in kind._fields}
