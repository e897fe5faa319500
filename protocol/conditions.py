"""The named conditions and updates that the rows of the table are made of.

Rules kept here:
1. A condition that several rows share, or that needs a reason, has one name and is written here.
2. Each is an expression over this rank's state, the event's arguments and the shared settings.
"""

from __future__ import annotations

from .expr import Choose, Const, conjoin, implies, lesser
from .vocabulary import argument, setting, state

quota = setting("quota").equals(1)
untroubled = state("failed").equals(0) & state("stopped").equals(0)
reading = state("exhausted").equals(0) & untroubled

goal = Choose(quota, lesser(state("target"), state("remaining")), state("target"))
"""Samples that make the window ready. A quota share reads no more than it may deliver, so that
an offer may always cover all that is held."""

ready = (state("held") >= goal) | state("exhausted").equals(1) | ~untroubled

dry = conjoin(quota, state("exhausted").equals(1), state("held").equals(0), state("remaining") > 0)

offer_is_sound = conjoin(
    implies(state("held").equals(0), argument("needed").equals(0) & argument("units").equals(0)),
    implies(state("held") > 0, argument("needed") >= 1),
    implies(state("held") > 0, (argument("needed") - 1) * setting("accumulation") < state("held")),
    argument("units") >= 0,
    argument("units") * setting("accumulation") <= state("held"),
    state("held") < (argument("units") + 1) * setting("accumulation"),
)
"""`needed` counts units of at most `offered` groups; `units` is offered // accumulation."""

groups = lesser(state("offered"), state("owed_steps"))
assignment_is_sound = conjoin(
    argument("assigned") >= groups,
    argument("assigned") <= state("offered"),
    implies(
        state("owed_steps") >= state("needed") * setting("accumulation"),
        argument("assigned").equals(state("offered")),
    ),
)
"""Every group holds a sample, and nothing is carried over when all of it fits into T steps."""

delivery_is_sound = conjoin(
    state("owed_groups") > 0,
    argument("samples") >= 1,
    argument("samples") + state("owed_groups") - 1 <= state("owed_samples"),
    implies(state("owed_groups").equals(1), argument("samples").equals(state("owed_samples"))),
)
"""Each owed group keeps at least one sample, and the last one takes what is left."""

next_round = ("rounds", state("rounds") + 1)
no_offer = (("offered", Const(0)), ("needed", Const(0)), ("units", Const(0)))
give_up_groups = (
    ("lost", state("lost") + state("owed_samples")),
    ("owed_groups", Const(0)),
    ("owed_samples", Const(0)),
)

idle_step = (state("owed_steps") > 0) & state("owed_groups").equals(0)
leaves = conjoin(
    setting("tail_stop").equals(1), untroubled, implies(quota, state("remaining").equals(0))
)
"""Under tail "stop" a rank with nothing left ends its iterator instead of idling. A rank short of
its quota share idles in either tail, since another pass will bring it samples; so does a troubled
rank, whose loop must reach the step at which all ranks raise."""

may_stop = state("stopped").equals(0) & state("ended").equals(0)
"""A loop that has ended cannot leave early any more."""

next_target = lesser(state("target") * 2, setting("window"))
"""The first windows grow, so that the first batch comes early."""
