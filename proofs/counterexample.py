"""What is left of a refuted check: a sequence diagram, and a test that runs the schedule again.

Rules kept here:
1. The test is red while the fault is there and green once it is gone, so it can be kept.
2. The model goes through the schedule exactly, and so do real processes, each with a machine of
   its own, whose collectives are Gloo's (play.py).
3. The engines over the loopback are given what they can be told: sources, costs, faults of the
   source, early leaves, who moves next. Where that is not all of it, `engine_plan` is None.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from dgap.protocol.vocabulary import Policy
from dgap.spec.properties import PROPERTIES

from .schedule import Schedule, report_of, written
from .sequence import LOOP, draw

BUDGET = 60
"""Every group of up to five samples has a cost that divides it."""

_TEMPLATE = "counterexample.txt"
_STATEMENTS: Mapping[str, str] = {each.id: each.statement for each in PROPERTIES}


def save(check: str, schedule: Schedule, folder: Path) -> tuple[Path, Path]:
    """Write diagram and test of a counterexample of the check; their paths. Raises OSError."""
    stem = re.sub(r"\W+", "_", check).strip("_")
    folder.mkdir(parents=True, exist_ok=True)
    diagram, test = folder / f"{stem}.txt", folder / f"test_{stem}.py"
    diagram.write_text("\n".join(draw(schedule)) + "\n", encoding="utf-8")
    test.write_text(source_of_test(check, schedule, str(test)), encoding="utf-8")
    return diagram, test


def source_of_test(check: str, schedule: Schedule, file: str) -> str:
    """The source of the test."""
    template = files(__package__).joinpath(_TEMPLATE).read_text(encoding="utf-8")
    statement = _STATEMENTS.get(schedule.broken, "the run does not end")
    return Template(template).substitute(
        CHECK=check,
        STATEMENT=f"{schedule.broken or 'L2'}: {statement}",
        FILE=file,
        SCHEDULE=written(schedule),
        PLAN=json.dumps(engine_plan(schedule), indent=1),
    )


def engine_plan(schedule: Schedule) -> dict[str, Any] | None:
    """What engines are given to go the same way, or None if they cannot be told.

    They cannot be told to die at a point, to start unlike each other, to fail while collating,
    nor to share a quota otherwise than evenly.
    """
    size = len(schedule.surroundings)
    names = {(move.name, move.row) for move in schedule.moves}
    shares = [each["share"] for each in schedule.surroundings]
    if schedule.settings["quota"] and shares != _even(sum(shares), size):
        return None
    if schedule.settings["quota"] and not sum(shares):
        return None
    if {name for name, _ in names} & {"crash", "refuse", "break", "train_breaks"}:
        return None
    if ("fail", "fail_emitting") in names:
        return None
    fails_at, leaves_after = _trouble(schedule)
    return {
        "sources": [each["source"] for each in schedule.surroundings],
        "costs": [_cost(schedule, rank) for rank in range(size)],
        "shares": shares,
        "settings": _settings(schedule, sum(shares)),
        "fails_at": fails_at,
        "leaves_after": leaves_after,
        "order": [
            [move.rank, "loop" if move.name in LOOP else "engine"] for move in schedule.moves
        ],
    }


def _even(quota: int, size: int) -> list[int]:
    return [quota // size + (rank < quota % size) for rank in range(size)]


def _trouble(schedule: Schedule) -> tuple[list[int | None], list[int | None]]:
    """Samples that each rank has read when its source fails, steps when its loop leaves."""
    size = len(schedule.surroundings)
    fails_at: list[int | None] = [None] * size
    leaves_after: list[int | None] = [None] * size
    counts: Counter[tuple[int, str]] = Counter()
    for move in schedule.moves:
        if move.name == "fail":
            fails_at[move.rank] = counts[move.rank, "read"]
        if move.name == "leave":
            leaves_after[move.rank] = counts[move.rank, "take"]
        counts[move.rank, move.name] += 1
    return fails_at, leaves_after


def _cost(schedule: Schedule, rank: int) -> int:
    """A cost that gives the rank's first offer as many groups as it needed in the schedule."""
    for move in schedule.moves:
        if move.rank == rank and move.event == "OFFER":
            offered = move.changes.get("offered", 0)
            needed = move.arguments.get("needed", 0) or report_of(move).needed
            if offered and needed:
                units = needed * schedule.settings["accumulation"]
                return BUDGET // max(1, -(-offered // units))
    return 1


def _settings(schedule: Schedule, quota: int) -> dict[str, Any]:
    settings = schedule.settings
    chosen: dict[str, Any] = {
        "token_budget": BUDGET,
        "window": settings["window"],
        "first_window": schedule.first_window,
        "accumulation_steps": settings["accumulation"],
        "mode": "quota" if settings["quota"] else "join",
        "policy": Policy(settings["policy"]).name.lower(),
        "tail": "stop" if settings["tail_stop"] else "idle",
        "queue_size": schedule.surroundings[0]["queue_limit"],
    }
    return chosen | ({"quota": quota} if settings["quota"] else {})
