"""What a check is: one statement, how it is decided, and what is expected of it.

Rules kept here:
1. There are three answers. Only the expected one counts; unknown never does.
2. A check says how far it reaches: for all W, or exhaustively up to stated bounds.
3. A control is a check that is expected to be refuted; it shows that the others can fail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from .schedule import Schedule


class Verdict(StrEnum):
    """The three answers."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


class Reach(StrEnum):
    """How far a verdict reaches."""

    ALL_RANKS = "proved for all W"
    EXHAUSTIVE = "exhaustive up to"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a run of a check found. `trace` is a counterexample or a witness, a line per event;
    `schedule` is a counterexample that can be run again (counterexample.py); `cutoff` is the number
    of ranks that a proof names, 0 for other checks."""

    verdict: Verdict
    detail: str = ""
    trace: tuple[str, ...] = ()
    states: int = 0
    depth: int = 0
    schedule: Schedule | None = None
    cutoff: int = 0


@dataclass(frozen=True, kw_only=True)
class Check:
    """One row of the manifest. `run` is pure: the same outcome every time, time apart.

    `assumptions` are those that its builder knows of; what a proof rests on is computed from its
    certificates (assumed.py).
    """

    id: str
    property: str
    statement: str
    reach: Reach
    scope: str
    expected: Verdict
    run: Callable[[], Outcome]
    assumptions: tuple[str, ...] = ()
