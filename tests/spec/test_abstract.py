"""R1's rule as data: it permits what its dumb twin permits."""

from __future__ import annotations

from itertools import product

from dgap.spec.abstract import CHANGE, PERMITS, Abstract, Status
from dgap.spec.oracle_abstract import permits
from dgap.spec.oracle_expr import Reading, holds

GOALS = (2, 1)
START = Abstract(0, Status.RUNNING, (0, 0))


def reading(before: Abstract, after: Abstract, goals: tuple[int, ...]) -> Reading:
    ranks = [
        {
            "steps_before": before.steps,
            "status_before": before.status,
            "received_before": old,
            "steps_after": after.steps,
            "status_after": after.status,
            "received_after": new,
            "goal": goal,
        }
        for old, new, goal in zip(before.received, after.received, goals, strict=True)
    ]
    return Reading(own={"world": ranks[0]}, ranks=ranks)


def test_the_rule_as_data_permits_what_the_function_permits() -> None:
    received = list(product(range(3), repeat=2))
    machines = [Abstract(*each) for each in product(range(3), Status, received)]
    permitted = [
        permits(before, after, GOALS)
        for before, after in product(machines, repeat=2)
        if permits(before, after, GOALS) == holds(PERMITS, reading(before, after, GOALS))
    ]
    assert len(permitted) == len(machines) ** 2
    assert {True, False} == set(permitted)
    assert set(CHANGE) == set(reading(START, START, GOALS).ranks[0])
