"""The composed actions are the moves of our own worlds, when a reader walks their trees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import pytest

from dgap.proofs.explorer import explore
from dgap.proofs.export import (
    CHOICES,
    Action,
    actions,
    field_meanings,
    instance_of,
    substitute,
)
from dgap.proofs.families import Family
from dgap.proofs.foreign import INSTANCES
from dgap.proofs.watch import PropertyWatch
from dgap.proofs.world import Node, World
from dgap.protocol.expr import Const
from dgap.protocol.table import TABLE
from dgap.protocol.vocabulary import Phase, Report, Settings, State, state
from dgap.spec.environment import MOVES, Environment
from dgap.spec.oracle_expr import Reading, holds, value_of

Rank = Mapping[str, int]
SMALL = Family(
    name="small",
    scope="W=2, 0..1 samples, a fault, an early leave and a crash on rank 0",
    settings=(Settings(window=2),),
    witnesses=(),
    most_samples=1,
    faults=1,
    stops=1,
    crashes=1,
    troubled_ranks=1,
)
STRIDE = 37
"""Of the reachable worlds every so many-th is looked at; a prime, so that none is favoured."""


def rank_of(at: World, number: int) -> Rank:
    before, around = at.ranks[number]
    return before._asdict() | around._asdict()


def report_of(rank: Rank, settings: Settings) -> Rank:
    reading = Reading(own={"state": rank, "setting": settings._asdict()})
    return {name: value_of(value, reading) for name, value in TABLE.report}


def moved(
    action: Action, ranks: Sequence[Rank], own: int, reports: Sequence[Rank], settings: Settings
) -> Iterator[tuple[Rank, ...]]:
    """The worlds after the action of one rank, with every choice of arguments."""
    scopes = {"state": ranks[own], "world": ranks[own], "setting": settings._asdict()}
    if not holds(action.occasion, Reading(own=scopes, ranks=ranks)):
        return
    spans = []
    for choice in action.choices:
        low, high = (value_of(end, Reading(own=scopes)) for end in (choice.low, choice.high))
        spans.append(range(low, high + 1))
    for values in product(*spans):
        given = {choice.argument: v for choice, v in zip(action.choices, values, strict=True)}
        reading = Reading(own={**scopes, "event": given}, ranks=reports)
        if holds(action.guard, reading):
            changes = (*action.state, *action.environment)
            new = {name: value_of(value, reading) for name, value in changes}
            yield (*ranks[:own], {**ranks[own], **new}, *ranks[own + 1 :])


def found_by_walking(at: World, node: Node) -> set[tuple[tuple[int, ...], ...]]:
    ranks = [rank_of(at, number) for number in node[:-1]]
    reports = [report_of(rank, at.settings) for rank in ranks]
    return {
        tuple(tuple(rank[name] for name in NAMES) for rank in after)
        for action in actions(TABLE)
        for own in range(len(ranks))
        for after in moved(action, ranks, own, reports, at.settings)
    }


NAMES = (*State._fields, *Environment._fields)


def test_walked_actions_lead_where_our_worlds_go() -> None:
    at = World(SMALL.settings[0], 2)
    roots = [at.root(each) for each in SMALL.environments()]
    nodes: list[Node] = []

    def successors(node: Node) -> list[Node]:
        nodes.append(node)
        return at.successors(node)

    explore(roots, successors, PropertyWatch(at, ()), state_limit=10**5)
    # A vector that somebody has taken already is not to be read off the ranks any more.
    fresh = [node for node in nodes if not node[-1]]
    chosen = fresh[::STRIDE]
    assert len(chosen) > 100
    for node in chosen:
        ours = {tuple(at.flats[number] for number in new[:-1]) for new in at.successors(node)}
        assert found_by_walking(at, node) == ours


def test_every_row_and_every_move_is_an_action_once() -> None:
    names = [action.name for action in actions(TABLE)]
    assert names == [*(row.name for row in TABLE.rows), *(move.name for move in MOVES)]


def test_an_argument_with_one_value_is_put_in() -> None:
    (fails,) = [action for action in actions(TABLE) if action.name == "fail_reading"]
    assert fails.choices == ()
    assert ("failed", Const(1)) in fails.state


def test_arguments_are_those_that_our_worlds_try() -> None:
    tried = {kind: [each.argument for each in choices] for kind, choices in CHOICES.items()}
    assert {kind.name: names for kind, names in tried.items()} == {
        "FAIL": ["code"],
        "OFFER": ["needed", "units"],
        "SUMMED": ["assigned"],
        "DELIVER": ["samples"],
    }


def test_substitution_happens_all_at_once() -> None:
    held, read = state("held"), state("read")
    assert substitute(held + read, {held: read, read: held}) == read + held


def test_each_rank_has_the_starts_of_its_family() -> None:
    instance = instance_of(SMALL)
    assert instance.world_size == 2
    assert [len(one) for one in instance.starts] == [2, 2]
    assert {around.faults_left for _, around in instance.starts[0]} == {1}
    assert {around.faults_left for _, around in instance.starts[1]} == {0}
    assert all(before.phase == Phase.FILL for one in instance.starts for before, _ in one)


@pytest.mark.parametrize("reduced", [True, False])
def test_a_family_that_is_no_single_instance_is_refused(reduced: bool) -> None:
    settings = SMALL.settings if reduced else (Settings(), Settings(window=2))
    family = Family(
        name="none", scope="", settings=settings, witnesses=(), reduced=reduced, most_samples=1
    )
    with pytest.raises(ValueError, match="one choice of settings"):
        instance_of(family)


def test_all_instances_have_starts_for_every_rank() -> None:
    for family in INSTANCES:
        starts = instance_of(family).starts
        assert len(starts) == family.world_size
        assert all(starts)


@pytest.mark.parametrize("kind", [State, Environment, Report])
def test_every_field_has_its_meaning_from_the_source(
    kind: type[State] | type[Environment] | type[Report],
) -> None:
    meanings = field_meanings(kind)
    assert tuple(meanings) == kind._fields
    assert [name for name, text in meanings.items() if not text] in ([], ["phase"])
