"""Second opinions: the exported table in explorers that share no code with ours.

Rules kept here:
1. TLC and rumur must find nothing broken, and exactly as many distinct states as our explorer
   does on the same instance in the same run.
2. Each must find every planted bug, by the very property that it breaks.
3. A tool that is missing was not run: the answer is "unknown", which never passes.

What they share with our explorer is what they read: the table, the environment, the properties,
and how `export.py` puts them together. What they do not share: the meaning of expressions, the
order of moves, the search, and how a world is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import Policy, Settings
from dgap.spec.properties import PROPERTIES, Property

from .check import Check, Outcome, Reach, Verdict
from .exploration import CONTROL_FAMILY, CONTROLS
from .explored_under import explored_under
from .explorer import explore
from .export import Instance, instance_of
from .export_murphi import murphi
from .export_tla import tla
from .families import STATE_LIMIT, Family
from .foreign_tools import STANDS_STILL, Answer, MissingTool, run_rumur, run_tlc
from .run import Result, Standing
from .watch import PropertyWatch
from .world import World

Run = Callable[[Instance, Table, Sequence[Property]], Answer]


def _in_tlc(instance: Instance, table: Table, properties: Sequence[Property]) -> Answer:
    return run_tlc(tla(instance, table=table, properties=properties))


def _in_rumur(instance: Instance, table: Table, properties: Sequence[Property]) -> Answer:
    return run_rumur(murphi(instance, table=table, properties=properties))


TOOLS: Mapping[str, Run] = {"tlc": _in_tlc, "rumur": _in_rumur}

INSTANCES: tuple[Family, ...] = (
    Family(
        name="join-idle",
        scope="W=2, 0..2 samples a rank, windows of 1 and 2, queue of 2, tail idle",
        settings=(Settings(window=2),),
        witnesses=(),
        first_window=1,
        queue_limit=2,
    ),
    Family(
        name="join-stop",
        scope="W=2, 0..2 samples a rank, window 3, accumulation 2, queue of 1, tail stop",
        settings=(Settings(window=3, accumulation=2, tail_stop=1),),
        witnesses=(),
    ),
    Family(
        name="quota",
        scope="W=2, 0..1 samples a pass, shares of 0..2, window 2, the paper's policy, tail idle",
        settings=(Settings(window=2, quota=1, policy=Policy.PAPER),),
        witnesses=(),
        most_samples=1,
        most_share=2,
    ),
    Family(
        name="three",
        scope="W=3, 0..1 samples a rank, window 2, queue of 1, tail idle",
        settings=(Settings(window=2),),
        witnesses=(),
        world_size=3,
        most_samples=1,
    ),
    Family(
        name="trouble",
        scope="W=2, 0..1 samples a rank, window 2; on rank 0 a fault, an early leave and a crash",
        settings=(Settings(window=2),),
        witnesses=(),
        most_samples=1,
        faults=1,
        stops=1,
        crashes=1,
        troubled_ranks=1,
    ),
)
"""Few and small: the counts must agree, not impress."""

COMMITTED = INSTANCES[0]
"""The instance whose TLA+ module is committed under spec/."""


def foreign_checks() -> tuple[Check, ...]:
    """For each tool: every instance, then every planted bug."""
    return tuple(check for tool in TOOLS for check in (*_counts(tool), *_planted(tool)))


def _counts(tool: str) -> Iterator[Check]:
    for family in INSTANCES:
        yield Check(
            id=f"foreign.{tool}.{family.name}",
            property="all",
            statement=f"{tool} finds nothing broken, and exactly as many states as the explorer",
            reach=Reach.EXHAUSTIVE,
            scope=family.scope,
            expected=Verdict.PROVED,
            run=partial(agrees, tool, family),
            assumptions=explored_under(family),
        )


def _planted(tool: str) -> Iterator[Check]:
    for build, property_id, what in CONTROLS:
        yield Check(
            id=f"foreign.{tool}.planted.{build.__name__}",
            property=property_id,
            statement=f"{tool} finds the planted bug: {what}",
            reach=Reach.EXHAUSTIVE,
            scope=CONTROL_FAMILY.scope,
            expected=Verdict.REFUTED,
            run=partial(finds, tool, build, property_id),
            assumptions=explored_under(CONTROL_FAMILY),
        )


def agrees(tool: str, family: Family, *, table: Table = TABLE) -> Outcome:
    """PROVED if the tool finds nothing broken and counts the states that our explorer counts."""
    try:
        answer = TOOLS[tool](instance_of(family), table, PROPERTIES)
    except MissingTool as missing:
        return Outcome(verdict=Verdict.UNKNOWN, detail=f"not run: {missing}")
    ours = count_states(family, table=table)
    if answer.broken:
        detail = f"{answer.broken} is broken after {answer.states} states"
        return Outcome(verdict=Verdict.REFUTED, detail=detail, states=answer.states)
    if answer.states != ours:
        detail = f"{tool} finds {answer.states} states, the explorer {ours}"
        return Outcome(verdict=Verdict.REFUTED, detail=detail, states=answer.states)
    detail = f"{ours} states in {tool} and in the explorer"
    return Outcome(verdict=Verdict.PROVED, detail=detail, states=ours)


def finds(tool: str, build: Callable[[], Table], property_id: str) -> Outcome:
    """REFUTED, as it should be, if the tool finds that property broken by the planted table."""
    chosen = [each for each in PROPERTIES if each.id == property_id]
    named = STANDS_STILL if chosen[0].kind == "at rest" else property_id
    try:
        answer = TOOLS[tool](instance_of(CONTROL_FAMILY), build(), chosen)
    except MissingTool as missing:
        return Outcome(verdict=Verdict.UNKNOWN, detail=f"not run: {missing}")
    if answer.broken == named:
        detail = f"{property_id} is broken after {answer.states} states"
        return Outcome(verdict=Verdict.REFUTED, detail=detail, states=answer.states)
    detail = f"the planted bug was not found; broken: {answer.broken or 'nothing'}"
    return Outcome(verdict=Verdict.PROVED, detail=detail, states=answer.states)


def count_states(family: Family, *, table: Table = TABLE) -> int:
    """The number of worlds that our explorer reaches. Raises ValueError if it does not finish."""
    (settings,) = family.settings
    world = World(settings, family.world_size, table=table)
    roots = [
        world.root(environments, first_window=family.first_window)
        for environments in family.environments()
    ]
    nothing = PropertyWatch(world, ())
    found = explore(roots, world.successors, nothing, state_limit=STATE_LIMIT)
    if not found.finished:
        raise ValueError(f"{family.name} has more than {STATE_LIMIT} states")
    return found.states


def foreign_entries(results: Iterable[Result]) -> list[dict[str, str | int]]:
    """For the report: tool, instance and distinct states of each count that was verified."""
    found: list[dict[str, str | int]] = []
    for result in results:
        head, _, rest = result.check.id.partition(".")
        tool, _, instance = rest.partition(".")
        counted = head == "foreign" and result.check.expected == Verdict.PROVED
        if counted and result.outcome is not None and result.standing == Standing.VERIFIED:
            found.append({"tool": tool, "instance": instance, "states": result.outcome.states})
    return found
