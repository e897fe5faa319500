"""Failures seen by the engine: what the loop is told, and that no sample is unaccounted for."""

from __future__ import annotations

from typing import Any

import pytest

from dgap.protocol.errors import (
    BadBatch,
    CollectiveFailed,
    DataError,
    PeerFailed,
)
from dgap.protocol.vocabulary import FailureCode, Phase, Report
from dgap.runtime.chunks import Fault
from dgap.runtime.requests import (
    Gather,
    Share,
)
from tests.runtime.drive import Driven, listed, sample

PEER = Report(offered=1, needed=1, units=1)
ONE = [1, 1, 1, 1]


class Broken(Exception):
    pass


class BreaksAt:
    """A collate function that fails at its n-th call, counted from 0."""

    def __init__(self, call: int, outcome: Any = None) -> None:
        self.call = call
        self.outcome = outcome
        self.calls = 0

    def __call__(self, values: list[Any]) -> Any:
        self.calls += 1
        if self.calls - 1 != self.call:
            return listed(values)
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def fault(index: int = 5) -> Fault:
    return Fault.of(FailureCode.SOURCE, index, Broken("no such file"))


def test_a_fault_of_the_source_is_reported_in_the_next_round_and_raised_as_itself() -> None:
    driven = Driven()
    broken = fault()
    driven.answer([sample(0), broken, sample(1)])
    assert isinstance(driven.request, Gather)
    assert driven.own_report == Report(offered=1, needed=1, units=1, failed=FailureCode.SOURCE)
    driven.gathered(PEER)
    assert isinstance(driven.request, Share)
    assert driven.request.origin == 0
    assert driven.request.payload.decode() == broken.describe()
    driven.answer(driven.request.payload)
    assert driven.result is broken.error
    assert driven.balanced
    assert (driven.ledger.faults, driven.ledger.withdrawn) == (1, 2)


def test_nothing_is_read_or_collated_after_a_fault() -> None:
    collate = BreaksAt(99)
    driven = Driven(collate=collate)
    driven.answer([fault(), sample(0)])
    assert isinstance(driven.request, Gather)
    assert collate.calls == 0


def test_a_failed_peer_is_raised_with_its_rank_the_step_and_its_words() -> None:
    driven = Driven(world_size=3)
    driven.answer([sample(index) for index in range(4)])
    driven.gathered(PEER, Report(failed=FailureCode.COST))
    assert driven.request == Share(b"", 2)
    driven.answer(b"ValueError: bad cost")
    assert type(driven.result) is PeerFailed
    assert (driven.result.rank, driven.result.step) == (2, 0)
    assert "ValueError: bad cost" in str(driven.result)
    assert driven.balanced


def test_of_two_failed_ranks_each_raises_its_own_and_the_lowest_is_quoted() -> None:
    driven = Driven(rank=1)
    driven.answer([fault()])
    driven.gathered(Report(failed=FailureCode.COLLATE))
    assert isinstance(driven.request, Share)
    assert driven.request.origin == 0
    driven.answer(b"other")
    assert type(driven.result) is Broken


def test_a_message_that_does_not_arrive_still_names_the_failed_rank() -> None:
    driven = Driven()
    driven.read(sample(0))
    driven.gathered(Report(failed=FailureCode.SOURCE))
    driven.throw(CollectiveFailed("the peer is gone"))
    assert type(driven.result) is PeerFailed
    assert driven.result.rank == 1
    assert "the peer is gone" in str(driven.result)
    assert driven.balanced


def test_a_rank_whose_own_message_does_not_leave_still_raises_its_own_error() -> None:
    driven = Driven()
    driven.answer([fault()])
    driven.gathered(PEER)
    driven.throw(CollectiveFailed("the peer is gone"))
    assert type(driven.result) is Broken
    assert driven.balanced


def test_words_that_are_no_text_do_not_hide_the_failure() -> None:
    driven = Driven()
    driven.read(sample(0))
    driven.gathered(Report(failed=FailureCode.SOURCE))
    driven.answer(b"\xff\xfe")
    assert type(driven.result) is PeerFailed


