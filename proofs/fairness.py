"""Liveness under its fairness: every run ends well if the world moves on, and not otherwise.

Rules kept here:
1. The fairness is that of spec/fairness.py, by name; TLC reads it as the temporal formula that the
   exported module states, the explorer as: a run stops only where nothing can happen.
2. The unfair run is exhibited: without fairness both must find a run that stands still for ever
   in a world that is not done. A control that finds none fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from dgap.protocol.vocabulary import Settings
from dgap.spec.fairness import MINIMAL_PROGRESS
from dgap.spec.properties import LIVENESS

from .check import Check, Outcome, Reach, Verdict
from .explored_under import explored_under
from .explorer import Exploration, explore
from .export import instance_of
from .export_tla import FAIR, UNFAIR, TlaFiles, tla
from .families import STATE_LIMIT, Family
from .foreign_tools import STUTTERS, MissingTool, run_tlc
from .trace import readable
from .watch import PropertyWatch
from .world import Node, World

FAMILY = Family(
    name="fairness",
    scope="W=2, 0..1 samples a rank, window 2, queue of 1, a crash on rank 0, tail idle",
    settings=(Settings(window=2),),
    witnesses=(),
    most_samples=1,
    crashes=1,
    troubled_ranks=1,
)


def _search(fair: bool) -> tuple[World, Exploration[Node]]:
    """All runs; an unfair one may also stay where it is, for ever, in each world."""
    (settings,) = FAMILY.settings
    world = World(settings, FAMILY.world_size)

    def following(node: Node) -> Sequence[Node]:
        return [*world.successors(node), *(() if fair else (node,))]

    roots = [world.root(environments) for environments in FAMILY.environments()]
    watch = PropertyWatch(world, LIVENESS)
    return world, explore(roots, following, watch, state_limit=STATE_LIMIT)


def explored(fair: bool) -> Outcome:
    """PROVED if every run ends where all is done. Else the trace is a run that goes on for ever,
    its last world standing for itself."""
    world, found = _search(fair)
    outcome = Outcome(verdict=Verdict.UNKNOWN, states=found.states, depth=found.depth)
    if not found.finished:
        return replace(outcome, detail="the search did not finish")
    broken = [name for name in found.broken if name in MINIMAL_PROGRESS.needed_by]
    if broken:
        trace = readable(world, found.broken[broken[0]])
        detail = f"a run stops where {broken[0]} is broken"
        return replace(outcome, verdict=Verdict.REFUTED, detail=detail, trace=trace)
    if found.longest is None:
        undone = "L1" in PropertyWatch(world, LIVENESS).at_rest(found.cycle[-1])
        detail = f"a run stays for ever in {len(set(found.cycle))} world(s)"
        trace = readable(world, found.cycle)
        verdict = Verdict.REFUTED if undone else Verdict.UNKNOWN
        return replace(outcome, verdict=verdict, detail=detail, trace=trace)
    detail = f"every run ends after {found.longest} moves at most"
    return replace(outcome, verdict=Verdict.PROVED, detail=detail)


def temporal(files: TlaFiles, specification: str) -> TlaFiles:
    """The same module, asked whether all runs of a specification end well."""
    kept, _, _ = files.config.partition("INVARIANTS")
    config = kept.replace("SPECIFICATION Spec", f"SPECIFICATION {specification}")
    return replace(files, config=f"{config}PROPERTY Ends\n")


def in_tlc(specification: str) -> Outcome:
    """PROVED if TLC finds that all runs of the specification end well."""
    try:
        answer = run_tlc(temporal(tla(instance_of(FAMILY)), specification))
    except MissingTool as missing:
        return Outcome(verdict=Verdict.UNKNOWN, detail=f"not run: {missing}")
    if answer.broken == STUTTERS:
        detail = "a run stands still for ever before all is done"
        return Outcome(verdict=Verdict.REFUTED, detail=detail, states=answer.states)
    verdict = Verdict.UNKNOWN if answer.broken else Verdict.PROVED
    detail = answer.broken or "every run ends"
    return Outcome(verdict=verdict, detail=detail, states=answer.states)


def fairness_checks() -> tuple[Check, ...]:
    """Each tool with the fairness, and as a control without it."""
    name = MINIMAL_PROGRESS.name
    rows = (
        ("explorer", True, partial(explored, True)),
        ("explorer", False, partial(explored, False)),
        ("tlc", True, partial(in_tlc, FAIR)),
        ("tlc", False, partial(in_tlc, UNFAIR)),
    )
    return tuple(
        Check(
            id=f"fairness.{tool}" if fair else f"fairness.{tool}.unfair",
            property="L2",
            statement=f"under {name} every run ends, with all done"
            if fair
            else f"without {name} a run may stand still for ever",
            reach=Reach.EXHAUSTIVE,
            scope=FAMILY.scope,
            expected=Verdict.PROVED if fair else Verdict.REFUTED,
            run=run,
            assumptions=explored_under(FAMILY),
        )
        for tool, fair, run in rows
    )
