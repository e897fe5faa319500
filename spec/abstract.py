"""R1: the protocol refines a machine in which all ranks step at once.

The abstract machine knows three things: how many steps all ranks have taken together, how many
samples each rank's training loop received in them, and whether the epoch is over. Its rules:

    STEP    steps + 1; each rank receives some more of its samples, or none; nobody too many
    CLOSE   every rank has received all that it had to
    FAIL    at any time, on all ranks at once

The map reads these off a world of the real protocol, in which ranks are rounds and loops are a
step apart: a step counts once every loop that takes part has entered it. Every transition of the
real protocol then is a STEP, a CLOSE, a FAIL or no change at all (a stutter). Loops that leave
early and crashes are outside this machine; S2, S10 and L3 speak of them.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from dgap.protocol.expr import (
    TRUE,
    Choose,
    Const,
    Every,
    Formula,
    Greatest,
    Least,
    Name,
    Term,
    conjoin,
)
from dgap.protocol.vocabulary import Phase, setting

from .environment import ranked, world


class Status(IntEnum):
    """Whether the epoch is over."""

    RUNNING = 0
    CLOSED = 1
    FAILED = 2


class Abstract(NamedTuple):
    """All ranks, seen as one."""

    steps: int
    status: int
    received: tuple[int, ...]  # samples received by each rank in these steps


_present = ~(ranked("finished").equals(1) & ranked("ended").equals(1))
_all_finished = Every(ranked("finished").equals(1))

STEPS: Term = Least(ranked("taken"), _present, Greatest(ranked("trained"), TRUE, Const(0)))
"""The steps that every loop taking part has entered; all that were taken where none is left."""

RECEIVED: Term = Choose(
    world("taken") > STEPS, world("received") - world("hand"), world("received")
)
"""At one rank: samples received in those steps. A loop is at most one step ahead, by its hand."""

STATUS: Term = Choose(
    Every(ranked("phase").equals(Phase.CLOSED)) & _all_finished,
    Const(Status.CLOSED),
    Choose(
        Every(ranked("phase").equals(Phase.FAILED)) & _all_finished,
        Const(Status.FAILED),
        Const(Status.RUNNING),
    ),
)

GOAL: Term = Choose(setting("quota").equals(1), world("share"), world("source"))
"""At one rank: samples that it has to receive before CLOSE."""


CHANGE = (
    *("steps_before", "status_before", "received_before"),
    *("steps_after", "status_after", "received_after", "goal"),
)
"""The names in `PERMITS`: what the map gives for a rank before and after, and its goal."""


def _own(name: str) -> Name:
    return Name("world", name)


def _each(name: str) -> Name:
    return Name("report", name)


_same_steps = _own("steps_after").equals(_own("steps_before"))
_same_received = Every(_each("received_after").equals(_each("received_before")))
_runs_before = _own("status_before").equals(Status.RUNNING)
_runs_after = _own("status_after").equals(Status.RUNNING)
_step = conjoin(
    _runs_after,
    _own("steps_after").equals(_own("steps_before") + 1),
    Every(
        (_each("received_before") <= _each("received_after"))
        & (_each("received_after") <= _each("goal"))
    ),
)
_end = conjoin(
    ~_runs_after,
    _same_steps,
    _same_received,
    _own("status_after").equals(Status.FAILED)
    | Every(_each("received_after").equals(_each("goal"))),
)
_stutter = conjoin(_same_steps, _own("status_after").equals(_own("status_before")), _same_received)

PERMITS: Formula = _stutter | (_runs_before & (_step | _end))
"""Whether the abstract machine may go from before to after, or they are equal: read at any rank,
ranging over all."""
