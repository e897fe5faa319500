"""The assumptions that an exploration rests on: those whose rows its surroundings have.

Rules kept here:
1. Which rows formalise an assumption is said in the ledger; here is only which rows a family has.
2. A row that nothing in the family can bring about is not there.
"""

from __future__ import annotations

from collections.abc import Mapping

from dgap.spec.assumptions import ASSUMPTIONS
from dgap.spec.environment import MOVES, OCCASIONS

from .families import Family
from .wide_family import WideFamily

NEEDS: Mapping[str, str] = {
    "fail": "faults",
    "stop": "stops",
    "leave": "stops",
    "crash": "crashes",
    "break": "crashes",
    "train_breaks": "crashes",
    "refuse": "unlike",
}
"""Rows that not every family has, and the trouble that brings them about."""


def rows_of(family: Family | WideFamily) -> frozenset[str]:
    """The rows of the environment that can happen in a family."""
    names = (row.name for row in (*OCCASIONS, *MOVES))
    return frozenset(name for name in names if name not in NEEDS or _has(family, NEEDS[name]))


def _has(family: Family | WideFamily, trouble: str) -> bool:
    if isinstance(family, WideFamily):
        return family.trouble == trouble
    return bool(getattr(family, trouble))


def explored_under(family: Family | WideFamily) -> tuple[str, ...]:
    """The ids of the assumptions that are among the family's surroundings."""
    rows = rows_of(family)
    return tuple(each.id for each in ASSUMPTIONS if rows & set(each.rows))
