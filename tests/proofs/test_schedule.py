"""A schedule survives being written, goes the same way again, and ends where a fault is gone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dgap.proofs.demo_bug import one_run, shortest
from dgap.proofs.exploration import CONTROL_FAMILY
from dgap.proofs.families import explore_family
from dgap.proofs.planted import PLANTED, finished_while_holding, with_row
from dgap.proofs.schedule import (
    PROTOCOL,
    Schedule,
    arguments_of,
    broken_in_model,
    mover,
    read_schedule,
    report_of,
    schedule_of,
    table_name,
    table_named,
    worlds_of,
    written,
)
from dgap.proofs.watch import REFINEMENT
from dgap.proofs.world import World
from dgap.protocol.table import TABLE
from dgap.protocol.vocabulary import Event, EventKind, Phase, Settings
from dgap.spec.environment import initial_environment

BREAKS = {
    "finished_while_holding": "S5",
    "idle_rank_does_not_offer_again": "L1",
    "drained_rank_closes_alone": "L1",
    "step_count_above_least_offer": "S3a",
}


def found(name: str) -> Schedule:
    schedule = shortest(PLANTED[name](), (2, 1), BREAKS[name])
    assert schedule is not None
    return schedule


@pytest.mark.parametrize("name", PLANTED)
def test_a_counterexample_breaks_its_property_again_after_being_written(name: str) -> None:
    schedule = read_schedule(written(found(name)))
    assert schedule == found(name)
    assert schedule.table == name
    assert BREAKS[name] in broken_in_model(schedule)
    _, nodes = worlds_of(schedule)
    assert len(nodes) == len(schedule.moves) + 1


@pytest.mark.parametrize("name", PLANTED)
def test_without_the_fault_the_same_schedule_breaks_nothing(name: str) -> None:
    assert broken_in_model(replace(found(name), table=PROTOCOL)) == ()


def test_a_sound_run_goes_to_its_end_and_breaks_nothing() -> None:
    schedule = one_run(TABLE, (2, 1))
    world, nodes = worlds_of(schedule)
    assert world.successors(nodes[-1]) == []
    assert broken_in_model(schedule) == ()
    assert broken_in_model(replace(schedule, broken=REFINEMENT)) == ()


def test_a_broken_refinement_is_seen_again() -> None:
    (explored,) = explore_family(CONTROL_FAMILY, table=finished_while_holding())
    path = explored.exploration.broken[REFINEMENT]
    schedule = schedule_of(explored.world, path, broken=REFINEMENT)
    assert REFINEMENT in broken_in_model(schedule)
    assert broken_in_model(replace(schedule, table=PROTOCOL)) == ()


def test_a_move_says_who_what_and_what_changed() -> None:
    moves = found("finished_while_holding").moves
    read, offer = moves[0], next(move for move in moves if move.event == "OFFER")
    assert (read.rank, read.name, read.event, read.row) == (0, "read", "READ", "read")
    assert read.changes == {"held": 1, "read": 1, "unread": 1, "drawn": 1}
    assert report_of(offer).offered == 0
    assert offer.changes["offered"] == 2
    assert read.report == ()


def test_tables_have_names_and_a_mutant_has_none() -> None:
    assert table_name(TABLE) == PROTOCOL
    assert all(table_name(table_named(name)) == name for name in (PROTOCOL, *PLANTED))
    mutant = with_row(TABLE, "turn", target=Phase.CLOSED)
    assert table_name(mutant) == ""
    world = World(Settings(window=2), 1, table=mutant)
    with pytest.raises(ValueError, match="neither the protocol nor a planted bug"):
        schedule_of(world, [world.root([initial_environment(1)])])
    assert table_named("finished_while_holding") == finished_while_holding()


def test_the_small_words_mean_what_they_say() -> None:
    assert mover((1, 2, 0), (1, 3, 0)) == 1
    assert arguments_of(Event(EventKind.OFFER, needed=1)) == {"needed": 1}
