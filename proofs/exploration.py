"""The checks that the explorer decides, one for each property in each family that can show it.

Rules kept here:
1. A property counts in a family only if its witness is reached there too; else the answer is
   "unknown", since what never happens satisfies everything.
2. Every family has a check that nothing at all is broken, and that its states are as many as
   recorded; another that no run goes in circles; another that the compiled explorer counts the
   same. Unfinished searches are "unknown".
3. The controls explore planted tables; each must be refuted, by a trace that a reader can follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import Settings
from dgap.spec.properties import PROPERTIES, Property
from dgap.spec.witnesses import WITNESSES

from . import planted
from .check import Check, Outcome, Reach, Verdict
from .compiled_family import agreement_check
from .explored_under import explored_under
from .families import FAMILIES, Explored, Family, as_recorded, explore_family, explored
from .refutation import refuted_by
from .trace import readable
from .watch import REFINEMENT

CONTROL_FAMILY = Family(
    name="control",
    scope="W=2, 0..2 samples a rank, window 2, queue of 1, tail idle",
    settings=(Settings(window=2),),
    witnesses=(),
)

CONTROLS: tuple[tuple[Callable[[], Table], str, str], ...] = (
    (planted.finished_while_holding, "S5", "a rank says it has nothing while it holds samples"),
    (planted.idle_rank_does_not_offer_again, "L1", "a drained rank does not offer again"),
    (planted.step_count_above_least_offer, "S3a", "T is above the least offer"),
    (planted.drained_rank_closes_alone, "L1", "a drained rank closes without a verdict"),
)
"""Planted bug, the property that it breaks, what it does."""


def exploration_checks() -> tuple[Check, ...]:
    """All checks by exploration. The checks of a family share one search in a process."""
    return (*_family_checks(), *_controls())


def _check(
    id_: str, property_: str, statement: str, family: Family, run: Callable[[], Outcome]
) -> Check:
    return Check(
        id=id_,
        property=property_,
        statement=statement,
        reach=Reach.EXHAUSTIVE,
        scope=family.scope,
        expected=Verdict.PROVED,
        run=run,
        assumptions=explored_under(family),
    )


def _family_checks() -> Iterator[Check]:
    for family in FAMILIES:
        for each in PROPERTIES:
            if each.witness in family.witnesses:
                run = partial(holds_in, family, each)
                yield _check(f"{each.id}.{family.name}", each.id, each.statement, family, run)
        if family.refinement:
            yield _check(
                f"R1.{family.name}",
                REFINEMENT,
                "every transition is one of the abstract machine, in which all ranks step at "
                "once, or changes nothing there",
                family,
                partial(refines_in, family),
            )
        yield _check(
            f"ends.{family.name}",
            "L2",
            "no run goes in circles, so every run ends",
            family,
            partial(ends_in, family),
        )
        yield _check(
            f"all.{family.name}",
            "all",
            "nothing that the specification states is broken; the states are as many as recorded",
            family,
            partial(nothing_broken_in, family),
        )
        yield from _witness_checks(family)
        yield agreement_check(family)


def _witness_checks(family: Family) -> Iterator[Check]:
    """The "sometimes" properties that no family before this one shows."""
    for each in WITNESSES:
        first = next(other for other in FAMILIES if each.id in other.witnesses)
        if first == family:
            run = partial(shown_in, family, each)
            yield _check(f"seen.{each.id}", "sometimes", f"reached: {each.statement}", family, run)


def _controls() -> Iterator[Check]:
    for build, property_id, what in CONTROLS:
        yield Check(
            id=f"control.{build.__name__}",
            property=property_id,
            statement=f"planted bug: {what}",
            reach=Reach.EXHAUSTIVE,
            scope=CONTROL_FAMILY.scope,
            expected=Verdict.REFUTED,
            run=partial(planted_breaks, build, property_id),
            assumptions=explored_under(CONTROL_FAMILY),
        )


def holds_in(family: Family, property_: Property) -> Outcome:
    """PROVED if the property is nowhere broken and its witness is reached."""
    found = explored(family)
    refuted = _refuted(found, [property_.id])
    if refuted or not _finished(found):
        return refuted or _outcome(found, Verdict.UNKNOWN, "the search did not finish")
    if not _shown(found, property_.witness):
        return _outcome(found, Verdict.UNKNOWN, f"its witness {property_.witness} is not reached")
    return _outcome(found, Verdict.PROVED)


def refines_in(family: Family) -> Outcome:
    """PROVED if every transition maps to one of the abstract machine, or to none."""
    found = explored(family)
    refuted = _refuted(found, [REFINEMENT])
    if refuted or not _finished(found):
        return refuted or _outcome(found, Verdict.UNKNOWN, "the search did not finish")
    return _outcome(found, Verdict.PROVED)


def ends_in(family: Family) -> Outcome:
    """PROVED if the reachable worlds have no circle; `detail` says how long the longest run is."""
    found = explored(family)
    if not _finished(found):
        return _outcome(found, Verdict.UNKNOWN, "the search did not finish")
    for each in found:
        if each.exploration.longest is None:
            trace = readable(each.world, each.exploration.cycle)
            return _outcome(found, Verdict.REFUTED, "a run can go in circles", trace)
    longest = max(each.exploration.longest or 0 for each in found)
    return _outcome(found, Verdict.PROVED, f"the longest run has {longest} moves")


def nothing_broken_in(family: Family) -> Outcome:
    """PROVED if no property is broken and the number of states is the recorded one."""
    found = explored(family)
    refuted = _refuted(found, [*(each.id for each in PROPERTIES), REFINEMENT])
    if refuted or not _finished(found):
        return refuted or _outcome(found, Verdict.UNKNOWN, "the search did not finish")
    states = sum(each.exploration.states for each in found)
    return _outcome(found, *as_recorded(family.name, states))


def shown_in(family: Family, property_: Property) -> Outcome:
    """PROVED if a world that shows the "sometimes" property is reached, with a shortest trace."""
    found = explored(family)
    for each in found:
        path = each.exploration.shown.get(property_.id)
        if path is not None:
            trace = readable(each.world, path)
            return _outcome(found, Verdict.PROVED, f"after {len(path) - 1} moves", trace)
    verdict = Verdict.REFUTED if _finished(found) else Verdict.UNKNOWN
    return _outcome(found, verdict, "not reached")


def planted_breaks(build: Callable[[], Table], property_id: str) -> Outcome:
    """REFUTED, as it should be, if the planted table breaks the property."""
    found = explore_family(CONTROL_FAMILY, table=build(), until_broken=property_id)
    refuted = _refuted(found, [property_id])
    verdict = Verdict.PROVED if _finished(found) else Verdict.UNKNOWN
    return refuted or _outcome(found, verdict, "the planted bug was not found")


def _refuted(found: Sequence[Explored], ids: Sequence[str]) -> Outcome | None:
    """The shortest trace to a world in which one of the properties is broken, or None."""
    traces = [
        (len(path), name, each)
        for each in found
        for name, path in each.exploration.broken.items()
        if name in ids
    ]
    if not traces:
        return None
    _, name, each = min(traces, key=lambda trace: trace[:2])
    outcome = _outcome(found, Verdict.REFUTED)
    return refuted_by(outcome, each.world, each.exploration.broken[name], name)


def _finished(found: Sequence[Explored]) -> bool:
    return all(each.exploration.finished for each in found)


def _shown(found: Sequence[Explored], name: str) -> bool:
    return any(name in each.exploration.shown for each in found)


def _outcome(
    found: Sequence[Explored], verdict: Verdict, detail: str = "", trace: tuple[str, ...] = ()
) -> Outcome:
    return Outcome(
        verdict=verdict,
        detail=detail,
        trace=trace,
        states=sum(each.exploration.states for each in found),
        depth=max(each.exploration.depth for each in found),
    )
