"""What a run that breaks a property becomes: a detail, a trace to read, a schedule to repeat.

Rule kept here: a run of a table that nobody could build again by name has no schedule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .check import Outcome, Verdict
from .schedule import schedule_of, table_name
from .trace import readable
from .world import Node, World


def refuted_by(outcome: Outcome, world: World, path: Sequence[Node], broken: str) -> Outcome:
    """The outcome, REFUTED by a path from a start to the node that breaks the property."""
    refuted = replace(
        outcome,
        verdict=Verdict.REFUTED,
        detail=f"{broken} is broken after {len(path) - 1} moves",
        trace=readable(world, path),
    )
    if not table_name(world.table):
        return refuted
    return replace(refuted, schedule=schedule_of(world, path, broken=broken))
