"""The table is total: every event in every phase is taken, cannot come, or is refused on purpose.

Rules kept here:
1. An event cannot come to a rank where its occasion (spec/environment.py) would need the rank to
   be inside a collective that the invariant says it is not in. That is proved.
2. What may come and is refused is listed with its reason; a pair in no list refutes the check.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from dgap.protocol.expr import TRUE, Every, Formula, Name, Node, Some, Term, rebuild
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import LIVE, EventKind, Phase
from dgap.spec.environment import OCCASIONS

from .actions import ACTOR
from .agreed import rounds_at
from .asking import Obligation, parametric
from .check import Check, Outcome, Reach, Verdict
from .invariant_rank import is_in
from .obligations_rounds import at_rest

Pair = tuple[Phase, EventKind]

_RESULTS = {
    EventKind.GATHERED: Phase.OFFER,
    EventKind.REFUSE: Phase.OFFER,
    EventKind.SUMMED: Phase.TALLY,
}
"""The events that a collective brings, and the phase of those inside it."""

IMPOSSIBLE: tuple[Pair, ...] = (
    *(
        (phase, event)
        for event, inside in _RESULTS.items()
        for phase in (*LIVE, Phase.CLOSED)
        if phase != inside
    ),
    (Phase.CLOSED, EventKind.BREAK),
    (Phase.FAILED, EventKind.BREAK),
)
"""Pairs that no world shows."""

_OVER = "the epoch is over for this rank, which takes nothing any more"
_WAITS = "what the source gives waits in the inbox until the window is filled again"
_TOLD = "user code runs in FILL and EMIT; what comes in between is told there"
_OWN = "the engine does this by itself, in the phase that asks for it"
_AT_WORK = (EventKind.OFFER, EventKind.DELIVER, EventKind.IDLE, EventKind.TURN)

REFUSED: Mapping[Pair, str] = {
    **{
        (phase, event): _OVER
        for phase, event in product((Phase.CLOSED, Phase.FAILED), EventKind)
        if (phase, event) not in IMPOSSIBLE
    },
    **{
        (phase, event): _WAITS
        for phase in (Phase.OFFER, Phase.TALLY, Phase.EMIT)
        for event in (EventKind.READ, EventKind.EXHAUST)
    },
    **{
        (phase, event): _TOLD
        for phase in (Phase.OFFER, Phase.TALLY)
        for event in (EventKind.FAIL, EventKind.STOP)
    },
    **{(phase, event): _OWN for phase in (Phase.OFFER, Phase.TALLY) for event in _AT_WORK},
    **{(Phase.FILL, event): _OWN for event in _AT_WORK[1:]},
    (Phase.EMIT, EventKind.OFFER): _OWN,
}
"""Pairs that a world may show, and why the table has no row for them."""


def unanswered(table: Table) -> list[str]:
    """Pairs in no list, or in two."""
    answered = {(row.phase, row.event) for row in table.rows}
    found = []
    for pair in product(Phase, EventKind):
        times = (pair in answered) + (pair in IMPOSSIBLE) + (pair in REFUSED)
        if times != 1:
            what = "neither taken nor refused" if not times else "both taken and refused"
            found.append(f"{pair[1].name} in {pair[0].name}: {what}")
    return found


def _total(table: Table) -> Outcome:
    defects = unanswered(table)
    verdict = Verdict.REFUTED if defects else Verdict.PROVED
    taken = len({(row.phase, row.event) for row in table.rows})
    detail = f"{taken} pairs taken, {len(IMPOSSIBLE)} impossible, {len(REFUSED)} refused"
    reasons = tuple(
        f"{event.name} in {phase.name}: {why}" for (phase, event), why in REFUSED.items()
    )
    return Outcome(verdict=verdict, detail=detail, trace=tuple(defects) or reasons)


_COUNTED: Mapping[str, Term] = {
    "gathers": rounds_at(ACTOR["entered"]),
    "sums": ACTOR["entered"] - rounds_at(ACTOR["entered"]),
    "sums_left": ACTOR["left"] - rounds_at(ACTOR["left"]),
}
"""Counters of the environment, as the invariant counts collectives."""


def own_part(occasion: Formula) -> Formula:
    """What an occasion asks of the rank itself: it is one of those that all must be, and that
    some rank is as asked may always be so."""

    def change(node: Node) -> Node:
        match node:
            case Every(body):
                return change(body)
            case Some():
                return TRUE
            case Name("state" | "report" | "world", name):
                return _COUNTED.get(name, ACTOR[name])
        return rebuild(node, change)

    found = change(occasion)
    if not isinstance(found, Formula):
        raise TypeError(f"{occasion} did not stay a formula")
    return found


def _impossible(table: Table) -> Iterator[Obligation]:
    scenes = {phase: at_rest(table, is_in(ACTOR, phase)) for phase, _ in IMPOSSIBLE}
    for phase, event in IMPOSSIBLE:
        for occasion in OCCASIONS:
            if occasion.event == event:
                name = f"{event.name} in {phase.name}"
                goal = ~own_part(occasion.guard)
                yield Obligation(name=name, scene=scenes[phase], goal=goal)


def event_checks(table: Table = TABLE) -> tuple[Check, ...]:
    """Every event in every phase."""
    return (
        Check(
            id="table.total",
            property="L1",
            statement="every event in every phase has a row, cannot come, or is refused for a "
            "stated reason",
            reach=Reach.ALL_RANKS,
            scope="every phase with every event",
            expected=Verdict.PROVED,
            run=lambda: _total(table),
        ),
        parametric(
            "table.impossible",
            "L1",
            "no collective ends for a rank that is not inside it",
            lambda: _impossible(table),
        ),
    )
