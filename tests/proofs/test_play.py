"""Machines that are apart go the way of the model, and a record that is not its way is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dgap.proofs.demo_bug import one_run, shortest
from dgap.proofs.exploration import CONTROLS
from dgap.proofs.planted import PLANTED
from dgap.proofs.play import (
    Parted,
    Player,
    Record,
    broken_by_states,
    broken_when_played,
    moves_of,
)
from dgap.proofs.schedule import PROTOCOL, Schedule, broken_in_model, worlds_of
from dgap.protocol.errors import IllegalTransition
from dgap.protocol.table import TABLE
from dgap.protocol.vocabulary import EffectKind, EventKind, Report

BREAKS = {build.__name__: broken for build, broken, _ in CONTROLS}


def found(name: str) -> Schedule:
    schedule = shortest(PLANTED[name](), (2, 1), BREAKS[name])
    assert schedule is not None
    return schedule


def played(schedule: Schedule) -> list[list[Record]]:
    """Played in one process; a gather brings what each rank said when it entered."""
    players = [Player(schedule, rank) for rank in range(len(schedule.surroundings))]
    said: list[list[Report]] = [[] for _ in players]
    records: list[list[Record]] = [[] for _ in players]
    for number, move in enumerate(moves_of(schedule)):
        player = players[move.rank]
        reports: tuple[Report, ...] = ()
        if move.event == EventKind.GATHERED.name:
            reports = tuple(each[player.state.rounds] for each in said)
        effects = player.play(move, reports)
        if EffectKind.GATHER in [effect.kind for effect in effects]:
            said[move.rank].append(player.report())
        records[move.rank].append((number, list(player.state)))
    return records


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_breaks_its_property_when_played(name: str) -> None:
    assert BREAKS[name] in broken_when_played(found(name), played(found(name)))


@pytest.mark.parametrize("name", PLANTED)
def test_without_the_fault_nothing_is_broken(name: str) -> None:
    schedule = replace(found(name), table=PROTOCOL)
    assert broken_when_played(schedule, played(schedule)) == ()


def test_a_sound_run_is_played_to_its_end() -> None:
    schedule = one_run(TABLE, (3, 1))
    assert moves_of(schedule) == schedule.moves
    assert broken_when_played(schedule, played(schedule)) == ()


def doctored(records: list[list[Record]], *, rank: int, at: int) -> list[list[Record]]:
    number, state = records[rank][at]
    changed = [state[0], state[1] + 1, *state[2:]]
    return [
        [*own[:at], (number, changed), *own[at + 1 :]] if index == rank else own
        for index, own in enumerate(records)
    ]


def test_a_state_that_is_not_the_models_is_refused() -> None:
    schedule = one_run(TABLE, (2, 1))
    with pytest.raises(Parted, match=r"after move \d+ rank 1 is at"):
        broken_when_played(schedule, doctored(played(schedule), rank=1, at=3))


def test_a_missing_move_is_refused() -> None:
    schedule = one_run(TABLE, (2, 1))
    first, second = played(schedule)
    with pytest.raises(Parted, match=f"made {len(schedule.moves) - 1} moves in turn, the model"):
        broken_when_played(schedule, [first[:-1], second])


def test_what_the_machine_does_not_take_is_an_error() -> None:
    schedule = one_run(TABLE, (2, 1))
    offer = next(move for move in schedule.moves if move.event == "OFFER")
    with pytest.raises(IllegalTransition):
        Player(schedule, 0).play(offer)


def test_states_alone_are_enough_for_a_property_that_reads_no_more() -> None:
    schedule = found("step_count_above_least_offer")
    world, nodes = worlds_of(schedule)
    by_move = [
        broken_by_states(schedule, [world.ranks[number][0] for number in node[:-1]])
        for node in nodes
    ]
    assert by_move[-1] == ("S3a",)
    assert set(by_move[:-1]) == {()}


def test_what_reads_the_surroundings_or_rest_is_not_judged_by_states() -> None:
    for name in ("finished_while_holding", "idle_rank_does_not_offer_again"):
        schedule = found(name)
        world, nodes = worlds_of(schedule)
        states = [world.ranks[number][0] for number in nodes[-1][:-1]]
        assert schedule.broken in broken_in_model(schedule)
        assert broken_by_states(schedule, states) == ()
