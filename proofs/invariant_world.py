"""The invariant, part two: what holds between ranks, their collectives and their training loops.

Rules kept here:
1. Ranks are compared through the number of the collective they stand at, never through a clock.
2. A statement about all earlier collectives is numbered: it is asked of one collective at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from dgap.protocol.expr import Formula, Term, conjoin, implies
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import EffectKind, Phase, Report

from .actions import QUEUE_LIMIT, takes_part
from .agreed import (
    GATHER,
    SUM,
    final_at,
    kind_at,
    planned_at,
    restarts_at,
    rounds_at,
    steps_at,
    verdict_at,
)
from .invariant_rank import JOIN, QUOTA, RANK_CONJUNCTS, between, is_in, offer_holds, zero
from .parametric import Conjunct, at_rank
from .terms import Rank


def _position(x: Rank) -> Formula:
    inside = x["entered"].equals(x["left"] + 1)
    outside = x["entered"].equals(x["left"])
    return conjoin(
        implies(is_in(x, Phase.OFFER, Phase.TALLY), inside),
        implies(is_in(x, Phase.FILL, Phase.EMIT, Phase.CLOSED), outside),
        inside | outside,
    )


def _matching(x: Rank) -> Formula:
    entered, left = x["entered"], x["left"]
    return conjoin(
        implies(is_in(x, Phase.FILL), kind_at(left + 1).equals(GATHER)),
        implies(is_in(x, Phase.OFFER), kind_at(entered).equals(GATHER)),
        implies(is_in(x, Phase.TALLY), kind_at(entered).equals(SUM) & steps_at(left)),
        implies(is_in(x, Phase.EMIT), kind_at(left).equals(SUM)),
        implies(is_in(x, Phase.CLOSED), final_at(left)),
        between(0, kind_at(left), 1),
    )


def _goes_on(x: Rank) -> Formula:
    live = is_in(x, Phase.FILL, Phase.OFFER, Phase.TALLY, Phase.EMIT)
    at_rest = zero(x, "owed_steps", "owed_groups", "owed_samples")
    return conjoin(
        implies(live, ~final_at(x["left"])),
        implies(is_in(x, Phase.FAILED) & final_at(x["left"]), at_rest),
    )


def _passed(x: Rank, number: Term) -> Formula:
    return implies((number >= 1) & (number < x["entered"]), ~final_at(number))


def _alignment(x: Rank) -> Formula:
    emitted, planned = x["steps"] + x["owed_steps"], planned_at(x["left"])
    return conjoin(
        implies(x["ended"].equals(0), emitted.equals(planned)),
        implies(x["ended"].equals(1), emitted <= planned),
    )


def _closed_by_verdict(x: Rank) -> Formula:
    complete = is_in(x, Phase.CLOSED) & verdict_at(x["left"]).equals(int(EffectKind.CLOSE))
    nothing_left = zero(x, "held", "failed", "stopped", "lost")
    return implies(
        complete,
        conjoin(
            nothing_left,
            implies(JOIN, x["exhausted"].equals(1)),
            implies(QUOTA, x["remaining"].equals(0)),
        ),
    )


def _trainer(x: Rank) -> Formula:
    backlog = x["steps"] - x["begun"]
    return conjoin(
        between(x["done"], x["begun"], x["done"] + 1),
        backlog >= 0,
        (backlog <= QUEUE_LIMIT) | x["gone"].equals(1),
    )


def _published(x: Rank, number: Term) -> Formula:
    """What holds of every report that was sent into a gather."""

    def said(name: str) -> Term:
        return x.said(name, number)

    sent = conjoin(number >= 1, number <= x["entered"], kind_at(number).equals(GATHER))
    return implies(
        sent,
        conjoin(
            offer_holds(said("offered"), said("needed"), said("units")),
            *(between(0, said(name), 1) for name in ("exhausted", "stopped", "dry")),
            said("failed") >= 0,
            implies(said("dry").equals(1), QUOTA & said("offered").equals(0)),
            implies(
                conjoin(JOIN, said("offered") >= 1, zero_said(x, number, "failed", "stopped")),
                rounds_at(number) <= x["source"],
            ),
            implies(
                conjoin(
                    QUOTA,
                    (said("offered") >= 1) | said("dry").equals(1),
                    zero_said(x, number, "failed", "stopped"),
                ),
                rounds_at(number) <= x["share"] * 2 - 1,
            ),
            implies(
                said("dry").equals(1) & said("failed").equals(0),
                rounds_at(number - 1) >= restarts_at(number - 1) * 2 + 1,
            ),
        ),
    )


def zero_said(x: Rank, number: Term, *names: str) -> Formula:
    """These fields of the rank's report are 0."""
    return conjoin(*(x.said(name, number).equals(0) for name in names))


