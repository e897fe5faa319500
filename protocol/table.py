"""The transition table: the one place where the protocol is written down.

How to read it. A rank is in one phase; a row says what an event does there: which guard must
hold, which fields change (all others stay, right-hand sides read the old state), which phase
follows, what the engine must do. Rules of the table:
1. A missing row is the refusal: the event is illegal and nothing happens.
2. The guards of rows with the same phase and event exclude each other.
3. Guards and updates are expressions (expr.py), never callables.

    FILL --offer--> OFFER --gathered: step--> TALLY --summed--> EMIT --turn--> FILL
                    OFFER --gathered: restart--> FILL       (quota: another pass)
                    OFFER --gathered: close, stop--> CLOSED
                    OFFER --gathered: fail; refuse--> FAILED;   any --break--> FAILED
"""

from __future__ import annotations

from .decision import (
    CLOSE,
    FAIL,
    FAILED_RANK,
    RESTART,
    STEP,
    STEP_COUNT,
    STOP,
    STOPPED_RANK,
)
from .expr import Choose, Const, conjoin, implies, lesser
from .transition import Ask, Row, Table
from .vocabulary import (
    LIVE,
    EffectKind,
    EventKind,
    FailureCode,
    Phase,
    Report,
    argument,
    setting,
    state,
)

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
leaves = setting("tail_stop").equals(1) & untroubled
"""Under tail "stop" a rank with nothing left ends its iterator instead of idling. A troubled
rank idles in either tail: its loop must reach the step at which all ranks raise."""

may_stop = state("stopped").equals(0) & state("ended").equals(0)
"""A loop that has ended cannot leave early any more."""

next_target = lesser(state("target") * 2, setting("window"))
"""The first windows grow, so that the first batch comes early."""

_fill = (
    Row(
        name="read",
        phase=Phase.FILL,
        event=EventKind.READ,
        guard=reading & (state("held") < goal),
        updates=(("held", state("held") + 1), ("read", state("read") + 1)),
        target=Phase.FILL,
    ),
    Row(
        name="exhaust",
        phase=Phase.FILL,
        event=EventKind.EXHAUST,
        guard=reading & (state("held") < goal),
        updates=(
            ("exhausted", Const(1)),
            (
                "failed",
                Choose(quota & state("read").equals(0), Const(FailureCode.DRY), state("failed")),
            ),
        ),
        target=Phase.FILL,
    ),
    Row(
        name="fail_reading",
        phase=Phase.FILL,
        event=EventKind.FAIL,
        guard=untroubled & (argument("code") >= 1),
        updates=(("failed", argument("code")),),
        target=Phase.FILL,
    ),
    Row(
        name="stop_reading",
        phase=Phase.FILL,
        event=EventKind.STOP,
        guard=may_stop,
        updates=(("stopped", Const(1)),),
        target=Phase.FILL,
    ),
    Row(
        name="offer",
        phase=Phase.FILL,
        event=EventKind.OFFER,
        guard=ready & offer_is_sound,
        updates=(
            ("offered", state("held")),
            ("needed", argument("needed")),
            ("units", argument("units")),
        ),
        target=Phase.OFFER,
        asks=(Ask(EffectKind.GATHER),),
    ),
)

