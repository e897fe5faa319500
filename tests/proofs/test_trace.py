"""A trace reads like a story: who moved, by which row, what changed."""

from __future__ import annotations

import pytest

from dgap.proofs.trace import readable, row_taken
from dgap.proofs.world import Node, World
from dgap.protocol.table import TABLE
from dgap.protocol.vocabulary import Event, EventKind, Phase, Report, Settings, State
from dgap.spec.environment import initial_environment


def run(world: World, root: Node, *choices: int) -> list[Node]:
    """The worlds after each choice among the successors."""
    path = [root]
    for choice in choices:
        path.append(world.successors(path[-1])[choice])
    return path


def test_a_trace_has_a_line_per_rank_and_a_line_per_move() -> None:
    world = World(Settings(window=2), 1)
    path = [world.root([initial_environment(2)])]
    while following := world.successors(path[-1]):
        path.append(following[0])
    lines = readable(world, path)
    assert len(lines) == 1 + len(path) - 1
    assert lines[:4] == (
        "rank 0  starts with 2 samples, target 2",
        "rank 0  read                held=1 read=1 unread=1",
        "rank 0  read                held=2 read=2 unread=0",
        "rank 0  offer               FILL -> OFFER offered=2 needed=1 units=2",
    )
    assert "rank 0  loop: take          queued=0 taken=1 hand=2 received=2" in lines
    assert lines[-1] == "rank 0  loop: finish        finished=1"


def test_a_verdict_is_named_by_its_row() -> None:
    world = World(Settings(window=1), 1)
    lines = readable(world, run(world, world.root([initial_environment(0)]), 0, 0, 0))
    assert lines[-1] == "rank 0  verdict_close       OFFER -> CLOSED rounds=1"


def test_a_quota_world_says_its_shares() -> None:
    world = World(Settings(window=1, quota=1), 1)
    root = world.root([initial_environment(3, share=2)])
    assert readable(world, [root]) == ("rank 0  starts with 3 samples, share 2, target 1",)


def test_a_crash_is_no_move_of_a_loop() -> None:
    world = World(Settings(window=1), 1)
    root = world.root([initial_environment(0, crashes=1)])
    assert readable(world, run(world, root, 1))[-1].split() == ["rank", "0", "crash", *CRASHED]


CRASHED = ["crashes_left=0", "crashed=1"]


@pytest.mark.parametrize(
    ("state", "event", "name"),
    [
        (State(target=2), Event(EventKind.READ), "read"),
        (State(phase=Phase.OFFER), Event(EventKind.GATHERED, reports=(Report(),)), "verdict_close"),
        (State(phase=Phase.EMIT), Event(EventKind.TURN), "turn"),
        (State(phase=Phase.EMIT), Event(EventKind.READ), ""),
    ],
)
def test_the_row_taken_is_the_one_whose_guard_holds(state: State, event: Event, name: str) -> None:
    assert row_taken(TABLE, Settings(window=2), state, event) == name
