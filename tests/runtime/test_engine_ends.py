"""Loops that leave and collectives that fail, at every request the engine can make."""

from __future__ import annotations

from typing import Any

import pytest

from dgap.protocol.codec import GREETING_SIZE
from dgap.protocol.errors import (
    CollectiveFailed,
    PeerStopped,
)
from dgap.protocol.vocabulary import Phase, Report
from dgap.runtime.requests import (
    Deliver,
    Gather,
    Pull,
    Request,
    Restart,
    Share,
    SourceSignal,
    Total,
)
from tests.runtime.drive import NOT_ENDED, Driven, sample

PEER = Report(offered=1, needed=1, units=1)
ONE = [1, 1, 1, 1]


@pytest.mark.parametrize("taken", [0, 1, 2, 3])
def test_a_loop_that_leaves_is_told_to_the_peers_after_the_steps_it_owes(taken: int) -> None:
    driven = Driven()
    driven.answer([sample(index, 8) for index in range(4)])
    driven.gathered(Report(offered=4, needed=4, units=4))
    driven.summed(ONE * 4)
    for step in range(4):
        assert isinstance(driven.request, Deliver)
        assert driven.request.step.index == step
        assert driven.request.step.idle == (step > taken)
        driven.answer(step < taken)
    assert driven.own_report.stopped == 1
    driven.gathered(PEER)
    assert driven.result is None
    assert driven.engine.state.phase == Phase.CLOSED
    assert driven.balanced
    assert (driven.ledger.delivered, driven.ledger.withdrawn) == (taken + 1, 3 - taken)


def test_a_peer_that_left_is_raised_with_its_rank_and_the_step() -> None:
    driven = Driven(world_size=3)
    driven.answer([sample(index) for index in range(4)])
    driven.gathered(Report(stopped=1), Report(stopped=1))
    assert type(driven.result) is PeerStopped
    assert (driven.result.rank, driven.result.step) == (1, 0)
    assert driven.balanced


def test_ranks_that_leave_together_raise_nothing() -> None:
    driven = Driven()
    driven.answer([sample(0)])
    driven.answer(SourceSignal.LEFT)
    driven.gathered(Report(stopped=1))
    assert driven.result is None
    assert driven.balanced


def feed(driven: Driven, request: Request, fed: list[int]) -> Any:
    """The answer of a world of one rank whose source has two passes of three samples."""
    match request:
        case Pull():
            if fed and fed[-1] % 3 == 2 and driven.engine.state.read:
                return SourceSignal.ENDED
            fed.append(fed[-1] + 1 if fed else 0)
            return [sample(fed[-1] % 3, 8)]
        case Gather(words):
            return [list(words)]
        case Total(words):
            return [*words[:-1], 1]  # somebody lacks an idle batch: one is shared
        case Share(payload, _):
            return payload
        case Restart():
            return None
    return True


def run_until(broken_at: int) -> tuple[Driven, Request | None]:
    """Throw CollectiveFailed at the request of this number; the request, None if there is none."""
    driven = Driven(world_size=1, mode="quota", quota=5, window=2, first_window=2)
    fed: list[int] = []
    for number in range(200):
        request = driven.request
        if request is None:
            return driven, None
        if number == broken_at:
            driven.throw(CollectiveFailed("gone"))
            return driven, request
        driven.answer(feed(driven, request, fed))
    raise AssertionError("the epoch does not end")


def test_a_collective_that_fails_at_any_request_ends_the_epoch_with_that_error() -> None:
    whole, nothing = run_until(-1)
    assert (whole.result, nothing, whole.ledger.balance) == (None, None, 0)
    seen = set()
    for number in range(200):
        driven, request = run_until(number)
        if request is None:
            break
        seen.add(type(request))
        assert type(driven.result) is CollectiveFailed, request
        assert driven.engine.state.phase == Phase.FAILED
        assert driven.balanced, (number, request)
    assert seen == {Pull, Gather, Total, Share, Deliver, Restart}


def test_a_defect_is_not_taken_for_a_failed_collective() -> None:
    driven = Driven()
    driven.read(sample(0))
    with pytest.raises(ZeroDivisionError):
        driven.throw(ZeroDivisionError())
    assert driven.result is NOT_ENDED


def test_the_greeting_is_sent_once() -> None:
    driven = Driven(world_size=1)
    driven.answer([sample(index) for index in range(8)])
    lengths = []
    while not driven.ended:
        driven.alone(until=Gather)
        if driven.request is not None:
            lengths.append(len(driven.own_words))
            driven.answer([list(driven.own_words)])
    size = len(Report._fields)
    assert lengths == [GREETING_SIZE + size, *[size] * (len(lengths) - 1)]
    assert len(lengths) > 1
