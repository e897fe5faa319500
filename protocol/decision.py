"""The decision: what all ranks compute from the W reports of a round.

Rules kept here:
1. A verdict is a function of the gathered vector and the shared settings only (S1).
2. The verdicts are tried in this order, and exactly one holds: fail, stop, restart, close, step.
3. The number of steps T keeps the contract: T >= 1; T is a multiple of the accumulation A;
   without accumulation T <= the samples of every rank that offers any, so that only ranks
   with nothing left idle. With accumulation the same where it is possible, else T = A.

Source: the paper's alignment rule (max-based, bidirectional) is `PAPER`; `FILL` is ours.
"""

from __future__ import annotations

from .expr import Choose, Const, Every, Formula, Greatest, Least, Some, Term, larger, lesser
from .vocabulary import Policy, reported, setting

OFFERS = reported("offered") > 0
"""A rank that offers samples takes part in the choice of T; the others idle."""

BLAMED = reported("failed") > 0
"""A rank that failed, a whole pass without a sample included (FailureCode.DRY)."""

FAIL: Formula = Some(BLAMED)
STOP: Formula = ~FAIL & Some(reported("stopped") > 0)
RESTART: Formula = ~FAIL & ~Some(reported("stopped") > 0) & Some(reported("dry") > 0)
CLOSE: Formula = Every(
    reported("failed").equals(0) & reported("stopped").equals(0) & reported("dry").equals(0)
) & Every(reported("offered").equals(0))
STEP: Formula = Every(
    reported("failed").equals(0) & reported("stopped").equals(0) & reported("dry").equals(0)
) & Some(OFFERS)

FAILED_RANK: Term = Least(reported("rank"), BLAMED, Const(0))
STOPPED_RANK: Term = Least(reported("rank"), reported("stopped") > 0, Const(0))

FITTING = Least(reported("units"), OFFERS, Const(0))
"""The most units in which no offering rank would idle."""

WIDEST = Greatest(reported("needed"), OFFERS, Const(0))
NARROWEST = Least(reported("needed"), OFFERS, Const(0))

# Once a source has ended, carrying samples over only moves them to rounds in which that rank
# idles, so FILL then steps as PAPER does.
WANTED = Choose(
    setting("policy").equals(Policy.PAPER) | Some(reported("exhausted") > 0), WIDEST, NARROWEST
)

STEP_COUNT: Term = setting("accumulation") * larger(lesser(WANTED, FITTING), 1)
"""T, the steps that every rank owes after the verdict STEP."""
