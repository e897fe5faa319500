"""The invariant, part one: what holds of every single rank in every reachable state.

Rules kept here:
1. Written by hand, one named conjunct per idea; the solver shows that every row preserves each.
2. A conjunct says what holds, never how a row achieves it: the table is not restated.
"""

from __future__ import annotations

from collections.abc import Callable

from dgap.protocol.conditions import ready
from dgap.protocol.expr import Const, Formula, Term, conjoin, implies
from dgap.protocol.vocabulary import FailureCode, Phase

from .parametric import Conjunct, at_rank, setting
from .terms import Rank

A = setting("accumulation")
QUOTA = setting("quota").equals(1)
JOIN = setting("quota").equals(0)


def is_in(x: Rank, *phases: Phase) -> Formula:
    """The rank is in one of the phases."""
    absent = conjoin(*(~x["phase"].equals(phase) for phase in phases))
    return ~absent


def zero(x: Rank, *names: str) -> Formula:
    """All these fields are 0."""
    return conjoin(*(x[name].equals(0) for name in names))


def between(low: Term | int, value: Term, high: Term | int) -> Formula:
    """low <= value <= high."""
    return (value >= low) & (value <= high)


def calm(x: Rank) -> Formula:
    """The rank has neither failed nor stopped."""
    return zero(x, "failed", "stopped")


def offer_holds(offered: Term, needed: Term, units: Term) -> Formula:
    """`needed` and `units` describe an offer of so many samples."""
    return conjoin(
        offered >= 0,
        needed >= 0,
        needed.equals(0) | (offered >= 1),
        offered.equals(0) | ((needed >= 1) & ((needed - 1) * A < offered)),
        units >= 0,
        units * A <= offered,
        offered < (units + 1) * A,
    )


def _types(x: Rank) -> Formula:
    flags = ("exhausted", "stopped", "ended", "gone")
    counts = "rounds passes read remaining steps delivered lost dropped unread taken entered left"
    return conjoin(
        between(Phase.FILL, x["phase"], Phase.FAILED),
        *(between(0, x[name], 1) for name in flags),
        x["failed"] >= FailureCode.NONE,
        *(x[name] >= 0 for name in (*counts.split(), "source", "share", "pass_start", "done")),
        x["stopped"] <= x["gone"],
    )


def _window(x: Rank) -> Formula:
    return conjoin(x["held"] >= 0, x["held"] <= x["target"], between(A, x["target"], _B))


_B = setting("window")


def _owed(x: Rank) -> Formula:
    steps, groups, samples = x["owed_steps"], x["owed_groups"], x["owed_samples"]
    return conjoin(
        implies(is_in(x, Phase.FILL, Phase.OFFER), steps.equals(0)),
        implies(is_in(x, Phase.FILL, Phase.OFFER, Phase.TALLY), groups.equals(0)),
        implies(is_in(x, Phase.CLOSED), zero(x, "owed_steps", "owed_groups")),
        implies(is_in(x, Phase.TALLY), steps >= 1),
        between(0, groups, steps) | is_in(x, Phase.FAILED),
        groups <= samples,
        groups >= 0,
        (groups >= 1) | samples.equals(0),
    )


def _offer(x: Rank) -> Formula:
    offering = is_in(x, Phase.OFFER, Phase.TALLY)
    said = conjoin(
        x["offered"].equals(x["held"]), offer_holds(x["offered"], x["needed"], x["units"])
    )
    silent = zero(x, "offered", "needed", "units")
    return implies(offering, said) & implies(is_in(x, Phase.FILL, Phase.EMIT), silent)


def _step_count(x: Rank) -> Formula:
    """What the contract on T means for a rank that offers."""
    fits = (x["owed_steps"] <= x["offered"]) | (x["owed_steps"].equals(A) & (x["offered"] < A))
    return implies(is_in(x, Phase.TALLY) & (x["offered"] >= 1), fits)


def _idle(x: Rank) -> Formula:
    short = is_in(x, Phase.TALLY) & (x["offered"] < x["owed_steps"])
    spare = is_in(x, Phase.EMIT) & (x["owed_groups"] < x["owed_steps"]) & calm(x)
    last = x["exhausted"].equals(1) | (QUOTA & (x["remaining"] <= x["held"]))
    return implies(short, last) & implies(spare, x["held"].equals(0) & last)


def _ended(x: Rank) -> Formula:
    over = (JOIN & x["exhausted"].equals(1)) | (QUOTA & x["remaining"].equals(0))
    nothing = zero(x, "held", "owed_groups") & over & setting("tail_stop").equals(1)
    in_emit = implies(is_in(x, Phase.EMIT), calm(x))
    return implies(x["ended"].equals(1), nothing & in_emit & x["stopped"].equals(0))


def _dry(x: Rank) -> Formula:
    dry = QUOTA & x["failed"].equals(0) & x["exhausted"].equals(1)
    return implies(dry, x["read"] >= 1)


def _closed(x: Rank) -> Formula:
    """Reads only this rank's state: a rank in CLOSED that did not stop has all it wanted."""
    return implies(is_in(x, Phase.CLOSED), zero(x, "owed_samples"))


