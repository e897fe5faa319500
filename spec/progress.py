"""A number that grows with every move of a rank, so that no run can go in circles.

A rank's rounds come first, then its place within the round, then what it counts. Each move of a
rank, of its loop included, makes PROGRESS larger, and a move changes one rank only: so the sum
over the ranks grows on every transition, and a run that came back to a world would have to shrink
it. An explorer need only look at the moves of single ranks. A move that fails to grow it decides
nothing by itself: it may still be that all runs end.
"""

from __future__ import annotations

from dgap.protocol.expr import Choose, Const, Term
from dgap.protocol.vocabulary import Phase, state

from .environment import world

_PLACES: tuple[tuple[Phase, int], ...] = (
    (Phase.TALLY, 0),
    (Phase.EMIT, 1),
    (Phase.FILL, 3),
    (Phase.OFFER, 4),
)
"""A round is counted when its verdict comes: from there a rank goes through these in this order.
In EMIT one more counts once nothing is owed: an iterator that has ended owes no step of a later
round either, and nothing else tells that."""

ENDED = 5
"""CLOSED and FAILED come after everything; a rank whose collective breaks counts no round."""


def _place() -> Term:
    place: Term = Const(ENDED)
    for phase, number in _PLACES:
        place = Choose(state("phase").equals(phase), Const(number), place)
    nothing_owed = state("phase").equals(Phase.EMIT) & state("owed_steps").equals(0)
    return place + Choose(nothing_owed, Const(1), Const(0))


_flags = (
    state("exhausted") + Choose(state("failed") > 0, Const(1), Const(0)) + state("stopped")
) + state("ended")
_loop = (
    world("taken")
    + world("trained")
    + world("finished")
    + world("left")
    + world("broken")
    + world("crashed")
)

PROGRESS: Term = (
    state("rounds") * (ENDED + 2) + _place() + world("drawn") + state("steps") + _flags + _loop
)
"""At one rank. `exhausted` goes back to 0 where a pass is restarted, which counts a round."""
