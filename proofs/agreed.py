"""What all ranks agree on, as functions of the number of a collective: kind, verdict, T.

Rules kept here:
1. Collectives are numbered from 1, gathers and sums together; a figure has one value for all.
2. The recurrences define each figure from its value one collective earlier; what a verdict is, the
   table says (parametric.py).
"""

from __future__ import annotations

from dgap.protocol.expr import Choose, Const, Formula, Term, conjoin
from dgap.protocol.vocabulary import EffectKind

from .terms import Agreed

GATHER, SUM = 0, 1
"""The two kinds of collective."""

FINAL = (EffectKind.CLOSE, EffectKind.STOPPED, EffectKind.FAILED, EffectKind.REFUSED)
"""The verdicts after which there is no further collective."""


def kind_at(number: Term) -> Term:
    """The kind of a collective. Number 0 stands for a sum before the first gather."""
    return Agreed("kind_at", number)


def verdict_at(number: Term) -> Term:
    """The effect that the verdict of a gather asks for."""
    return Agreed("verdict_at", number)


def planned_at(number: Term) -> Term:
    """The steps that every rank owed in all rounds up to a collective."""
    return Agreed("planned_at", number)


def rounds_at(number: Term) -> Term:
    """The gathers among the collectives up to this one."""
    return Agreed("rounds_at", number)


def restarts_at(number: Term) -> Term:
    """The verdicts RESTART among the collectives up to this one."""
    return Agreed("restarts_at", number)


def steps_at(number: Term) -> Formula:
    """A gather whose verdict is STEP: the sum of the totals follows."""
    return kind_at(number).equals(GATHER) & verdict_at(number).equals(int(EffectKind.TALLY))


def final_at(number: Term) -> Formula:
    """A gather after which there is no further collective."""
    verdict = verdict_at(number)
    ends = conjoin(*(~verdict.equals(int(kind)) for kind in FINAL))
    return kind_at(number).equals(GATHER) & ~ends


def recurrences(number: Term) -> Formula:
    """How the agreed figures go from a collective to the next."""
    following = number + 1
    step_count = Choose(steps_at(following), Agreed("step_count_at", following), Const(0))
    gathered = kind_at(following).equals(GATHER)
    one = Choose(gathered, Const(1), Const(0))
    restarted = gathered & verdict_at(following).equals(int(EffectKind.RESTART))
    again = Choose(restarted, Const(1), Const(0))
    return conjoin(
        kind_at(following).equals(Choose(steps_at(number), Const(SUM), Const(GATHER))),
        rounds_at(following).equals(rounds_at(number) + one),
        restarts_at(following).equals(restarts_at(number) + again),
        planned_at(following).equals(planned_at(number) + step_count),
    )


origin = conjoin(
    kind_at(Const(0)).equals(SUM),
    rounds_at(Const(0)).equals(0),
    restarts_at(Const(0)).equals(0),
    planned_at(Const(0)).equals(0),
)
"""Before the first collective."""
