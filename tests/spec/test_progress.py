"""PROGRESS grows with every move of a rank, in worlds with every kind of trouble."""

from __future__ import annotations

import pytest

from dgap.proofs.families import FAMILIES
from dgap.proofs.world import World
from dgap.protocol.vocabulary import Phase, State
from dgap.spec.environment import Environment, initial_environment
from dgap.spec.oracle_expr import Reading, value_of
from dgap.spec.progress import PROGRESS

SMALL = ("one-rank", "join-stop", "quota-trouble")


def progress(state: State, environment: Environment) -> int:
    own = {"state": state._asdict(), "world": environment._asdict()}
    return value_of(PROGRESS, Reading(own=own))


@pytest.mark.parametrize("name", SMALL)
def test_every_move_makes_it_larger(name: str) -> None:
    family = next(each for each in FAMILIES if each.name == name)
    world = World(family.settings[-1], family.world_size)
    nodes = [world.root(each) for each in family.environments()]
    seen = set(nodes)
    for node in nodes:
        fresh = [new for new in world.successors(node) if new not in seen]
        seen.update(fresh)
        nodes += dict.fromkeys(fresh)
        if len(nodes) > 3_000:
            break
    known = [progress(*pair) for pair in world.ranks]
    moves = list(world.reasons)
    assert len(moves) > 50
    assert [pair for pair in moves if known[pair[0]] >= known[pair[1]]] == []


def test_a_finished_rank_is_further_than_any_other_place_of_its_round() -> None:
    around = initial_environment(0)
    places = [progress(State(phase=phase, owed_steps=1), around) for phase in Phase]
    assert max(places[: Phase.CLOSED]) < places[Phase.CLOSED] == places[Phase.FAILED]
