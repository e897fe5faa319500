"""Every row is an action, in surroundings that hold it back or let it go."""

from __future__ import annotations

from dgap.proofs.actions import (
    ACTOR,
    GHOSTS,
    all_actions,
    begin_step,
    finish_step,
    has_room,
    initial,
    leave,
    live,
    takes_part,
)
from dgap.protocol.expr import Formula, Name, walk
from dgap.protocol.table import TABLE
from dgap.protocol.vocabulary import Phase, Settings, State
from dgap.spec.oracle_expr import Reading, holds

ACTIONS = {action.name: action for action in all_actions(TABLE)}


def here(formula: Formula, **fields: int) -> bool:
    """Whether a formula about the actor holds; fields that are not given are as at the start."""
    values = State()._asdict() | dict.fromkeys(GHOSTS, 0) | fields
    world = {f"a.{name}": value for name, value in values.items()}
    own = {
        "world": world | {"queue_limit": 1},
        "setting": Settings()._asdict(),
        "state": values,
        "event": {},
    }
    return holds(formula, Reading(own=own))


def test_every_row_and_the_three_of_the_training_loop_are_actions() -> None:
    assert [*ACTIONS] == [*(row.name for row in TABLE.rows), "begin_step", "finish_step", "leave"]


def test_updates_are_of_fields_that_a_rank_has() -> None:
    for action in ACTIONS.values():
        names = [name for name, _ in action.updates]
        assert len(set(names)) == len(names)
        assert set(names) <= {*State._fields, *GHOSTS}


def test_a_source_is_read_while_it_has_samples_and_ends_when_it_has_none() -> None:
    assert here(ACTIONS["read"].guard, unread=1)
    assert not here(ACTIONS["read"].guard)
    assert here(ACTIONS["exhaust"].guard)
    assert not here(ACTIONS["exhaust"].guard, unread=1)


def test_collectives_are_entered_by_asking_and_left_by_their_result() -> None:
    def moves(name: str, ghost: str) -> bool:
        return ghost in dict(ACTIONS[name].updates)

    assert moves("offer", "entered")
    assert not moves("offer", "left")
    assert moves("verdict_step", "entered")
    assert moves("verdict_step", "left")
    assert moves("verdict_close", "left")
    assert not moves("verdict_close", "entered")
    assert ACTIONS["summed"].awaited == ACTIONS["refuse"].awaited == "entered"
    assert ACTIONS["break_offer"].awaited == ""


def test_a_full_queue_holds_a_batch_back_unless_the_loop_has_left() -> None:
    assert here(has_room(ACTOR))
    assert not here(has_room(ACTOR), steps=1)
    assert here(has_room(ACTOR), steps=1, gone=1)
    owing = {"phase": Phase.EMIT, "owed_steps": 1}
    assert here(ACTIONS["idle"].guard, **owing)
    assert not here(ACTIONS["idle"].guard, steps=1, **owing)


def test_a_loop_takes_part_until_it_left_or_its_ended_iterator_is_used_up() -> None:
    assert here(takes_part(ACTOR))
    assert not here(takes_part(ACTOR), gone=1)
    assert here(takes_part(ACTOR), ended=1, steps=2, done=1)
    assert not here(takes_part(ACTOR), ended=1, steps=2, done=2)


def test_a_loop_is_inside_at_most_one_step() -> None:
    assert here(begin_step.guard, steps=1)
    assert not here(begin_step.guard, steps=2, begun=1)
    assert here(finish_step.guard, steps=2, begun=1)
    assert not here(leave.guard, steps=2, begun=1)
    assert here(leave.guard, steps=2, begun=1, done=1)


def test_ranks_start_as_the_protocol_says() -> None:
    assert here(initial(ACTOR), source=3, unread=3)
    assert not here(initial(ACTOR), source=3)
    assert not here(initial(ACTOR), steps=1)
    assert not here(initial(ACTOR), remaining=1, share=1, pass_start=1)  # a share needs quota mode


def test_a_rank_lives_until_it_closes_or_fails() -> None:
    assert here(live(ACTOR), phase=Phase.EMIT)
    assert not here(live(ACTOR), phase=Phase.CLOSED)
    assert not here(live(ACTOR), phase=Phase.FAILED)


def test_guards_speak_of_the_actor_only() -> None:
    for action in ACTIONS.values():
        for node in walk(action.guard):
            if isinstance(node, Name) and node.scope == "world" and "." in node.name:
                assert node.name.startswith("a.")
