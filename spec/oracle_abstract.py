"""Dumb twin of R1's rule: the abstract machine's transitions, decided without expressions."""

from __future__ import annotations

from .abstract import Abstract, Status


def permits(before: Abstract, after: Abstract, goals: tuple[int, ...]) -> bool:
    """Whether the abstract machine may go from `before` to `after`, or they are equal.

    `goals` holds one count of samples per rank.
    """
    if before == after:
        return True
    if before.status != Status.RUNNING:
        return False
    if after.status == Status.RUNNING:
        return after.steps == before.steps + 1 and all(
            old <= new <= goal
            for old, new, goal in zip(before.received, after.received, goals, strict=True)
        )
    unchanged = (after.steps, after.received) == (before.steps, before.received)
    return unchanged and (after.status == Status.FAILED or after.received == goals)