def _own_report(report: tuple[tuple[str, Term], ...]) -> Callable[[Rank], Formula]:
    values = dict(report)

    def formula(x: Rank) -> Formula:
        equal = (
            x.said(name, x["entered"]).equals(at_rank(x, values[name])) for name in Report._fields
        )
        return implies(is_in(x, Phase.OFFER), conjoin(*equal))

    return formula


def _aligned_trainers(x: Rank, y: Rank) -> Formula:
    return implies(takes_part(y), x["done"] <= y["begun"])


WORLD_CONJUNCTS: tuple[Conjunct, ...] = (
    Conjunct(
        name="position",
        property="L1",
        statement="a rank is inside at most one collective, and in its phase for it",
        formula=_position,
    ),
    Conjunct(
        name="skew",
        property="L1",
        statement="nobody leaves a collective before all have entered it",
        formula=lambda x, y: x["left"] <= y["entered"],
        ranks=2,
    ),
    Conjunct(
        name="matching",
        property="S1",
        statement="all ranks enter the same kinds of collective in the same order",
        formula=_matching,
    ),
    Conjunct(
        name="rounds",
        property="S1",
        statement="the rounds of a rank are the gathers it has left",
        formula=lambda x: x["rounds"].equals(rounds_at(x["left"])),
    ),
    Conjunct(
        name="restarts",
        property="S1",
        statement="the passes of a rank are the restarts among the gathers it has left",
        formula=lambda x: x["passes"].equals(restarts_at(x["left"])),
    ),
    Conjunct(
        name="goes_on",
        property="S1",
        statement="a live rank has not left a final gather; one that has owes nothing",
        formula=_goes_on,
    ),
    Conjunct(
        name="passed",
        property="S1",
        statement="nobody enters a collective after a final gather",
        formula=_passed,
        numbered=True,
    ),
    Conjunct(
        name="alignment",
        property="S2",
        statement="steps emitted and owed are those planned in the rounds left",
        formula=_alignment,
    ),
    Conjunct(
        name="published",
        property="S1",
        statement="every report sent describes a sound offer",
        formula=_published,
        numbered=True,
    ),
    Conjunct(
        name="complete",
        property="S5",
        statement="a rank that closed by the verdict CLOSE is drained or has its share",
        formula=_closed_by_verdict,
    ),
    Conjunct(
        name="trainer",
        property="S9",
        statement="the queue holds at most Q batches, a loop is inside at most one step",
        formula=_trainer,
    ),
    Conjunct(
        name="aligned_trainers",
        property="S2",
        statement="training loops never differ by more than one step",
        formula=_aligned_trainers,
        ranks=2,
    ),
)


def world_conjuncts(report: tuple[tuple[str, Term], ...]) -> tuple[Conjunct, ...]:
    """The conjuncts about ranks among others. `report` is how a table reads reports off a state."""
    own_report = Conjunct(
        name="own_report",
        property="S1",
        statement="a rank in a gather is still as it said",
        formula=_own_report(report),
    )
    return (*WORLD_CONJUNCTS, own_report)


def invariant(table: Table) -> tuple[Conjunct, ...]:
    """The whole inductive invariant. Tables that report alike have one and the same."""
    return _invariant(table.report)


@lru_cache(maxsize=16)
def _invariant(report: tuple[tuple[str, Term], ...]) -> tuple[Conjunct, ...]:
    return (*RANK_CONJUNCTS, *world_conjuncts(report))
