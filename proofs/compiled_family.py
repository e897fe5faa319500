"""The compiled explorer against our other one: the same family, the same numbers.

Rules kept here:
1. States, transitions, worlds at rest and depth must be equal, or the check is refuted.
2. A missing compiler, a search that did not finish or that could not show that runs end is
   "unknown".
3. What the compiled explorer finds broken is walked again by the other one, which gives the trace.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table

from .check import Check, Outcome, Reach, Verdict
from .compiled import Found, Job, search, walked
from .explored_under import explored_under
from .explorer import Exploration
from .families import Explored, Family, explored
from .foreign_tools import MissingTool
from .refutation import refuted_by
from .world import Node


def jobs_of(family: Family) -> tuple[Job, ...]:
    """A family as jobs, one per choice of settings."""
    return tuple(
        Job(
            settings=settings,
            roots=tuple(family.environments()),
            witnesses=family.witnesses,
            first_window=family.first_window,
            reduced=family.reduced,
            refinement=family.refinement,
        )
        for settings in family.settings
    )


def agreement_check(family: Family) -> Check:
    """The row `compiled.<family>`."""
    return Check(
        id=f"compiled.{family.name}",
        property="all",
        statement="the compiled explorer finds nothing broken, shows the same witnesses, and "
        "counts as many states, transitions, worlds at rest and moves of depth",
        reach=Reach.EXHAUSTIVE,
        scope=family.scope,
        expected=Verdict.PROVED,
        run=partial(agrees, family),
        assumptions=explored_under(family),
    )


def agrees(family: Family) -> Outcome:
    """PROVED if both explorers find the same numbers, and nothing broken."""
    jobs = jobs_of(family)
    return decided(jobs, family.witnesses, lambda found: _compared(found, explored(family)))


def _compared(found: Sequence[Found], other: Sequence[Explored]) -> tuple[Verdict, str]:
    ours = [_numbers(each) for each in found]
    theirs = [_numbers(each.exploration) for each in other]
    if ours != theirs:
        return Verdict.REFUTED, f"(states, transitions, at rest, depth): {ours} and {theirs}"
    states, transitions = (sum(each[at] for each in ours) for at in (0, 1))
    return Verdict.PROVED, f"{states} states and {transitions} transitions in both"


def _numbers(found: Found | Exploration[Node]) -> tuple[int, int, int, int]:
    return found.states, found.transitions, found.at_rest, found.depth


def decided(
    jobs: Sequence[Job],
    witnesses: Sequence[str],
    compare: Callable[[Sequence[Found]], tuple[Verdict, str]],
    *,
    table: Table = TABLE,
    property_id: str = "",
) -> Outcome:
    """REFUTED with a trace where something (or `property_id`) is broken; UNKNOWN where the search
    is not complete or a witness is not shown; else what `compare` says."""
    try:
        found = search(jobs, table=table)
    except MissingTool as missing:
        return Outcome(verdict=Verdict.UNKNOWN, detail=f"not run: {missing}")
    outcome = Outcome(
        verdict=Verdict.UNKNOWN,
        states=sum(each.states for each in found),
        depth=max(each.depth for each in found),
    )
    refuted = _refuted(jobs, found, table, property_id, outcome)
    if refuted is not None:
        return refuted
    unknown = _incomplete(found, witnesses)
    if unknown:
        return replace(outcome, detail=unknown)
    verdict, detail = compare(found)
    return replace(outcome, verdict=verdict, detail=detail)


def _incomplete(found: Sequence[Found], witnesses: Sequence[str]) -> str:
    """Why nothing is decided; empty where the search is complete."""
    if any(each.overflow for each in found):
        return "a count outgrew its cell"
    if not all(each.finished for each in found):
        return "the search reached its limit of states"
    if not all(each.ends for each in found):
        return "a move did not make PROGRESS larger: whether runs go in circles is not known"
    shown = frozenset[str]().union(*(each.shown for each in found))
    missing = sorted(set(witnesses) - shown)
    return f"not reached: {', '.join(missing)}" if missing else ""


def _refuted(
    jobs: Sequence[Job], found: Sequence[Found], table: Table, property_id: str, outcome: Outcome
) -> Outcome | None:
    """The shortest run to what is broken, as the other explorer walks it."""
    runs = [
        (len(worlds), name, number)
        for number, each in enumerate(found)
        for name, worlds in each.broken.items()
        if name == (property_id or name)
    ]
    if not runs:
        return None
    _, name, number = min(runs)
    world, path = walked(jobs[number], found[number].broken[name], table=table)
    return refuted_by(outcome, world, path, name)
