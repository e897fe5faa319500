"""The rows of the table as terms of concrete worlds: what compiled code is compared with.

Rules kept here:
1. Terms are built by the same `translate` that the obligations use, vector and witnesses included.
2. A world has so many named ranks and no others, so each witness is one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dgap.protocol.expr import Name
from dgap.protocol.transition import Row, Table
from dgap.protocol.vocabulary import Event, EventKind, Report, Settings, State

from .check import Outcome, Verdict
from .solver import RANK, Z3, Theory, constant, number, some
from .terms import Reading, Vector, said, translate

LARGEST_WORLD = 3
STATE = tuple(constant(f"state_{name}") for name in State._fields)
EVENT = tuple(constant(f"event_{name}") for name in Event._fields[:-1])

Place = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """A row as the obligations read it: guard, next state, effects."""

    row: Row
    guard: Z3
    state: tuple[Z3, ...]
    effects: tuple[tuple[str, Z3], ...]


class Terms:
    """The rows of one place (phase, event) as terms, under fixed settings and world size."""

    def __init__(self, rows: Sequence[Row], settings: Settings, world_size: int) -> None:
        self._settings = settings
        ranks = [constant(f"rank{index}", RANK) for index in range(world_size)]
        vector = Vector("v", lambda field, rank: said(field, number(1), rank))
        reading = Reading(name=self.name, vector=vector)
        self.reports = [[said(name, number(1), rank) for name in Report._fields] for rank in ranks]
        self.meanings = tuple(_meaning(row, reading) for row in rows)
        witnesses = [
            some(each.witness == rank for rank in ranks) for each in vector.aggregates.values()
        ]
        indices = [said("rank", number(1), rank) == at for at, rank in enumerate(ranks)]
        self.hypotheses = [*vector.axioms(ranks), *witnesses, *indices]

    def name(self, name: Name) -> Z3:
        """A setting as its value, any other name as an unknown."""
        if name.scope == "setting":
            return number(int(getattr(self._settings, name.name)))
        return constant(f"{name.scope}_{name.name}")


def _meaning(row: Row, reading: Reading) -> Meaning:
    new = {name: translate(value, reading) for name, value in row.updates}
    new["phase"] = number(int(row.target))
    return Meaning(
        row=row,
        guard=translate(row.guard, reading),
        state=tuple(new.get(n, old) for n, old in zip(State._fields, STATE, strict=True)),
        effects=tuple((ask.kind.name, translate(ask.argument, reading)) for ask in row.asks),
    )


def places(table: Table) -> dict[Place, tuple[Row, ...]]:
    """The rows of the table by phase and event."""
    found: dict[Place, tuple[Row, ...]] = {}
    for row in table.rows:
        place = (int(row.phase), int(row.event))
        found[place] = (*found.get(place, ()), row)
    return found


def world_sizes(rows: Sequence[Row]) -> range:
    """The numbers of ranks that matter to rows of one place; 0 where no report is read."""
    return range(1, LARGEST_WORLD + 1) if rows[0].event == EventKind.GATHERED else range(1)


def settle(place: str, hypotheses: Sequence[Z3], goal: Z3) -> Outcome | None:
    """None if the goal is proved and the hypotheses can hold, else what was found instead."""
    theory = Theory(hypotheses)
    for answer in (theory.witness(), theory.implies(goal)):
        if answer.verdict != Verdict.PROVED:
            trace = tuple(str(answer.model).splitlines()) if answer.model is not None else ()
            return Outcome(verdict=answer.verdict, detail=f"{place} {answer.reason}", trace=trace)
    return None