_offer = (
    Row(
        name="verdict_fail",
        phase=Phase.OFFER,
        event=EventKind.GATHERED,
        guard=FAIL,
        updates=(next_round,),
        target=Phase.FAILED,
        asks=(Ask(EffectKind.FAILED, FAILED_RANK),),
    ),
    Row(
        name="verdict_stop",
        phase=Phase.OFFER,
        event=EventKind.GATHERED,
        guard=STOP,
        updates=(next_round,),
        target=Phase.CLOSED,
        asks=(Ask(EffectKind.STOPPED, STOPPED_RANK),),
    ),
    Row(
        name="verdict_restart",
        phase=Phase.OFFER,
        event=EventKind.GATHERED,
        guard=RESTART,
        updates=(
            next_round,
            ("passes", state("passes") + 1),
            ("dropped", state("dropped") + state("held")),
            ("held", Const(0)),
            ("read", Const(0)),
            ("exhausted", Const(0)),
            *no_offer,
        ),
        target=Phase.FILL,
        asks=(Ask(EffectKind.RESTART),),
    ),
    Row(
        name="verdict_close",
        phase=Phase.OFFER,
        event=EventKind.GATHERED,
        guard=CLOSE,
        updates=(next_round,),
        target=Phase.CLOSED,
        asks=(Ask(EffectKind.CLOSE),),
    ),
    Row(
        name="verdict_step",
        phase=Phase.OFFER,
        event=EventKind.GATHERED,
        guard=STEP,
        updates=(
            next_round,
            ("owed_steps", STEP_COUNT),
            ("target", next_target),
        ),
        target=Phase.TALLY,
        asks=(Ask(EffectKind.TALLY, STEP_COUNT),),
    ),
    Row(
        name="refuse",
        phase=Phase.OFFER,
        event=EventKind.REFUSE,
        guard=state("rounds").equals(0),
        updates=(next_round,),
        target=Phase.FAILED,
        asks=(Ask(EffectKind.REFUSED),),
    ),
)

_tally = (
    Row(
        name="summed",
        phase=Phase.TALLY,
        event=EventKind.SUMMED,
        guard=assignment_is_sound,
        updates=(
            ("owed_groups", groups),
            ("owed_samples", argument("assigned")),
            ("held", state("held") - argument("assigned")),
            (
                "remaining",
                Choose(quota, state("remaining") - argument("assigned"), state("remaining")),
            ),
            *no_offer,
        ),
        target=Phase.EMIT,
    ),
)

_emit = (
    Row(
        name="deliver",
        phase=Phase.EMIT,
        event=EventKind.DELIVER,
        guard=delivery_is_sound,
        updates=(
            ("owed_steps", state("owed_steps") - 1),
            ("owed_groups", state("owed_groups") - 1),
            ("owed_samples", state("owed_samples") - argument("samples")),
            ("steps", state("steps") + 1),
            ("delivered", state("delivered") + argument("samples")),
        ),
        target=Phase.EMIT,
        asks=(Ask(EffectKind.BATCH),),
    ),
    Row(
        name="idle",
        phase=Phase.EMIT,
        event=EventKind.IDLE,
        guard=idle_step & ~leaves,
        updates=(("owed_steps", state("owed_steps") - 1), ("steps", state("steps") + 1)),
        target=Phase.EMIT,
        asks=(Ask(EffectKind.IDLE_BATCH),),
    ),
    Row(
        name="end",
        phase=Phase.EMIT,
        event=EventKind.IDLE,
        guard=idle_step & leaves,
        updates=(("owed_steps", Const(0)), ("ended", Const(1))),
        target=Phase.EMIT,
        asks=(Ask(EffectKind.END),),
    ),
    Row(
        name="fail_emitting",
        phase=Phase.EMIT,
        event=EventKind.FAIL,
        guard=untroubled & (state("owed_groups") > 0) & (argument("code") >= 1),
        updates=(("failed", argument("code")), *give_up_groups),
        target=Phase.EMIT,
    ),
    Row(
        name="stop_emitting",
        phase=Phase.EMIT,
        event=EventKind.STOP,
        guard=may_stop,
        updates=(("stopped", Const(1)), *give_up_groups),
        target=Phase.EMIT,
    ),
    Row(
        name="turn",
        phase=Phase.EMIT,
        event=EventKind.TURN,
        guard=state("owed_steps").equals(0),
        target=Phase.FILL,
    ),
)

_break = tuple(
    Row(
        name=f"break_{phase.name.lower()}",
        phase=phase,
        event=EventKind.BREAK,
        target=Phase.FAILED,
        asks=(Ask(EffectKind.ABANDON),),
    )
    for phase in LIVE
)

TABLE = Table(
    rows=(*_fill, *_offer, *_tally, *_emit, *_break),
    report=(
        *((name, state(name)) for name in Report._fields if name != "dry"),
        ("dry", Choose(dry, Const(1), Const(0))),
    ),
)
"""The protocol. Production, explorer, solver, exporters, mutants and diagram read this object."""
