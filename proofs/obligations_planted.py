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
from .obligations_age import age_checks
from .obligations_collectives import collective_checks
from .obligations_commute import commute_checks
from .obligations_decision import decision_checks
from .obligations_effects import effect_checks
from .obligations_events import event_checks
from .obligations_identity import identity_checks
from .obligations_invariant import invariant_checks
from .obligations_progress import progress_checks
from .obligations_ranges import range_checks
from .obligations_reception import reception_checks
from .obligations_refinement import refinement_checks
from .obligations_rounds import round_checks
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


def all_parametric(table: Table) -> dict[str, Check]:
    """Every obligation that can be asked of any table, by id."""
    builders = (
        decision_checks,
        effect_checks,
        reception_checks,
        invariant_checks,
        round_checks,
        identity_checks,
        progress_checks,
        age_checks,
        collective_checks,
        event_checks,
        commute_checks,
        range_checks,
        refinement_checks,
    )
    return {check.id: check for build in builders for check in build(table)}


def planted_checks() -> tuple[Check, ...]:
    """One control per (planted bug, obligation that refutes it)."""
    return tuple(_control(plant, name) for plant, name in _CONTROLS)


def _control(plant: Callable[[], Table], id: str) -> Check:  # noqa: A002
    check = all_parametric(plant())[id]
    return replace(
        check,
        id=f"planted.{plant.__name__}.{id}",
        statement=f"planted bug: {plant.__name__.replace('_', ' ')}",
        expected=Verdict.REFUTED,
    )
