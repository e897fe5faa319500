"""What each row hands out and what it leaves behind, stated apart from the table.

Rules kept here:
1. A row asks for what it does: a batch where samples are counted, an end where it is marked, an
   error where a rank fails. That is read off the row, without a solver.
2. Values that the invariant leaves open are stated here; what it fixes is not said again.

These obligations were found missing by mutants that nothing else refuted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dgap.protocol.expr import Choose, Const, Term, lesser
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Row, Table
from dgap.protocol.vocabulary import EffectKind, EventKind, FailureCode, Phase, setting, state

from .actions import ACTOR, EMITTING
from .asking import Obligation, parametric
from .check import Check, Outcome, Reach, Verdict
from .invariant_rank import QUOTA
from .obligations_invariant import action_scenes


def _effects(table: Table) -> Outcome:
    """Each row asks for what it does. Read off the rows."""
    strangers = [f"{row.name}: {what}" for row in table.rows for what in _mismatches(row)]
    verdict = Verdict.REFUTED if strangers else Verdict.PROVED
    detail = f"{len(table.rows)} rows by what they ask and update"
    return Outcome(verdict=verdict, detail=detail, trace=tuple(strangers))


_RAISED: Mapping[EventKind, EffectKind] = {
    EventKind.GATHERED: EffectKind.FAILED,
    EventKind.REFUSE: EffectKind.REFUSED,
    EventKind.BREAK: EffectKind.ABANDON,
}
"""What ends a rank in FAILED, and what the engine then raises."""


def _mismatches(row: Row) -> Iterator[str]:
    """What a row asks without doing it, or does without asking for it."""
    updated = {name for name, _ in row.updates}
    kind = row.asks[0].kind if row.asks else None
    raises = kind is not None and kind == _RAISED.get(row.event)
    ends = kind in (EffectKind.CLOSE, EffectKind.STOPPED) and row.event == EventKind.GATHERED
    pairs = {
        "a step is counted for each batch": ("steps" in updated, kind in EMITTING),
        "samples are counted for each real batch": (
            "delivered" in updated,
            kind == EffectKind.BATCH,
        ),
        "an iterator ends where it is marked": ("ended" in updated, kind == EffectKind.END),
        "a pass is counted where it is repeated": (
            "passes" in updated,
            kind == EffectKind.RESTART,
        ),
        "the gather is entered with the report": (
            row.target == Phase.OFFER,
            kind == EffectKind.GATHER,
        ),
        "the sum is entered with T": (row.target == Phase.TALLY, kind == EffectKind.TALLY),
        "only a turn opens the next round": (
            (row.phase, row.target) == (Phase.EMIT, Phase.FILL),
            row.event == EventKind.TURN,
        ),
        "only a verdict closes": (row.target == Phase.CLOSED, ends),
        "only a verdict, a refusal or a broken collective fails": (
            row.target == Phase.FAILED,
            raises,
        ),
    }
    yield from (what for what, (done, asked) in pairs.items() if done != asked)


_EMPTY_PASS = QUOTA & ACTOR["read"].equals(0)
LEFT_BEHIND: tuple[tuple[EventKind | EffectKind, str, Term], ...] = (
    (
        EventKind.EXHAUST,
        "failed",
        Choose(_EMPTY_PASS, Const(FailureCode.DRY), ACTOR["failed"]),
    ),
    (EffectKind.RESTART, "passes", ACTOR["passes"] + 1),
    (EffectKind.TALLY, "target", lesser(ACTOR["target"] + ACTOR["target"], setting("window"))),
)
"""Cause, field and new value: after an event, or after what a verdict asks for. (No mapping: an
event and an effect of one number are equal keys.)"""


def _left_behind(table: Table) -> Iterator[Obligation]:
    for cause, field, value in LEFT_BEHIND:
        for row in table.rows:
            if cause is row.event or any(ask.kind is cause for ask in row.asks):
                new = dict(row.updates).get(field, state(field))
                scene = action_scenes(table)[row.name]
                yield Obligation(name=f"{row.name}: {field}", scene=scene, goal=new.equals(value))


def effect_checks(table: Table = TABLE) -> tuple[Check, ...]:
    """What rows ask for, and the values that no conjunct fixes."""
    effects = Check(
        id="table.effects",
        property="S1",
        statement="every row asks for what it does, and only verdicts and breaks end a rank",
        reach=Reach.ALL_RANKS,
        scope="read off the table",
        expected=Verdict.PROVED,
        run=lambda: _effects(table),
    )
    left_behind = parametric(
        "table.values",
        "L2",
        "windows double up to B, passes are counted, a pass without a sample is a failure",
        lambda: _left_behind(table),
    )
    return (effects, left_behind)
