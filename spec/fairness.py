"""The fairness that the liveness promises need, by name; nothing stronger is assumed anywhere.

Rules kept here:
1. It is about worlds, not about ranks: nobody is promised that his turn comes, only that the
   world does not stand still while somebody can move.
2. It speaks of what comes by itself: user code that runs for ever, and a network that neither
   answers nor fails, are outside (A2, A4).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Fairness:
    """A name, what it says, the same in TLA+, and the promises that rest on it."""

    name: str
    statement: str
    formula: str
    needed_by: tuple[str, ...]


MINIMAL_PROGRESS = Fairness(
    name="minimal progress",
    statement="as long as some rank or some training loop can move, one of them moves",
    formula="WF_vars(Next)",
    needed_by=("L1", "L2", "L3"),
)
"""Weak fairness of the whole. It is enough since no run goes in circles: moves run out. Without
it a run may stand still for ever anywhere; that run is exhibited (proofs/fairness.py)."""
