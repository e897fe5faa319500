"""When each event is taken, which verdict a vector has, what a report says: apart from the table.

Rules kept here:
1. Every event is taken exactly when the specification says so: neither refused nor taken early.
   What is said here is said in the words of the invariant, never in the conditions of a row.
2. The policies stay within the contract on T; which T within it is theirs is stated here.

These obligations were found missing by mutants that nothing else refuted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from dgap.protocol.expr import (
    TRUE,
    Choose,
    Const,
    Every,
    Formula,
    Greatest,
    Least,
    Some,
    Term,
    conjoin,
    implies,
    larger,
    lesser,
)
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Row, Table
from dgap.protocol.vocabulary import (
    EffectKind,
    EventKind,
    Phase,
    Policy,
    argument,
    reported,
    setting,
)

from .actions import ACTOR, row_action
from .asking import Obligation, parametric
from .check import Check
from .invariant_rank import JOIN, QUOTA, A, between, calm, is_in, offer_holds, zero
from .invariant_world import invariant
from .obligations_decision import gather_rows, step_count, step_row, vector_scene
from .parametric import Scene, at_rank

_x = ACTOR
_EXHAUSTED = _x["exhausted"].equals(1)
_WINDOW = Choose(QUOTA, lesser(_x["target"], _x["remaining"]), _x["target"])
_READY = (_x["held"] >= _WINDOW) | _EXHAUSTED | ~calm(_x)
_GROUPS = lesser(_x["offered"], _x["owed_steps"])
_EMPTY = _x["owed_groups"].equals(0)
_LATER = _x["owed_groups"] - 1
_LEAVES = conjoin(setting("tail_stop").equals(1), calm(_x), JOIN | _x["remaining"].equals(0))

TAKEN: Mapping[tuple[Phase, EventKind], Formula] = {
    (Phase.FILL, EventKind.READ): ~_READY,
    (Phase.FILL, EventKind.EXHAUST): ~_READY,
    (Phase.FILL, EventKind.FAIL): calm(_x) & (argument("code") >= 1),
    (Phase.FILL, EventKind.STOP): zero(_x, "stopped", "ended"),
    (Phase.FILL, EventKind.OFFER): _READY
    & offer_holds(_x["held"], argument("needed"), argument("units")),
    (Phase.OFFER, EventKind.REFUSE): _x["rounds"].equals(0),
    (Phase.TALLY, EventKind.SUMMED): between(_GROUPS, argument("assigned"), _x["offered"])
    & ((_x["owed_steps"] < _x["needed"] * A) | argument("assigned").equals(_x["offered"])),
    (Phase.EMIT, EventKind.DELIVER): ~_EMPTY
    & between(1, argument("samples"), _x["owed_samples"] - _LATER)
    & ((_LATER >= 1) | argument("samples").equals(_x["owed_samples"])),
    (Phase.EMIT, EventKind.FAIL): calm(_x) & ~_EMPTY & (argument("code") >= 1),
    (Phase.EMIT, EventKind.STOP): zero(_x, "stopped", "ended"),
    (Phase.EMIT, EventKind.TURN): _x["owed_steps"].equals(0),
    **{
        (phase, EventKind.BREAK): TRUE
        for phase in (Phase.FILL, Phase.OFFER, Phase.TALLY, Phase.EMIT)
    },
}
"""When a rank takes an event that comes to it. Vectors and idle steps are below."""

_IDLES = (_x["owed_steps"] >= 1) & _EMPTY
IDLE_STEPS: Mapping[EffectKind, Formula] = {
    EffectKind.IDLE_BATCH: _IDLES & ~_LEAVES,
    EffectKind.END: _IDLES & _LEAVES,
}
"""What a step without samples is: one more idle batch, or the end of the iterator."""

_FAILED = Some(reported("failed") >= 1)
_STOPPED = Some(reported("stopped").equals(1))
_DRY = Some(reported("dry").equals(1))
_NOTHING = Every(reported("offered") <= 0)
VERDICTS: Mapping[EffectKind, Formula] = {
    EffectKind.FAILED: _FAILED,
    EffectKind.STOPPED: _STOPPED & ~_FAILED,
    EffectKind.RESTART: _DRY & ~_STOPPED & ~_FAILED,
    EffectKind.CLOSE: conjoin(_NOTHING, ~_DRY, ~_STOPPED, ~_FAILED),
    EffectKind.TALLY: conjoin(~_NOTHING, ~_DRY, ~_STOPPED, ~_FAILED),
}
"""Which verdict a vector has: a failure before a stop, a stop before another pass."""

ORIGINS: Mapping[EffectKind, Term] = {
    EffectKind.FAILED: Least(reported("rank"), reported("failed") >= 1, Const(0)),
    EffectKind.STOPPED: Least(reported("rank"), reported("stopped").equals(1), Const(0)),
}
"""Whom a verdict names: the lowest rank that is the reason of it."""


def iff(left: Formula, right: Formula) -> Formula:
    """Both hold or neither does."""
    return (left & right) | (~left & ~right)


def open_scene(table: Table, row: Row) -> Scene:
    """A state in the phase of a row, in which its event may come; whether it is taken is open."""
    action = row_action(replace(row, guard=TRUE))
    return Scene(table, invariant(table), replace(action, row=None, updates=()))


def _rows(table: Table, phase: Phase, event: EventKind) -> list[Row]:
    return [row for row in table.rows if (row.phase, row.event) == (phase, event)]


def _applies(rows: list[Row]) -> Formula:
    return ~conjoin(*(~row.guard for row in rows))


def _taken(table: Table) -> Iterator[Obligation]:
    for (phase, event), formula in TAKEN.items():
        rows = _rows(table, phase, event)
        first = rows[0] if rows else _rows(TABLE, phase, event)[0]
        name = f"{event.name} in {phase.name}"
        goal = iff(_applies(rows), formula)
        yield Obligation(name=name, scene=open_scene(table, first), goal=goal)


def _idle_steps(table: Table) -> Iterator[Obligation]:
    for kind, formula in IDLE_STEPS.items():
        rows = [r for r in table.rows if r.event == EventKind.IDLE and _asks(r, kind)]
        first = rows[0] if rows else _rows(TABLE, Phase.EMIT, EventKind.IDLE)[0]
        # the room that a batch needs is not asked for: whether it may come is not the question
        scene = open_scene(table, replace(first, asks=()))
        yield Obligation(name=kind.name, scene=scene, goal=iff(_applies(rows), formula))


def _verdicts(table: Table) -> Iterator[Obligation]:
    for kind, formula in VERDICTS.items():
        rows = [row for row in gather_rows(table) if _asks(row, kind)]
        scene = vector_scene(table)
        yield Obligation(name=kind.name, scene=scene, goal=iff(_applies(rows), formula))


def _origins(table: Table) -> Iterator[Obligation]:
    for kind, origin in ORIGINS.items():
        for row in gather_rows(table):
            if _asks(row, kind):
                goal = row.asks[0].argument.equals(origin)
                scene = vector_scene(table, row.guard)
                yield Obligation(name=kind.name, scene=scene, goal=goal)


def _asks(row: Row, *kinds: EffectKind) -> bool:
    return any(ask.kind in kinds for ask in row.asks)


_DRY_NOW = conjoin(QUOTA, _EXHAUSTED, zero(_x, "held"), _x["remaining"] >= 1)
_SPOKEN: Mapping[str, Term] = {"dry": Choose(_DRY_NOW, Const(1), Const(0))}
"""What a field of a report says, unless it is the field of the state of the same name."""


def _reports(table: Table) -> Iterator[Obligation]:
    scene = Scene(table, invariant(table), None, assumed=(is_in(_x, Phase.OFFER),))
    for name, value in table.report:
        goal = at_rank(_x, value).equals(_SPOKEN.get(name, _x[name]))
        yield Obligation(name=name, scene=scene, goal=goal)


def _policies(table: Table) -> Iterator[Obligation]:
    """T is as high as the policy wants and all ranks that offer can follow."""
    count, offers = step_count(table), reported("offered") >= 1
    paper = setting("policy").equals(Policy.PAPER) | Some(reported("exhausted").equals(1))
    widest = Greatest(reported("needed"), offers, Const(0))
    narrowest = Least(reported("needed"), offers, Const(0))
    fitting = Least(reported("units"), offers, Const(0))
    goals: dict[str, Formula] = {}
    for name, premise, wanted in (
        ("the fullest rank decides", paper, widest),
        ("the emptiest rank decides", ~paper, narrowest),
    ):
        most = lesser(wanted, fitting) * A
        goals[f"{name}: no less"] = implies(premise, count >= most)
        goals[f"{name}: no more"] = implies(premise, count <= larger(most, A))
    for name, goal in goals.items():
        scene = vector_scene(table, step_row(table).guard)
        yield Obligation(name=name, scene=scene, goal=goal)


def reception_checks(table: Table = TABLE) -> tuple[Check, ...]:
    """What the surroundings may count on when an event comes."""

    def check(id: str, promised: str, statement: str, build: _Build) -> Check:  # noqa: A002
        return parametric(id, promised, statement, lambda: build(table))

    return (
        check(
            "reception.taken",
            "L1",
            "each event is taken exactly when it is due: any sound offer, any grouping",
            _taken,
        ),
        check(
            "reception.idle",
            "S5",
            "a step without samples is an idle batch, or under tail stop the end",
            _idle_steps,
        ),
        check(
            "decision.verdicts",
            "S1",
            "a failure comes before a stop, a stop before another pass, that before a step",
            _verdicts,
        ),
        check("report.true", "S1", "a report says what holds of its rank", _reports),
        check("decision.origin", "S10", "a verdict names the lowest rank behind it", _origins),
        check(
            "step_count.policy",
            "S3",
            "T is as high as its policy wants and all that offer can follow",
            _policies,
        ),
    )


_Build = Callable[[Table], Iterator[Obligation]]
