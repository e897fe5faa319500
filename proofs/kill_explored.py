"""Killing mutants by exploration: what breaks in small families, or is no longer reached in them.

Rules kept here:
1. The families are those of the manifest, each with all its properties, so that a killer's id is
   a row of the manifest.
2. A broken property comes first, then a circle, then what is no longer reached, then another
   number of states: the last is a difference that no property has named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from dgap.protocol.transition import Table
from dgap.spec.properties import PROPERTIES

from .families import FAMILIES, Explored, Family, expected_states, explore_family
from .watch import REFINEMENT

MOST_STATES = 70_000
"""Families with more states under the protocol are left to `make verify`."""


@cache
def small_families() -> tuple[Family, ...]:
    """The families that mutants are explored in, by their number of states."""
    size = expected_states()
    small = [family for family in FAMILIES if size[family.name] <= MOST_STATES]
    return tuple(sorted(small, key=lambda family: size[family.name]))


def killed_by_exploration(table: Table) -> str:
    """The id of the first check of a family that the mutant fails, or nothing."""
    weaker: list[str] = []
    for family in small_families():
        found = explore_family(family, table=table)
        broken = sorted(name for each in found for name in each.exploration.broken)
        if broken:
            return _row_of(family, broken)
        weaker += _weaker(family, found)
    return min(weaker, key=lambda id_: id_.startswith("all."), default="")


def _row_of(family: Family, broken: Sequence[str]) -> str:
    """The check that names one of the broken properties; else the one that names none."""
    named = {each.id for each in PROPERTIES if each.witness in family.witnesses}
    named |= {REFINEMENT} if family.refinement else set()
    return f"{next((id_ for id_ in broken if id_ in named), 'all')}.{family.name}"


def _weaker(family: Family, found: Sequence[Explored]) -> Iterator[str]:
    """Ids of checks that fail although no property is broken."""
    if not all(each.exploration.finished for each in found):
        return
    if any(each.exploration.longest is None for each in found):
        yield f"ends.{family.name}"
    for name in family.witnesses:
        first = next(other for other in FAMILIES if name in other.witnesses)
        if first == family and not any(name in each.exploration.shown for each in found):
            yield f"seen.{name}"
    if sum(each.exploration.states for each in found) != expected_states()[family.name]:
        yield f"all.{family.name}"
