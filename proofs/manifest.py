"""The manifest: every check there is, in the order in which it is reported.

Rules kept here:
1. Ids are unique and stay what they are; a script may select by them.
2. Nothing is left out because a tool is missing: an import that fails ends the run.
3. A planted bug is refuted by an obligation and by the explorer, as expected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache, partial

from dgap.protocol.table import TABLE

from . import obligations
from .assumed import assumption_checks
from .check import Check
from .composition import composition_checks
from .duties import duty_checks
from .exploration import exploration_checks
from .fairness import fairness_checks
from .foreign import foreign_checks
from .kill_matrix import mutation_checks
from .obligations_groups import group_checks
from .obligations_planted import planted_checks
from .recheck import recheck_checks
from .rule_mutants import rule_mutant_checks
from .second_opinion import second_opinion_checks
from .source_contract import source_checks
from .tightness import tightness_checks
from .wide import wide_checks

Build = Callable[[], tuple[Check, ...]]

BUILDERS: tuple[Build, ...] = (
    *(partial(build, TABLE) for build in obligations.OBLIGATIONS),
    group_checks,
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

CORE: tuple[Build, ...] = (
    *(partial(build, TABLE) for build in obligations.CORE),
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
