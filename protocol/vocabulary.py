"""The nouns of the protocol: phases, events, effects, and the fields of state, report, settings.

Rules kept here:
1. One name per thing; the table, the specification, the proofs and the runtime use these names.
2. Every value is an integer. Flags are 0 or 1.
3. Values are tuples: equal by content, hashable, never changed in place.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from .expr import Name


class Phase(IntEnum):
    """Where a rank stands. CLOSED and FAILED are absorbing."""

    FILL = 0  # reads samples into its window
    OFFER = 1  # report published, gather not returned
    TALLY = 2  # T is known, the per-step totals are being summed
    EMIT = 3  # owes steps to its training loop
    CLOSED = 4  # the epoch has ended on all ranks
    FAILED = 5  # the epoch was given up; an error is raised


LIVE = (Phase.FILL, Phase.OFFER, Phase.TALLY, Phase.EMIT)


class EventKind(IntEnum):
    """What can happen to a rank."""

    READ = 0  # one sample came from the source
    EXHAUST = 1  # the source of this pass has ended
    FAIL = 2  # user code raised; `code` says where (FailureCode)
    STOP = 3  # the training loop left early
    OFFER = 4  # the window is ready; `needed` and `units` describe what it holds
    GATHERED = 5  # the vector of all reports arrived
    REFUSE = 6  # the first vector shows that the ranks were not started alike
    SUMMED = 7  # the totals arrived; `assigned` samples were placed in groups
    DELIVER = 8  # one group of `count` samples goes to the training loop
    IDLE = 9  # one step without samples
    TURN = 10  # nothing is owed any more
    BREAK = 11  # a collective failed


class EffectKind(IntEnum):
    """What the interpreter asks the engine to do."""

    GATHER = 0  # publish the report and enter the gather
    TALLY = 1  # form groups for `argument` steps and enter the sum of the totals
    BATCH = 2  # hand one batch to the training loop
    IDLE_BATCH = 3  # hand one batch of weight zero to the training loop
    END = 4  # end the training loop's iterator, the protocol goes on (tail "stop")
    RESTART = 5  # drop the window and start another pass over the source
    CLOSE = 6  # the epoch is complete
    STOPPED = 7  # the epoch ended early; `argument` is the lowest rank that stopped
    FAILED = 8  # raise; `argument` is the lowest rank that failed
    REFUSED = 9  # raise what the comparison of the ranks found
    ABANDON = 10  # raise what the transport found


class FailureCode(IntEnum):
    """Where a failure arose; 0 is none. Travels in the report."""

    NONE = 0
    SOURCE = 1  # dataset, sampler or worker
    COST = 2  # cost function
    SAMPLE = 3  # empty or over-budget sample under the policy "error"
    COLLATE = 4  # collate function
    DRY = 5  # quota: a whole pass of this rank's source had no sample


class Policy(IntEnum):
    """How T is chosen from the gathered vector."""

    PAPER = 0  # max-based, bidirectional: the fullest rank decides
    FILL = 1  # the emptiest rank decides until a source ends, then as PAPER: fuller groups


class State(NamedTuple):
    """One rank. The comment on each field is what holds of it in every reachable state."""

    phase: int = Phase.FILL
    rounds: int = 0  # verdicts received; differs by at most 1 between ranks
    passes: int = 0  # passes restarted (quota mode)
    target: int = 1  # 1 <= target <= window: samples that make the window ready in this round
    held: int = 0  # 0 <= held <= target: samples in the window, in no group yet
    read: int = 0  # samples read in this pass
    exhausted: int = 0  # 1 when the source of this pass has ended
    failed: int = 0  # a FailureCode; never goes back to 0
    stopped: int = 0  # 1 when the training loop has left; never goes back to 0
    remaining: int = 0  # quota mode: samples that this rank has still to deliver
    offered: int = 0  # OFFER, TALLY: samples offered in this round, offered <= held
    needed: int = 0  # accumulation units its offer needs under the budget; 0 iff it offers none
    units: int = 0  # whole accumulation units its offer can fill with one sample a step
    owed_steps: int = 0  # steps of this round not yet emitted
    owed_groups: int = 0  # groups of this round not yet emitted, owed_groups <= owed_steps
    owed_samples: int = 0  # samples in those groups, owed_samples >= owed_groups
    steps: int = 0  # steps emitted
    delivered: int = 0  # samples emitted
    lost: int = 0  # samples in groups given up after a failure or an early stop
    dropped: int = 0  # samples left in the window when a pass was restarted (quota mode)
    ended: int = 0  # 1 when the iterator was ended while peers go on (tail "stop")


class Report(NamedTuple):
    """What a rank says in a round."""

    offered: int = 0  # n: samples offered
    needed: int = 0  # accumulation units they need under the budget (groups, without accumulation)
    units: int = 0  # accumulation units they can fill: offered // accumulation
    exhausted: int = 0  # the source of this pass has ended
    failed: int = 0  # a FailureCode
    stopped: int = 0  # the training loop has left
    dry: int = 0  # quota: drained while samples remain to be delivered


class Settings(NamedTuple):
    """What all ranks share (A6)."""

    window: int = 1  # B >= 1: samples in one offer at most
    accumulation: int = 1  # A >= 1: micro-steps per optimizer step; T is a multiple of it
    quota: int = 0  # 1 for quota mode, 0 for join mode
    policy: int = Policy.FILL
    tail_stop: int = 0  # 1: a rank without samples ends its iterator instead of idling


class Figures(NamedTuple):
    """What is known of one group of samples, and of the step that it is delivered in."""

    size: int = 0  # samples in the group; 0 for an idle batch
    largest: int = 0  # the greatest cost of a sample in it
    total: int = 0  # the costs of its samples together
    local_targets: int = 0  # targets of this rank's batch, local_targets <= global_targets
    global_targets: int = 0  # targets on all ranks, in all steps of the update
    world_size: int = 1  # W


class Event(NamedTuple):
    """One event with its arguments; those an event does not use are 0 or empty."""

    kind: EventKind
    code: int = 0  # FAIL
    needed: int = 0  # OFFER
    units: int = 0  # OFFER
    assigned: int = 0  # SUMMED
    samples: int = 0  # DELIVER
    reports: tuple[Report, ...] = ()  # GATHERED: one report per rank, in rank order


class Effect(NamedTuple):
    """One thing for the engine to do."""

    kind: EffectKind
    argument: int = 0


def state(name: str) -> Name:
    """A field of this rank's state. Raises KeyError for a name that is none."""
    return _name("state", name, State._fields)


def argument(name: str) -> Name:
    """An argument of the event."""
    return _name("event", name, Event._fields[1:-1])


def setting(name: str) -> Name:
    """A shared setting."""
    return _name("setting", name, Settings._fields)


def reported(name: str) -> Name:
    """A field of the report that an aggregate ranges over; `rank` is that report's index."""
    return _name("report", name, (*Report._fields, "rank"))


def figure(name: str) -> Name:
    """A figure of a group."""
    return _name("group", name, Figures._fields)


def _name(scope: str, name: str, known: tuple[str, ...]) -> Name:
    if name not in known:
        raise KeyError(f"{scope} has no field {name!r}; it has {', '.join(known)}")
    return Name(scope, name)  # type: ignore[arg-type]
