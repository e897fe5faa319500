"""The compiled explorer: exact counts, what is not finished, runs that the other one confirms."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dgap.proofs.compiled import HERE, SOURCES, Job, build, search, walked
from dgap.proofs.explorer import explore
from dgap.proofs.foreign_tools import MissingTool
from dgap.proofs.planted import finished_while_holding
from dgap.proofs.trace import readable
from dgap.proofs.watch import PropertyWatch
from dgap.proofs.world import World
from dgap.protocol.table import TABLE
from dgap.protocol.vocabulary import Settings
from dgap.spec.environment import initial_environment
from dgap.spec.properties import PROPERTIES
from dgap.spec.witnesses import WITNESSES

TWO = Job(
    settings=Settings(window=2),
    roots=(tuple(initial_environment(count, queue_limit=3) for count in (3, 1)),),
    witnesses=tuple(each.id for each in WITNESSES),
)


@pytest.mark.parametrize("reduced", [False, True])
@pytest.mark.parametrize("counts", [(3, 1), (0, 2), (2, 1, 1)])
def test_it_counts_and_sees_what_the_other_explorer_does(
    counts: tuple[int, ...], reduced: bool
) -> None:
    root = tuple(initial_environment(count, queue_limit=2, faults=1) for count in counts)
    (found,) = search([replace(TWO, roots=(root,), reduced=reduced)])
    world = World(TWO.settings, len(counts), reduced=reduced)
    watch = PropertyWatch(world, (*PROPERTIES, *WITNESSES), refinement=True)
    other = explore([world.root(root)], world.successors, watch, state_limit=100_000)
    assert found.finished
    assert found.ends
    assert other.longest is not None
    assert (found.states, found.transitions) == (other.states, other.transitions)
    assert (found.at_rest, found.depth) == (other.at_rest, other.depth)
    assert found.shown == set(other.shown)
    assert not found.broken
    assert not other.broken


def test_several_jobs_and_several_roots_share_nothing() -> None:
    three = replace(TWO, roots=((initial_environment(1),) * 3,))
    apart = search([TWO])[0], search([three])[0]
    assert search([TWO, three, TWO]) == (*apart, apart[0])
    (both,) = search([replace(TWO, roots=TWO.roots * 2)])
    assert both.states == 2 * apart[0].states


def test_a_search_beyond_its_limit_is_not_finished() -> None:
    (found,) = search([replace(TWO, state_limit=50)])
    assert not found.finished
    assert not found.overflow


def test_a_count_that_outgrows_its_cell_is_not_finished() -> None:
    (found,) = search([replace(TWO, roots=((initial_environment(200),) * 2,))])
    assert not found.finished
    assert found.overflow


def test_a_missing_compiler_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(MissingTool, match="gcc"):
        build.__wrapped__(TABLE)


def test_roots_of_unequal_size_and_reduced_worlds_with_leaves_are_refused() -> None:
    one = (initial_environment(1),)
    with pytest.raises(ValueError, match="number of ranks"):
        search([replace(TWO, roots=(one, one * 2))])
    with pytest.raises(ValueError, match="no early stops"):
        search([replace(TWO, roots=((initial_environment(1, stops=1),),), reduced=True)])


def test_a_lost_sample_is_found_by_a_shortest_run_that_the_other_explorer_walks_too() -> None:
    table = finished_while_holding()
    (found,) = search([TWO], table=table)
    world, path = walked(TWO, found.broken["S5"], table=table)
    watch = PropertyWatch(world, PROPERTIES)
    assert [watch.at_node(node) for node in path[:-1]] == [[]] * (len(path) - 1)
    assert "S5" in watch.at_node(path[-1])
    assert len(readable(world, path)) == len(path) + 1
    other = explore([path[0]], world.successors, watch, state_limit=100_000)
    assert len(other.broken["S5"]) == len(path)


def test_a_run_that_the_other_explorer_does_not_know_is_refused() -> None:
    (found,) = search([TWO], table=finished_while_holding())
    worlds = found.broken["S5"]
    with pytest.raises(ValueError, match="no move 1"):
        walked(TWO, (worlds[0], worlds[-1]))


def test_every_source_of_the_program_is_shipped_with_the_package() -> None:
    assert {path.name for path in HERE.glob("*.[ch]")} == set(SOURCES)
