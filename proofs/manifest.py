"""The manifest: every check there is, in the order in which it is reported.

Rules kept here:
1. Ids are unique and stay what they are; a script may select by them.
2. Nothing is left out because a tool is missing: an import that fails ends the run.
3. A planted bug is refuted by an obligation and by the explorer, as expected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from .assumed import assumption_checks
from .check import Check
from .composition import composition_checks
from .duties import duty_checks
from .exploration import exploration_checks
from .fairness import fairness_checks
from .foreign import foreign_checks
from .kill_matrix import mutation_checks
from .obligations_age import age_checks
from .obligations_collectives import collective_checks
from .obligations_commute import commute_checks
from .obligations_decision import decision_checks
from .obligations_effects import effect_checks
from .obligations_events import event_checks
from .obligations_groups import group_checks
from .obligations_identity import identity_checks
from .obligations_invariant import invariant_checks
from .obligations_planted import planted_checks
from .obligations_progress import progress_checks
from .obligations_ranges import range_checks
from .obligations_reception import reception_checks
from .obligations_refinement import refinement_checks
from .obligations_rounds import round_checks
from .recheck import recheck_checks
from .rule_mutants import rule_mutant_checks
from .second_opinion import second_opinion_checks
from .source_contract import source_checks
from .tightness import tightness_checks
from .wide import wide_checks

BUILDERS: tuple[Callable[[], tuple[Check, ...]], ...] = (
    decision_checks,
    effect_checks,
    reception_checks,
    invariant_checks,
    round_checks,
    identity_checks,
    progress_checks,
    age_checks,
    group_checks,
    collective_checks,
    event_checks,
    commute_checks,
    range_checks,
    refinement_checks,
    planted_checks,
    composition_checks,
    source_checks,
    fairness_checks,
    foreign_checks,
    second_opinion_checks,
    recheck_checks,
    tightness_checks,
    rule_mutant_checks,
    mutation_checks,
    duty_checks,
    wide_checks,
    exploration_checks,
)
"""The short ones first: they share what they build within a process."""

CORE: tuple[Callable[[], tuple[Check, ...]], ...] = (
    decision_checks,
    effect_checks,
    reception_checks,
    invariant_checks,
    round_checks,
    identity_checks,
    progress_checks,
    age_checks,
    group_checks,
)
"""The proofs for all W: Z3 and Python alone, ten seconds. What takes longest, planted bugs,
explorations and foreign tools are left to the whole."""


@lru_cache(maxsize=1)
def manifest() -> tuple[Check, ...]:
    """All checks. Raises ValueError if two have one id."""
    built = tuple(check for build in BUILDERS for check in build())
    checks = (*built, *assumption_checks(built))
    require_unique(checks)
    return checks


def require_unique(checks: Iterable[Check]) -> None:
    """Raises ValueError naming the first id that two checks have."""
    seen: set[str] = set()
    for check in checks:
        if check.id in seen:
            raise ValueError(f"two checks have the id {check.id!r}; give one another name")
        seen.add(check.id)


def select(checks: Iterable[Check], prefix: str) -> tuple[Check, ...]:
    """The checks whose id starts with the prefix."""
    return tuple(check for check in checks if check.id.startswith(prefix))


def core(checks: Iterable[Check]) -> tuple[Check, ...]:
    """The checks that the builders of `CORE` make."""
    ids = {check.id for build in CORE for check in build()}
    return tuple(check for check in checks if check.id in ids)
