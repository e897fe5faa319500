"""The obligations that may be asked of any table: every builder of checks for all W, listed once.

Rules kept here:
1. Manifest, second opinions, planted bugs, mutants and duties read these lists and have none of
   their own; an obligation that is added here is asked by all of them.
2. The order is that in which mutants meet them: what is cheap first, the invariant for itself.
"""

from __future__ import annotations

from collections.abc import Callable

from dgap.protocol.transition import Table

from .check import Check
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

Builder = Callable[[Table], tuple[Check, ...]]

CHEAP: tuple[Builder, ...] = (reception_checks, effect_checks)
"""Obligations that need one scene each."""

QUICK: tuple[Builder, ...] = (
    decision_checks,
    round_checks,
    identity_checks,
    progress_checks,
    age_checks,
)
"""What the ten seconds of the core lane have room for, besides the cheap ones and the invariant."""

SLOW: tuple[Builder, ...] = (
    collective_checks,
    event_checks,
    commute_checks,
    range_checks,
    refinement_checks,
)

OTHERS: tuple[Builder, ...] = (*QUICK, *SLOW)
"""What is asked of a table besides the invariant and what is cheap."""

CORE: tuple[Builder, ...] = (*CHEAP, invariant_checks, *QUICK)
OBLIGATIONS: tuple[Builder, ...] = (*CHEAP, invariant_checks, *OTHERS)


def by_id(table: Table) -> dict[str, Check]:
    """Every obligation, asked of this table."""
    return {check.id: check for build in OBLIGATIONS for check in build(table)}
