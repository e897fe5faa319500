"""A planted table is the protocol with one rule changed."""

from __future__ import annotations

import pytest

from dgap.proofs.planted import (
    PLANTED,
    drained_rank_closes_alone,
    finished_while_holding,
    idle_rank_does_not_offer_again,
    row_named,
    step_count_above_least_offer,
    with_row,
)
from dgap.protocol.expr import TRUE
from dgap.protocol.machine import Machine
from dgap.protocol.table import TABLE
from dgap.protocol.vocabulary import Event, EventKind, Phase, Policy, Report, Settings, State


@pytest.mark.parametrize("name", PLANTED)
def test_each_planted_table_compiles_and_is_another_protocol(name: str) -> None:
    planted = PLANTED[name]()
    Machine(Settings(window=4), planted)
    assert planted.digest() != TABLE.digest()


@pytest.mark.parametrize("name", PLANTED)
def test_each_planted_table_changes_two_rules_at_most(name: str) -> None:
    planted = PLANTED[name]()
    changed = [row for row in planted.rows if row not in TABLE.rows]
    lost = [row.name for row in TABLE.rows if row.name not in {row.name for row in planted.rows}]
    assert len(changed) <= 2
    assert not lost


def test_a_row_is_replaced_by_name_and_an_unknown_name_is_refused() -> None:
    changed = with_row(TABLE, "turn", guard=TRUE)
    assert row_named(changed, "turn").guard == TRUE
    with pytest.raises(KeyError, match="no row 'trun'"):
        with_row(TABLE, "trun", guard=TRUE)


def test_a_rank_that_holds_samples_says_it_has_none() -> None:
    holding = State(phase=Phase.OFFER, held=2, exhausted=1, offered=2, needed=1, units=2, target=4)
    assert Machine(Settings(window=4)).report(holding).offered == 2
    assert Machine(Settings(window=4), finished_while_holding()).report(holding).offered == 0


def test_a_drained_rank_may_not_offer_after_its_first_round() -> None:
    machine = Machine(Settings(window=4), idle_rank_does_not_offer_again())
    offer = Event(EventKind.OFFER)
    assert machine.permits(State(exhausted=1, target=4), offer)
    assert not machine.permits(State(exhausted=1, target=4, rounds=1), offer)


def test_a_drained_rank_closes_without_a_verdict() -> None:
    machine = Machine(Settings(window=4), drained_rank_closes_alone())
    turned, _ = machine.step(State(phase=Phase.EMIT, exhausted=1, target=4), Event(EventKind.TURN))
    assert turned.phase == Phase.CLOSED


def test_a_rank_owes_more_steps_than_the_poorest_peer_offers() -> None:
    settings = Settings(window=8, policy=Policy.PAPER)
    reports = (Report(offered=8, needed=4, units=8), Report(offered=1, needed=1, units=1))
    offered = State(phase=Phase.OFFER, held=8, offered=8, needed=4, units=8, target=8)
    gathered = Event(EventKind.GATHERED, reports=reports)
    sound, _ = Machine(settings).step(offered, gathered)
    planted, _ = Machine(settings, step_count_above_least_offer()).step(offered, gathered)
    assert (sound.owed_steps, planted.owed_steps) == (1, 4)
