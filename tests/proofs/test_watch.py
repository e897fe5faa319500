"""The watch decides each property for every world as walking its tree would."""

from __future__ import annotations

import pytest

from dgap.proofs.explorer import explore
from dgap.proofs.watch import REFINEMENT, PropertyWatch
from dgap.proofs.world import Node, World
from dgap.protocol.expr import Every, Some
from dgap.protocol.vocabulary import Phase, Settings, state
from dgap.spec.abstract import Abstract, Status
from dgap.spec.environment import initial_environment, ranked
from dgap.spec.environment import world as environment_field
from dgap.spec.oracle_expr import Reading, holds
from dgap.spec.properties import PROPERTIES, Property
from dgap.spec.witnesses import WITNESSES

FALSE_HERE = (
    Property(id="one_rank", statement="nothing is read", formula=state("read").equals(0)),
    Property(id="ranks", statement="no rank reads", formula=Every(ranked("read").equals(0))),
    Property(
        id="end", statement="nobody closes", kind="at rest", formula=state("phase") < Phase.CLOSED
    ),
)


def small(refinement: bool = False, *more: Property) -> tuple[World, PropertyWatch, Node]:
    world = World(Settings(window=2), 2)
    watch = PropertyWatch(world, (*PROPERTIES, *WITNESSES, *more), refinement=refinement)
    return world, watch, world.root([initial_environment(1), initial_environment(2)])


def test_what_is_false_is_broken_where_it_becomes_false_first() -> None:
    world, watch, root = small(False, *FALSE_HERE)
    found = explore([root], world.successors, watch, state_limit=10_000)
    assert set(found.broken) == {"one_rank", "ranks", "end"}
    assert len(found.broken["one_rank"]) == len(found.broken["ranks"]) == 2
    assert not world.successors(found.broken["end"][-1])


@pytest.mark.parametrize("each", [p for p in (*PROPERTIES, *WITNESSES) if p.kind != "at rest"])
def test_a_property_holds_where_its_tree_does(each: Property) -> None:
    world, _, root = small()
    nodes = dict.fromkeys([root])
    while len(nodes) < 150:
        nodes |= dict.fromkeys(after for node in nodes for after in world.successors(node))
    watch = PropertyWatch(world, [each])
    for node in nodes:
        flats = [dict(fields_of(world, number)) for number in node[:-1]]
        own = [
            Reading(own={"state": f, "world": f, "setting": world.settings._asdict()}, ranks=flats)
            for f in flats
        ]
        truths = [holds(each.formula, reading) for reading in own]
        if each.kind == "always":
            assert (not watch.at_node(node)) == all(truths)
        elif watch.witnessed(node):
            assert any(truths)
            watch = PropertyWatch(world, [each])
        else:
            assert not any(truths)


def fields_of(world: World, number: int) -> list[tuple[str, int]]:
    rank_state, environment = world.ranks[number]
    return [*rank_state._asdict().items(), *environment._asdict().items()]


def test_a_witness_is_reported_once() -> None:
    world, _, root = small()
    reads = Property(
        id="reads", statement="a rank reads", kind="sometimes", formula=Some(ranked("read") > 0)
    )
    watch = PropertyWatch(world, [reads])
    after = next(node for node in world.successors(root) if watch.witnessed(node))
    assert watch.witnessed(after) == ()


def test_the_abstract_machine_sees_a_step_once_all_loops_have_entered_it() -> None:
    world, watch, root = small(True)
    found = explore([root], world.successors, watch, state_limit=10_000)
    assert REFINEMENT not in found.broken
    path = found.shown["all_close_with_samples"]
    images = [watch.image(node) for node in path]
    assert images[0] == Abstract(0, Status.RUNNING, (0, 0))
    assert [image.steps for image in images] == sorted(image.steps for image in images)
    assert watch.goals(root) == (1, 2)


def test_a_transition_that_is_none_of_the_abstract_machine_is_seen() -> None:
    world, watch, root = small(True)
    found = explore([root], world.successors, watch, state_limit=10_000)
    last = found.shown["all_close_with_samples"][-1]
    while following := world.successors(last):
        last = following[0]
    assert watch.image(last).status == Status.CLOSED
    assert list(watch.on_edges(root, [last])) == [(REFINEMENT, last)]
    assert list(watch.on_edges(root, world.successors(root))) == []


def test_a_property_of_one_rank_may_read_its_surroundings() -> None:
    world, _, root = small()
    unread = Property(
        id="unread", statement="something is unread", formula=environment_field("unread") > 0
    )
    assert PropertyWatch(world, [unread]).at_node(root) == []