def test_a_quota_over_a_source_without_a_sample_fails_instead_of_running_in_circles() -> None:
    driven = Driven(world_size=1, mode="quota", quota=3)
    driven.read()
    assert driven.own_report.failed == FailureCode.DRY
    driven.alone()
    assert type(driven.result) is DataError
    assert "give this rank samples" in str(driven.result)
    assert driven.balanced


def test_a_collate_error_leaves_the_rank_idle_for_the_steps_it_still_owes() -> None:
    error = Broken("cannot stack")
    driven = Driven(collate=BreaksAt(2, error))  # the idle batch, the first step, then this one
    driven.answer([sample(index, 8) for index in range(4)])
    driven.gathered(Report(offered=4, needed=4, units=4))
    driven.summed(ONE * 4)
    deliveries = driven.alone(until=Gather)
    assert [each.step.idle for each in deliveries] == [False, True, True, True]
    assert [each.step.index for each in deliveries] == [0, 1, 2, 3]
    assert all(each.step.weight == 0.0 for each in deliveries[1:])
    assert all(each.batch["index"] == [0] for each in deliveries[1:])
    assert driven.own_report.failed == FailureCode.COLLATE
    driven.gathered(PEER)
    assert isinstance(driven.request, Share)
    assert "Broken: cannot stack (collating samples" in driven.request.payload.decode()
    assert "in step 1" in driven.request.payload.decode()
    driven.answer(driven.request.payload)
    assert driven.result is error
    (note,) = error.__notes__
    assert "rank 0" in note
    assert driven.balanced
    assert (driven.ledger.delivered, driven.ledger.withdrawn) == (1, 3)


def test_a_collate_error_in_the_idle_batch_is_told_before_the_first_step() -> None:
    error = Broken("cannot stack")
    driven = Driven(collate=BreaksAt(0, error))
    driven.read(sample(0))
    assert driven.own_report == Report(
        offered=1, needed=1, units=1, exhausted=1, failed=FailureCode.COLLATE
    )
    driven.gathered(PEER)
    driven.answer(b"")
    assert driven.result is error
    assert "as an idle batch" in error.__notes__[0]
    assert (driven.ledger.steps, driven.ledger.withdrawn) == (0, 1)
    assert driven.balanced


@pytest.mark.parametrize("call", [0, 1, 2])
def test_a_collate_function_that_returns_nothing_is_an_error_wherever_it_does(call: int) -> None:
    driven = Driven(world_size=1, collate=BreaksAt(call))
    driven.answer([sample(index, 8) for index in range(4)])
    driven.alone()
    assert type(driven.result) is BadBatch
    assert "returned None" in str(driven.result)
    assert driven.balanced


def test_an_idle_batch_that_cannot_travel_is_an_error_on_lender_and_borrower() -> None:
    lender = Driven(collate=lambda values: {"function": lambda: None})
    lender.read(sample(0))
    lender.gathered(Report(exhausted=1))
    lender.summed([0] * 4, lacking=1)
    assert lender.request == Share(b"", 0)
    lender.answer(b"")
    borrower = Driven(rank=1)
    borrower.read()
    borrower.gathered(PEER)
    borrower.summed(ONE)
    assert borrower.request == Share(b"", 0)
    borrower.answer(b"")
    for driven in (lender, borrower):
        assert type(driven.result) is BadBatch
        assert "rank 0" in str(driven.result)
        assert "idle_batch=" in str(driven.result)
        assert driven.engine.state.phase == Phase.FAILED
        assert driven.balanced


def test_a_loop_that_leaves_after_a_failure_still_gets_its_error() -> None:
    error = Broken("cannot stack")
    driven = Driven(collate=BreaksAt(1, error))
    driven.answer([sample(index, 8) for index in range(4)])
    driven.gathered(Report(offered=4, needed=4, units=4))
    driven.summed(ONE * 4)
    driven.answer(False)
    driven.alone(until=Gather)
    assert driven.own_report.failed == FailureCode.COLLATE
    driven.gathered(PEER)
    driven.answer(b"")
    assert driven.result is error
    assert driven.balanced
