"""Unfolded formulas have the value that walking the tree gives them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dgap.proofs.unfold import (
    RANK_FIELDS,
    fields_read,
    over_one_rank,
    over_ranks,
    unfold,
)
from dgap.protocol.expr import (
    TRUE,
    Const,
    Every,
    Greatest,
    Least,
    Name,
    Node,
    Some,
    Total,
    has_aggregate,
    walk,
)
from dgap.protocol.vocabulary import Settings, State, setting, state
from dgap.spec.abstract import GOAL, RECEIVED, STATUS, STEPS
from dgap.spec.environment import Environment, ranked, world
from dgap.spec.oracle_expr import Reading, evaluate
from dgap.spec.properties import PROPERTIES
from dgap.spec.witnesses import WITNESSES

SETTINGS = Settings(window=3, quota=1)
HELD = ranked("held")
NODES: tuple[Node, ...] = (
    Least(HELD, HELD > 1, Const(7)),
    Greatest(HELD, state("held") < HELD, world("unread")),
    Total(HELD * 2, ranked("unread") > 0),
    Every(state("held") >= HELD) | Some(HELD.equals(ranked("unread"))),
    setting("window") + state("held"),
    Some(Name("report", "rank") > 1),
    STEPS,
    STATUS,
    RECEIVED,
    GOAL,
    *(each.formula for each in (*PROPERTIES, *WITNESSES)),
)
FLAT = st.lists(st.integers(0, 3), min_size=len(RANK_FIELDS), max_size=len(RANK_FIELDS)).map(tuple)


@cache
def compiled(world_size: int, own: int | None = None) -> Callable[..., tuple[Any, ...]]:
    return over_ranks(NODES, SETTINGS, world_size=world_size, own=own)


@settings(deadline=None)  # the first example of each size compiles
@given(ranks=st.lists(FLAT, min_size=1, max_size=3))
def test_a_compiled_node_has_the_value_of_the_tree_at_every_rank(
    ranks: list[tuple[int, ...]],
) -> None:
    values = compiled(len(ranks))(*ranks)
    named = [dict(zip(RANK_FIELDS, flat, strict=True)) for flat in ranks]
    expected = [
        evaluate(
            node,
            Reading(own={"state": own, "world": own, "setting": SETTINGS._asdict()}, ranks=named),
        )
        for node in NODES
        for own in named
    ]
    assert list(values) == expected


@settings(deadline=None)
@given(ranks=st.lists(FLAT, min_size=2, max_size=2), own=st.integers(0, 1))
def test_a_node_may_be_read_at_one_rank_alone(ranks: list[tuple[int, ...]], own: int) -> None:
    everywhere = compiled(2)(*ranks)
    assert compiled(2, own)(*ranks) == everywhere[own::2]


def test_unfolding_leaves_no_aggregate() -> None:
    for node in NODES:
        unfolded = unfold(node, own=0, world_size=2)
        assert not any(has_aggregate(part) for part in walk(unfolded))


def test_an_aggregate_is_seen_at_any_depth() -> None:
    assert has_aggregate(~(TRUE & Some(HELD > 0)))
    assert not has_aggregate(state("held") > world("unread"))


def test_the_fields_that_a_node_reads_are_named_and_settings_are_not() -> None:
    nodes: list[Node] = [Every(state("read") < HELD), setting("window") + world("taken")]
    assert fields_read(nodes) == ("held", "read", "taken")


def test_one_rank_is_read_with_the_event_at_hand() -> None:
    samples = Name("event", "samples")
    read = over_one_rank(
        [state("held") + samples, world("queued")], SETTINGS, parameters=", event_samples"
    )
    assert read(State(held=2), Environment(queued=1), 3) == (5, 1)


def test_a_ranged_over_name_outside_every_aggregate_is_refused() -> None:
    for name in (HELD, Name("report", "rank")):
        with pytest.raises(ValueError, match="outside every aggregate"):
            unfold(name, own=0, world_size=2)
