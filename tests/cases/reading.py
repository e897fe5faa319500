"""The cases of `inputs.json`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.laws.laws import Setting
from tests.laws.samples import Uneven


@dataclass(frozen=True, kw_only=True)
class Case:
    """`id` and `expect` as in the file; `costs`: those of each rank in reading order."""

    id: str
    costs: tuple[tuple[int, ...], ...]
    budget: int
    expect: str

    @property
    def world_size(self) -> int:
        return len(self.costs)

    def source(self, rank: int) -> Uneven:
        """This rank's data; every token is a target unless the case is about targets."""
        costs = self.costs[rank]
        return Uneven(rank, costs, self._target_counts(rank))

    def setting(self, tail: str) -> Setting:
        """What the laws must know, with all samples of cost 0 left out."""
        sources = [self.source(rank) for rank in range(self.world_size)]
        return Setting(
            budget=self.budget,
            costs={
                source.identity(index): cost
                for source in sources
                for index, cost in enumerate(source.costs)
            },
            identities=tuple(
                tuple(source.identity(index) for index, cost in enumerate(source.costs) if cost)
                for source in sources
            ),
            tail=tail,
        )

    def _target_counts(self, rank: int) -> tuple[int, ...]:
        costs = self.costs[rank]
        if self.id == "no-targets-on-one-rank" and rank == 0:
            return (0,) * len(costs)
        if self.id == "one-against-ninety-nine-targets":
            return ((1,), (99,))[rank]
        return costs


@cache
def all_cases() -> dict[str, Case]:
    """By id, in the order of the file."""
    entries = json.loads(Path(__file__).with_name("inputs.json").read_text())
    cases = [
        Case(
            id=entry["id"],
            costs=tuple(map(tuple, entry["ranks"])),
            budget=entry["budget"],
            expect=entry["expect"],
        )
        for entry in entries
    ]
    return {case.id: case for case in cases}
