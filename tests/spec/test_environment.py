"""The environment is data over known names, and it decides nothing of the protocol."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from dgap.protocol.expr import Formula, Name, Node, Term, walk
from dgap.protocol.vocabulary import EffectKind, Event, EventKind, Phase, State
from dgap.spec.environment import (
    MOVES,
    OCCASIONS,
    RESPONSES,
    SLOTS,
    Environment,
    EnvironmentRow,
    absent,
    done,
    gather_complete,
    initial_environment,
    ranked,
    room,
    world,
)
from dgap.spec.oracle_expr import Reading, holds, value_of

ROWS = (*OCCASIONS, *MOVES)


def at(state: State, environment: Environment, *others: tuple[State, Environment]) -> Reading:
    pairs = [(state, environment), *others]
    return Reading(
        own={"state": state._asdict(), "world": environment._asdict()},
        ranks=[{**s._asdict(), **e._asdict()} for s, e in pairs],
    )


def after(row: str, environment: Environment, state: State | None = None) -> Environment:
    """What a row makes of a rank's surroundings."""
    updates = next(each.updates for each in ROWS if each.name == row)
    reading = at(state or State(), environment)
    return environment._replace(**{name: value_of(value, reading) for name, value in updates})


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_reads_and_writes_known_fields(row: EnvironmentRow) -> None:
    nodes: list[Node] = [row.guard, *(value for _, value in row.updates)]
    names = [part for node in nodes for part in walk(node) if isinstance(part, Name)]
    known = {
        "state": set(State._fields),
        "world": set(Environment._fields),
        "report": {*State._fields, *Environment._fields},
    }
    assert isinstance(row.guard, Formula)
    assert all(isinstance(value, Term) for _, value in row.updates)
    assert all(name.name in known[name.scope] for name in names)
    assert {name for name, _ in row.updates} <= set(Environment._fields)


def test_every_event_has_exactly_one_occasion() -> None:
    assert sorted(row.event for row in OCCASIONS if row.event is not None) == sorted(EventKind)
    assert all(row.event is None for row in MOVES)
    assert len({row.name for row in ROWS}) == len(ROWS)


def test_an_effect_has_one_response_at_most() -> None:
    effects = [response.effect for response in RESPONSES]
    assert len(set(effects)) == len(effects)
    assert set(EffectKind) - set(effects) == {EffectKind.END, EffectKind.CLOSE, EffectKind.REFUSED}


def test_the_specification_imports_no_rule_of_the_protocol() -> None:
    allowed = {"errors", "expr", "vocabulary"}
    for file in Path(__file__).resolve().parents[2].joinpath("spec").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dgap."):
                assert (node.module or "").removeprefix("dgap.protocol.") in allowed, file.name


@pytest.mark.parametrize("make", [world, ranked])
def test_a_name_that_no_rank_has_is_refused(make: object) -> None:
    with pytest.raises(KeyError, match="colour"):
        make("colour")  # type: ignore[operator]


@pytest.mark.parametrize("wrong", [{"queue_limit": 0}, {"queue_limit": SLOTS + 1}, {"share": -1}])
def test_surroundings_out_of_bounds_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="queues hold"):
        initial_environment(1, **wrong)  # type: ignore[arg-type]


def test_a_gather_is_complete_only_when_all_have_entered_it() -> None:
    entered, outside = initial_environment(1)._replace(gathers=1), initial_environment(1)
    rank = State(phase=Phase.OFFER)
    assert not holds(gather_complete, at(rank, entered, (State(), outside)))
    assert holds(gather_complete, at(rank, entered, (rank, entered)))
    gone_on = (State(rounds=1), entered)
    assert holds(gather_complete, at(rank, entered, gone_on)), "a peer may have left already"


def test_a_full_queue_has_no_room_unless_its_loop_has_left() -> None:
    full = initial_environment(3)._replace(queued=1)
    assert not holds(room, at(State(), full))
    assert holds(room, at(State(), full._replace(left=1)))
    assert holds(room, at(State(), full._replace(queue_limit=2)))


def test_a_loop_takes_the_oldest_batch_and_leaves_the_step_when_all_are_in() -> None:
    full = {"queued": SLOTS, "slot_1": 3, "slot_2": 1, "slot_3": 2}
    queue = initial_environment(9, queue_limit=SLOTS)._replace(**full)
    taken = after("take", queue)
    assert (taken.queued, taken.slot_1, taken.slot_2, taken.slot_3) == (2, 1, 2, 0)
    assert (taken.taken, taken.hand, taken.received) == (1, 3, 3)
    train = next(row.guard for row in MOVES if row.name == "train")
    assert not holds(train, at(State(), taken, (State(), queue)))
    assert holds(train, at(State(), taken, (State(), taken)))
    assert (after("train", taken).trained, after("train", taken).hand) == (1, 0)


def test_a_step_waits_for_no_loop_that_left_or_ended_early_but_for_one_that_finished() -> None:
    def is_absent(state: State, environment: Environment) -> bool:
        reading = at(state, environment)
        return holds(absent, Reading(own=reading.own, ranks=reading.ranks, ranged=0))

    ended = State(ended=1)
    here = initial_environment(1)
    assert is_absent(State(), here._replace(left=1))
    assert is_absent(ended, here._replace(finished=1))
    assert not is_absent(ended, here)
    assert not is_absent(State(), here._replace(finished=1))


def test_a_loop_that_leaves_empties_its_queue() -> None:
    left = after("leave", initial_environment(3, stops=1)._replace(queued=1, slot_1=2))
    assert (left.queued, left.slot_1, left.left, left.stops_left) == (0, 0, 1, 0)


def test_a_rank_is_done_when_its_loop_has_seen_the_end() -> None:
    closed = State(phase=Phase.CLOSED)
    here = initial_environment(0)
    assert not holds(done, at(closed, here))
    assert holds(done, at(closed, here._replace(finished=1)))
    assert not holds(done, at(State(phase=Phase.EMIT), here._replace(left=1)))
    assert holds(done, at(State(), here._replace(crashed=1)))


def test_an_event_has_the_arguments_that_the_responses_read() -> None:
    values = [value for response in RESPONSES for _, value in response.updates]
    names = {p.name for v in values for p in walk(v) if isinstance(p, Name) and p.scope == "event"}
    assert names <= {*Event._fields, "argument"}
