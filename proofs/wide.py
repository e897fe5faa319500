"""The checks of the compiled explorer alone: wide families, and planted bugs as its controls.

Rules kept here:
1. A wide family has one row. It counts for the properties whose witnesses it lists, and is
   "unknown" unless each of these is reached; all properties are watched, R1 on every transition.
2. That no run goes in circles is part of the row: every move makes PROGRESS larger.
3. The number of states is recorded in expected_states.json; another number is refuted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from dgap.protocol.transition import Table
from dgap.spec.properties import PROPERTIES

from .check import Check, Outcome, Reach, Verdict
from .compiled import Found
from .compiled_family import decided, jobs_of
from .exploration import CONTROL_FAMILY, CONTROLS
from .explored_under import explored_under
from .families import as_recorded
from .watch import REFINEMENT
from .wide_families import WIDE
from .wide_family import WideFamily


def wide_checks() -> tuple[Check, ...]:
    """A row per wide family, then the planted bugs."""
    return (*map(_family_check, WIDE), *_planted())


def counted(family: WideFamily) -> tuple[str, ...]:
    """Ids of the properties that the family counts for."""
    ids = [each.id for each in PROPERTIES if each.witness in family.witnesses]
    return (*ids, *([REFINEMENT] if family.refinement else []))


def _family_check(family: WideFamily) -> Check:
    return Check(
        id=f"wide.{family.name}",
        property="all",
        statement="nothing that the specification states is broken and no run goes in circles; "
        f"shown not to be empty words: {', '.join(counted(family))}",
        reach=Reach.EXHAUSTIVE,
        scope=family.scope,
        expected=Verdict.PROVED,
        run=partial(holds_in, family),
        assumptions=explored_under(family),
    )


def holds_in(family: WideFamily) -> Outcome:
    """PROVED if nothing is broken and the number of states is the recorded one."""
    return decided(tuple(family.jobs()), family.witnesses, partial(_as_recorded, family))


def _as_recorded(family: WideFamily, found: Sequence[Found]) -> tuple[Verdict, str]:
    return as_recorded(f"wide.{family.name}", sum(each.states for each in found))


def _planted() -> Iterator[Check]:
    for build, property_id, what in CONTROLS:
        yield Check(
            id=f"compiled.planted.{build.__name__}",
            property=property_id,
            statement=f"the compiled explorer finds the planted bug: {what}",
            reach=Reach.EXHAUSTIVE,
            scope=CONTROL_FAMILY.scope,
            expected=Verdict.REFUTED,
            run=partial(planted_breaks, build, property_id),
            assumptions=explored_under(CONTROL_FAMILY),
        )


def planted_breaks(build: Callable[[], Table], property_id: str) -> Outcome:
    """REFUTED, as it should be, if the planted table breaks the property."""
    return decided(
        jobs_of(CONTROL_FAMILY),
        (),
        lambda found: (Verdict.PROVED, "the planted bug was not found"),
        table=build(),
        property_id=property_id,
    )