def _pairs(x: Rank) -> Formula:
    return conjoin(
        implies(x["lost"] >= 1, ~calm(x)),
        implies(JOIN, zero(x, "remaining", "dropped", "passes")),
        implies(x["exhausted"].equals(1), x["unread"].equals(0)),
    )


def _kept(x: Rank) -> Term:
    return x["held"] + x["owed_samples"] + x["delivered"] + x["lost"]


def _quota_rounds(x: Rank) -> Formula:
    """Verdicts STEP so far, each of which takes a sample of every rank short of its share."""
    stepped, taken = x["rounds"] - x["passes"], x["share"] - x["remaining"]
    current = is_in(x, Phase.TALLY)
    settled = is_in(x, Phase.FILL, Phase.OFFER, Phase.EMIT) & calm(x)
    short = QUOTA & (x["remaining"] >= 1)
    return conjoin(
        implies(short & current, (stepped <= taken + 1) & (x["offered"] >= 1)),
        implies(short & settled, stepped <= taken),
    )


def _passes(x: Rank) -> Formula:
    """A pass that is repeated had a round with steps: half of all rounds are such."""
    live = is_in(x, Phase.FILL, Phase.OFFER, Phase.TALLY, Phase.EMIT)
    took = is_in(x, Phase.TALLY) | (x["pass_start"] > x["remaining"])
    return conjoin(
        implies(live, x["rounds"] >= x["passes"] * 2),
        implies(QUOTA & live & took, x["rounds"] >= x["passes"] * 2 + 1),
    )


def _rank(name: str, promised: str, statement: str, formula: Callable[[Rank], Formula]) -> Conjunct:
    return Conjunct(name=name, property=promised, statement=statement, formula=formula)


RANK_CONJUNCTS: tuple[Conjunct, ...] = (
    _rank("types", "S9", "counters never go below zero and flags are 0 or 1", _types),
    _rank("window", "S9", "0 <= held <= target <= B, and A <= target", _window),
    _rank(
        "share",
        "S6",
        "quota: a rank holds no more than it may still deliver",
        lambda x: implies(QUOTA, x["held"] <= x["remaining"]),
    ),
    _rank("owed", "S3", "owed groups fit the owed steps, each owed group holds a sample", _owed),
    _rank("offer", "S1", "a rank offers all it holds, and needed and units describe it", _offer),
    _rank(
        "ready",
        "S12",
        "a rank that offers has a full window, or has nothing more to read",
        lambda x: implies(is_in(x, Phase.OFFER), at_rank(x, ready)),
    ),
    _rank(
        "calm",
        "S10",
        "steps are owed only after a verdict in which nobody had failed or stopped",
        lambda x: implies(is_in(x, Phase.TALLY), calm(x)),
    ),
    _rank("step_count", "S3", "T is at most what an offering rank offers, or T = A", _step_count),
    _rank("idle", "S5", "an idle step never hides a sample, held or unread", _idle),
    _rank("ended", "S5", "tail stop: a rank that ended its iterator has nothing more", _ended),
    _rank("dry", "L2", "quota: a pass that ended had a sample, or the rank has failed", _dry),
    _rank("nothing_owed", "S5", "a closed rank owes no sample", _closed),
    _rank("losses", "S4", "samples are given up only after a failure or an early stop", _pairs),
    _rank(
        "conservation",
        "S4",
        "every sample read is held, owed, delivered, given up or dropped by a restart",
        lambda x: x["taken"].equals(_kept(x) + x["dropped"]),
    ),
    _rank(
        "source",
        "S4",
        "join: unread and read samples together are the source",
        lambda x: implies(JOIN, x["source"].equals(x["unread"] + x["taken"])),
    ),
    _rank(
        "quota",
        "S6",
        "quota: delivered, owed, given up and remaining samples are the share",
        lambda x: implies(QUOTA, x["share"].equals(_kept(x) - x["held"] + x["remaining"])),
    ),
    _rank(
        "pass_progress",
        "L2",
        "quota: what a pass has read is held or was taken off what remains",
        lambda x: implies(QUOTA, (x["pass_start"] - x["remaining"]).equals(x["read"] - x["held"])),
    ),
    _rank(
        "quota_progress",
        "L2",
        "quota: each round with steps takes a sample from every rank short of its share",
        _quota_rounds,
    ),
    _rank("passes", "L2", "quota: a pass is repeated only after a round with steps", _passes),
    _rank(
        "round_progress",
        "L2",
        "join: each round takes a sample from every rank that is not drained",
        lambda x: conjoin(
            implies(JOIN & is_in(x, Phase.TALLY), _left(x).equals(0) | _spent(x, 1)),
            implies(
                JOIN & is_in(x, Phase.FILL, Phase.OFFER) & calm(x),
                _left(x).equals(0) | _spent(x, 0),
            ),
            implies(JOIN & is_in(x, Phase.EMIT) & calm(x), _left(x).equals(0) | _spent(x, 0)),
        ),
    ),
)


def _left(x: Rank) -> Term:
    """Samples of the source that no round has taken yet."""
    return x["unread"] + x["held"]


def _spent(x: Rank, current: int) -> Formula:
    """Rounds so far, without the current one, took at least one sample each."""
    return _left(x) + x["rounds"] <= x["source"] + Const(current)
