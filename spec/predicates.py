"""Names for what several properties say: phases, agreement of two ranks, an undisturbed end.

All are formulas read at one rank, as in properties.py.
"""

from __future__ import annotations

from dgap.protocol.expr import Every, Formula, Some, Term, conjoin
from dgap.protocol.vocabulary import Phase, setting, state

from .environment import ranked, world


def in_phase(phase: Phase) -> Formula:
    """This rank is in the phase."""
    return state("phase").equals(phase)


def ranked_in_phase(phase: Phase) -> Formula:
    """The ranged-over rank is in the phase."""
    return ranked("phase").equals(phase)


def both_or_neither(left: Formula, right: Formula) -> Formula:
    """The two formulas have the same truth value."""
    return (left & right) | (~left & ~right)


def same(name: str) -> Formula:
    """The ranged-over rank has this rank's value of a state field."""
    return ranked(name).equals(state(name))


join = setting("quota").equals(0)
untroubled = state("failed").equals(0) & state("stopped").equals(0)
nobody_stopped = Every(ranked("stopped").equals(0))
nobody_crashed = Every(ranked("crashed").equals(0))
somebody_crashed = Some(ranked("crashed").equals(1))
promised_steps: Term = state("steps") + state("owed_steps")
ranked_promised_steps: Term = ranked("steps") + ranked("owed_steps")
complete = conjoin(in_phase(Phase.CLOSED), nobody_stopped)
"""The epoch ended, and not because somebody left."""

in_loop = conjoin(world("left").equals(0), world("crashed").equals(0), state("ended").equals(0))
ranked_in_loop = conjoin(
    ranked("left").equals(0), ranked("crashed").equals(0), ranked("ended").equals(0)
)
"""The rank's training loop takes part in every step collective."""

in_same_round = conjoin(same("rounds"), ranked("broken").equals(0), world("broken").equals(0))
