"""Controls: obligations asked of the planted tables, which must refute them.

Rules kept here:
1. The obligation is the very one that the protocol passes; only the table differs.
2. Each planted bug is refuted by at least one control, and a control that is not refuted fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dgap.protocol.transition import Table

from .check import Check, Verdict
from .obligations import by_id
from .planted import (
    drained_rank_closes_alone,
    finished_while_holding,
    idle_rank_does_not_offer_again,
    step_count_above_least_offer,
)

_CONTROLS: tuple[tuple[Callable[[], Table], str], ...] = (
    (finished_while_holding, "invariant.complete"),
    (idle_rank_does_not_offer_again, "deadlock.free"),
    (drained_rank_closes_alone, "invariant.matching"),
    (step_count_above_least_offer, "step_count.least_offer"),
    (step_count_above_least_offer, "invariant.step_count"),
)


def planted_checks() -> tuple[Check, ...]:
    """One control per (planted bug, obligation that refutes it)."""
    return tuple(_control(plant, name) for plant, name in _CONTROLS)


def _control(plant: Callable[[], Table], id: str) -> Check:  # noqa: A002
    check = by_id(plant())[id]
    return replace(
        check,
        id=f"planted.{plant.__name__}.{id}",
        statement=f"planted bug: {plant.__name__.replace('_', ' ')}",
        expected=Verdict.REFUTED,
    )
