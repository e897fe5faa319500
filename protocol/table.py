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

from .conditions import (
    assignment_is_sound,
    delivery_is_sound,
    dry,
    give_up_groups,
    goal,
    groups,
    idle_step,
    leaves,
    may_stop,
    next_round,
    next_target,
    no_offer,
    offer_is_sound,
    quota,
    reading,
    ready,
    untroubled,
)
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
from .expr import Choose, Const
from .transition import Ask, Row, Table
from .vocabulary import (
    LIVE,
    EffectKind,
    EventKind,
    FailureCode,
    Phase,
    Report,
    argument,
    state,
)

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
