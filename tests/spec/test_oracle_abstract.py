"""The abstract machine: all ranks step at once, receive no more than they had, and end together."""

from __future__ import annotations

import pytest

from dgap.spec.abstract import Abstract, Status
from dgap.spec.oracle_abstract import permits

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
