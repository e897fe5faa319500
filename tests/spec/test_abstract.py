"""The abstract machine: all ranks step at once, receive no more than they had, and end together."""

from __future__ import annotations

from itertools import product

import pytest

from dgap.spec.abstract import CHANGE, PERMITS, Abstract, Status, permits
from dgap.spec.oracle_expr import Reading, holds

RUNNING, CLOSED, FAILED = Status
GOALS = (2, 1)
START = Abstract(0, RUNNING, (0, 0))


@pytest.mark.parametrize(
    ("before", "after", "permitted"),
    [
        (START, START, True),
        (START, Abstract(1, RUNNING, (2, 1)), True),
        (START, Abstract(1, RUNNING, (0, 0)), True),
        (START, Abstract(2, RUNNING, (2, 1)), False),
        (START, Abstract(1, RUNNING, (3, 1)), False),
        (START, Abstract(0, RUNNING, (1, 0)), False),
        (Abstract(1, RUNNING, (1, 1)), Abstract(2, RUNNING, (0, 1)), False),
        (Abstract(1, RUNNING, (1, 1)), START, False),
        (Abstract(1, RUNNING, (2, 1)), Abstract(1, CLOSED, (2, 1)), True),
        (Abstract(1, RUNNING, (1, 1)), Abstract(1, CLOSED, (1, 1)), False),
        (Abstract(1, RUNNING, (1, 1)), Abstract(1, CLOSED, (2, 1)), False),
        (Abstract(1, RUNNING, (1, 1)), Abstract(1, FAILED, (1, 1)), True),
        (Abstract(1, FAILED, (1, 1)), Abstract(2, RUNNING, (2, 1)), False),
        (Abstract(1, CLOSED, (2, 1)), Abstract(1, FAILED, (2, 1)), False),
    ],
)
def test_the_abstract_machine_takes_these_transitions_and_no_others(
    before: Abstract, after: Abstract, permitted: bool
) -> None:
    assert permits(before, after, GOALS) is permitted


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
