"""The engine by hand: what it asks, and what it does with each answer of a sound world."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from dgap.protocol.errors import SameData, SettingsDiffer
from dgap.protocol.vocabulary import Report
from dgap.runtime.requests import (
    Deliver,
    End,
    Gather,
    Pull,
    Restart,
    Share,
    SourceSignal,
    Total,
)
from dgap.runtime.step import Batch
from tests.runtime.drive import Driven, indices, listed, sample

IDLE_PEER = Report(exhausted=1)


def test_an_engine_reads_until_its_window_is_full_and_then_offers_what_it_holds() -> None:
    driven = Driven(world_size=1)
    driven.answer([sample(0), sample(1)])
    assert isinstance(driven.request, Pull)
    driven.answer([sample(index) for index in range(2, 7)])
    assert isinstance(driven.request, Gather)
    assert driven.own_report == Report(offered=4, needed=2, units=4)


def test_what_was_read_beyond_the_window_is_offered_later_without_reading_again() -> None:
    driven = Driven(world_size=1)
    driven.answer([sample(index) for index in range(8)])
    driven.alone(until=Pull)
    driven.read()
    driven.alone()
    assert driven.ledger.delivered == 8
    assert driven.ledger.rounds == 3  # two full windows, and the close


def test_a_source_that_ends_is_said_to_be_exhausted_with_what_is_held() -> None:
    driven = Driven(world_size=1)
    driven.read(sample(0), sample(1), sample(2))
    assert driven.own_report == Report(offered=3, needed=2, units=3, exhausted=1)


def test_under_accumulation_the_offer_counts_whole_updates() -> None:
    driven = Driven(world_size=1, accumulation_steps=2)
    driven.read(sample(0), sample(1), sample(2))
    assert driven.own_report == Report(offered=3, needed=1, units=1, exhausted=1)


def test_an_epoch_delivers_every_sample_once_in_groups_under_the_budget() -> None:
    costs = [3, 8, 1, 5, 2, 2, 7, 4, 1]
    driven = Driven(world_size=1)
    for index, cost in enumerate(costs):
        driven.alone(until=Pull)
        driven.answer([sample(index, cost)])
    deliveries = driven.alone()
    assert (driven.ended, driven.result) == (True, None)
    assert driven.ledger.delivered == len(costs)
    assert driven.ledger.balance == 0
    for group in indices(deliveries):
        assert len(group) == 1 or len(group) * max(costs[index] for index in group) <= 8


def test_steps_are_numbered_through_the_epoch_and_hold_the_collated_samples() -> None:
    driven = Driven(world_size=1)
    deliveries = [*_fed(driven, 6), *driven.alone()]
    assert [each.step.index for each in deliveries] == list(range(len(deliveries)))
    assert {each.step.epoch for each in deliveries} == {0}
    for each in deliveries:
        assert type(each.batch) is Batch
        assert each.batch == {"index": list(each.step.sample_indices)}
        assert each.batch.step is each.step
    found = Counter(index for group in indices(deliveries) for index in group)
    assert found == Counter(range(6))


def _fed(driven: Driven, size: int) -> list[Deliver]:
    deliveries = []
    for index in range(size):
        deliveries += driven.alone(until=Pull)
        driven.answer([sample(index)])
    return deliveries


def test_a_source_without_samples_ends_at_once_and_calls_no_collate_function() -> None:
    calls: list[Any] = []
    driven = Driven(world_size=1, collate=calls.append)
    driven.read()
    assert driven.own_report == Report(exhausted=1)
    assert driven.alone() == []
    assert (driven.result, driven.ledger.balance, calls) == (None, 0, [])


def test_the_idle_batch_is_made_of_the_smallest_sample_before_the_first_offer() -> None:
    calls: list[Any] = []

    def collate(values: list[Any]) -> Any:
        calls.append([value["index"] for value in values])
        return listed(values)

    driven = Driven(collate=collate)
    driven.read(sample(0, 5), sample(1, 2, targets=0), sample(2, 3), sample(3, 6), ends=False)
    assert isinstance(driven.request, Gather)
    assert calls == [[2]]
    driven.gathered(Report(offered=1, needed=1, units=1))
    driven.summed([1, 2, 2, 2])
    driven.alone(until=Pull)
    assert len(calls) == 2  # the idle batch, and the one group of the round


def test_a_rank_that_has_nothing_left_idles_as_often_as_the_peers_step() -> None:
    driven = Driven()
    driven.read(sample(0))
    driven.gathered(Report(offered=1, needed=1, units=1))
    driven.summed([1, 4, 4, 4])
    (first,) = driven.alone(until=Gather)
    assert (first.step.weight, first.step.idle, first.step.global_samples) == (1.0, False, 2)
    driven.gathered(Report(offered=3, needed=3, units=3))
    assert isinstance(driven.request, Total)
    assert driven.own_words == (*[0] * 12, 0)
    driven.summed([1, 8, 8, 8] * 3)
    idles = driven.alone(until=Gather)
    assert [each.step.index for each in idles] == [1, 2, 3]
    assert {(each.step.weight, each.step.idle, each.step.samples) for each in idles} == {
        (0.0, True, 0)
    }
    assert [each.batch for each in idles] == [{"index": [0]}] * 3
    assert len({id(each.batch["index"]) for each in idles}) == 3  # each is a copy of its own
    driven.gathered(IDLE_PEER)
    assert (driven.result, driven.ledger.balance) == (None, 0)
    assert (driven.ledger.steps, driven.ledger.idle_steps) == (4, 3)


def test_the_weight_of_a_step_is_the_share_of_the_targets_of_all_ranks() -> None:
    driven = Driven()
    driven.read(sample(0, 8, targets=3))
    driven.gathered(Report(offered=1, needed=1, units=1))
    assert driven.own_words == (1, 8, 8, 3, 0)
    driven.summed([1, 5, 5, 5])
    (delivered,) = driven.alone(until=Gather)
    assert delivered.step.weight == 2 * 3 / 8


def test_a_rank_that_never_saw_a_sample_is_lent_the_batch_of_the_lowest_rank_that_has_one() -> None:
    driven = Driven(rank=0, world_size=3)
    driven.read()
    driven.gathered(IDLE_PEER, Report(offered=2, needed=1, units=2))
    assert driven.own_words[-1] == 1
    driven.summed([0] * 4, [2, 8, 8, 8], lacking=1)
    assert driven.request == Share(b"", 2)
    lender = Driven(rank=0)
    lender.read(sample(7))
    lender.gathered(IDLE_PEER)
    assert lender.own_words[-1] == 0
    lender.summed([0] * 4, lacking=1)
    assert isinstance(lender.request, Share)
    assert lender.request.origin == 0
    driven.answer(lender.request.payload)
    (idle,) = driven.alone(until=Gather)
    assert idle.batch == {"index": [7]}
    assert (idle.step.weight, idle.step.idle) == (0.0, True)
    lender.answer(lender.request.payload)
    (real,) = lender.alone(until=Gather)
    assert not real.step.idle


def test_nothing_is_lent_where_every_rank_has_an_idle_batch() -> None:
    driven = Driven()
    driven.read(sample(0))
    driven.gathered(Report(offered=1, needed=1, units=1))
    driven.summed([1, 1, 1, 1])
    assert isinstance(driven.request, Deliver)


def test_an_idle_batch_of_the_users_is_used_and_none_is_made_or_lent() -> None:
    calls: list[Any] = []
    driven = Driven(idle_batch={"index": [-1]}, collate=calls.append)
    driven.read()
    driven.gathered(Report(offered=1, needed=1, units=1))
    assert driven.own_words[-1] == 0
    driven.summed([1, 1, 1, 1])
    (idle,) = driven.alone(until=Gather)
    assert (idle.batch, calls) == ({"index": [-1]}, [])


def test_an_idle_batch_that_does_not_pickle_serves_its_own_rank() -> None:
    driven = Driven(collate=lambda values: {"function": lambda: None, "count": len(values)})
    driven.read(sample(0))
    driven.gathered(Report(offered=1, needed=1, units=1))
    driven.summed([1, 1, 1, 1])
    driven.alone(until=Gather)
    driven.gathered(Report(offered=1, needed=1, units=1))
    driven.summed([1, 1, 1, 1])
    (idle,) = driven.alone(until=Gather)
    assert (idle.step.idle, idle.batch["count"]) == (True, 1)


def test_a_narrow_round_recycles_and_the_samples_come_in_a_later_one() -> None:
    driven = Driven(policy="fill")
    driven.answer([sample(index, 8) for index in range(4)])
    driven.gathered(Report(offered=1, needed=1, units=1))
    driven.summed([1, 1, 1, 1])
    first = driven.alone(until=Pull)
    assert len(first) == 1
    driven.read()
    assert driven.own_report == Report(offered=3, needed=3, units=3, exhausted=1)


@pytest.mark.parametrize(("word", "value", "kind"), [(5, 99, SettingsDiffer), (-8, None, SameData)])
def test_ranks_that_were_not_started_alike_are_refused_in_the_first_round(
    word: int, value: int | None, kind: type[Exception]
) -> None:
    driven = Driven()
    driven.read(sample(0))
    own = list(driven.own_words)
    peer = list(own)
    if value is not None:
        peer[word] = value
    driven.answer([own, peer])
    assert type(driven.result) is kind
    assert (driven.ledger.balance, driven.ledger.withdrawn) == (0, 1)


def test_a_quota_is_met_exactly_in_as_many_passes_as_it_takes() -> None:
    driven = Driven(world_size=1, mode="quota", quota=5)
    deliveries: list[Deliver] = []
    for _ in range(3):
        driven.read(sample(0), sample(1), ends=False)
        deliveries += driven.alone(until=Pull)
        if driven.ended:
            break
        driven.read()
        deliveries += driven.alone(until=Restart)
        assert isinstance(driven.request, Restart)
        driven.answer()
    driven.alone()
    assert (driven.ledger.delivered, driven.ledger.passes, driven.result) == (5, 3, None)
    assert driven.ledger.balance == 0
    assert Counter(i for group in indices(deliveries) for i in group) == {0: 3, 1: 2}


def test_a_restart_on_a_peers_account_drops_what_is_held_and_what_is_pending() -> None:
    driven = Driven(mode="quota", quota=100, window=2, first_window=2)
    driven.answer([sample(index) for index in range(5)])
    driven.gathered(Report(exhausted=1, dry=1))
    assert isinstance(driven.request, Restart)
    assert (driven.ledger.withdrawn, driven.ledger.passes) == (5, 2)
    driven.answer()
    assert isinstance(driven.request, Pull)
    driven.answer([sample(9)])
    assert isinstance(driven.request, Pull)  # nothing of the old pass is in the window


def test_under_the_tail_stop_the_iterator_ends_while_the_protocol_goes_on() -> None:
    driven = Driven(tail="stop")
    driven.read(sample(0))
    driven.gathered(Report(offered=1, needed=1, units=1))
    driven.summed([1, 1, 1, 1])
    driven.alone(until=Gather)
    driven.gathered(Report(offered=3, needed=3, units=3))
    driven.summed([1, 1, 1, 1] * 3)
    assert driven.request == End()
    driven.answer()
    assert isinstance(driven.request, Gather)
    driven.gathered(Report(offered=1, needed=1, units=1, exhausted=1))
    driven.summed([1, 1, 1, 1])
    driven.alone(until=Gather)
    driven.gathered(IDLE_PEER)
    assert (driven.result, driven.ledger.steps, driven.ledger.idle_steps) == (None, 1, 0)


def test_a_source_that_was_left_is_a_stop() -> None:
    driven = Driven()
    driven.answer([sample(0)])
    driven.answer(SourceSignal.LEFT)
    assert driven.own_report == Report(offered=1, needed=1, units=1, stopped=1)
