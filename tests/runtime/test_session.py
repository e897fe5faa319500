"""A session: threads and queues around one engine, with every way out of them bounded."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from dgap.protocol.errors import CollectiveFailed
from dgap.protocol.machine import Machine
from dgap.protocol.vocabulary import Report
from dgap.runtime.assembly import new_engine
from dgap.runtime.config import LoaderConfig
from dgap.runtime.intake import Intake
from dgap.runtime.ledger import Ledger
from dgap.runtime.session import Session
from dgap.runtime.transport import AloneTransport, Transport
from tests.runtime.drive import listed, sample
from tests.runtime.leftovers import LIMIT_S, Leftovers
from tests.runtime.surroundings import ListSource, PeerTransport


def session(
    size: int = 6,
    *,
    transport: Transport | None = None,
    collate: Callable[[list[Any]], Any] = listed,
    queue_size: int = 4,
    costs: Sequence[int] = (),
    **settings: Any,
) -> Session:
    config = LoaderConfig(**{"token_budget": 8, "window": 4, **settings})
    ledger = Ledger()
    transport = transport or AloneTransport()
    return Session(
        engine=new_engine(
            Machine(config.settings()),
            config,
            epoch=0,
            rank=transport.rank,
            world_size=transport.world_size,
            collate=collate,
            ledger=ledger,
        ),
        source=ListSource([sample(index, cost) for index, cost in enumerate(costs or [8] * size)]),
        intake=Intake(config, ledger),
        transport=transport,
        queue_size=queue_size,
    )


def test_a_session_hands_over_the_epoch_and_ends_with_its_threads() -> None:
    with Leftovers():
        running = session(6)
        running.start()
        items = list(running.items())
        assert sorted(batch["index"][0] for batch, _ in items) == list(range(6))
        assert [step.index for _, step in items] == list(range(6))
        assert running.close(LIMIT_S)


def test_asking_again_after_the_end_ends_at_once() -> None:
    running = session(2)
    running.start()
    list(running.items())
    running.close(LIMIT_S)
    assert list(running.items()) == []


def test_what_ends_the_epoch_comes_behind_the_batches_made_before_it() -> None:
    def collate(values: list[Any]) -> Any:
        if values[0]["index"] == 5:
            raise KeyError("labels")
        return listed(values)

    running = session(8, collate=collate)
    running.start()
    taken: list[int] = []

    def train() -> None:
        for batch, step in running.items():
            assert not step.idle  # no peer waits for the steps that a failed rank owes
            taken.extend(batch["index"])

    with pytest.raises(KeyError):
        train()
    assert 0 < len(taken) < 8
    assert set(taken) >= {0, 1, 2, 3}
    assert running.close(LIMIT_S)
    assert running.engine.ledger.balance == 0


def test_a_loop_that_takes_nothing_holds_the_engine_back() -> None:
    calls = threading.Semaphore(0)

    def collate(values: list[Any]) -> Any:
        calls.release()
        return listed(values)

    running = session(200, collate=collate, queue_size=2)
    running.start()
    made = 0
    while calls.acquire(timeout=0.3):
        made += 1
    assert made == 4  # the idle batch, two in the queue, one in hand
    with Leftovers():
        assert running.close(LIMIT_S)


def test_a_loop_that_leaves_ends_source_and_engine() -> None:
    with Leftovers():
        running = session(50, queue_size=1)
        running.start()
        next(running.items())
        assert running.close(LIMIT_S)
        assert running.engine.state.stopped == 1
        assert running.engine.ledger.balance == 0


def test_leaving_does_not_wait_longer_than_it_was_told_to() -> None:
    entered, released = threading.Event(), threading.Event()

    def meet() -> None:
        entered.set()
        released.wait(LIMIT_S)

    running = session(1, transport=PeerTransport(Report(), meet))
    running.start()
    assert entered.wait(LIMIT_S)
    assert not running.close(0.01)
    released.set()
    assert running.join(LIMIT_S)


@pytest.mark.parametrize("error", [CollectiveFailed("gone"), ValueError("a defect")])
def test_a_transport_that_fails_is_raised_in_the_loop(error: Exception) -> None:
    def meet() -> None:
        raise error

    transport = PeerTransport(Report(), meet)
    running = session(1, transport=transport)
    running.start()
    with pytest.raises(type(error)):
        list(running.items())
    assert running.close(LIMIT_S)
    # What is no failure of the transport is a defect of ours: the peers must not wait for us.
    assert transport.given_up == isinstance(error, ValueError)


def test_a_collate_function_that_exits_reaches_the_loop_and_the_peers() -> None:
    def leave(values: list[Any]) -> Any:
        raise SystemExit(7)

    transport = PeerTransport(Report(offered=1, needed=1, units=1))
    running = session(1, transport=transport, collate=leave)
    running.start()
    with pytest.raises(SystemExit):
        list(running.items())
    assert transport.given_up


def test_samples_that_a_policy_skips_are_not_taken_for_the_end_of_the_source() -> None:
    running = session(costs=[0, 0, 0, 8, 0, 8], on_empty="skip")
    running.start()
    assert sorted(batch["index"][0] for batch, _ in running.items()) == [3, 5]
    assert running.engine.ledger.skipped_empty == 4
    running.close(LIMIT_S)


def test_a_quota_reads_the_source_again() -> None:
    running = session(2, mode="quota", quota=5)
    running.start()
    assert len(list(running.items())) == 5
    assert running.engine.ledger.passes == 3
    running.close(LIMIT_S)


def test_an_iterator_that_ended_first_leaves_its_engine_with_the_peers() -> None:
    rounds, released = threading.Semaphore(0), threading.Event()
    peer = PeerTransport(Report(offered=1, needed=1, units=1))

    def meet() -> None:
        rounds.release()
        if running.engine.state.ended:
            released.wait(LIMIT_S)

    peer.meet = meet
    with Leftovers():
        running = session(1, transport=peer, tail="stop")
        running.start()
        assert len(list(running.items())) == 1
        assert not running.close(LIMIT_S)  # at once, and without telling anybody to stop
        assert running.engine.state.stopped == 0
        peer.peer = Report(exhausted=1)
        released.set()
        assert running.join(LIMIT_S)
        assert running.engine.state.stopped == 0


def test_giving_up_the_connections_ends_an_engine_that_waits_in_them() -> None:
    entered = threading.Event()

    class Waiting(PeerTransport):
        def close(self) -> None:
            super().close()
            closed.set()

    def meet() -> None:
        entered.set()
        assert closed.wait(LIMIT_S)
        threading.Event().wait(0.2)  # Gloo notices with a delay
        raise CollectiveFailed("given up")

    closed = threading.Event()
    running = session(1, transport=Waiting(Report(), meet))
    running.start()
    assert entered.wait(LIMIT_S)
    assert not running.close(0.01)
    running.close_transport(LIMIT_S)
    assert running.join(0.0)


def test_connections_that_the_peers_still_need_are_given_up_when_the_engine_ends() -> None:
    released = threading.Event()
    given_up = threading.Event()

    class Needed(PeerTransport):
        def close(self) -> None:
            given_up.set()

    def meet() -> None:
        if running.engine.state.ended:
            assert released.wait(LIMIT_S)

    transport = Needed(Report(offered=1, needed=1, units=1), meet)
    with Leftovers():
        running = session(1, transport=transport, tail="stop")
        running.start()
        list(running.items())
        running.close_transport(0.01)
        assert not given_up.is_set()
        transport.peer = Report(exhausted=1)
        released.set()
        assert given_up.wait(LIMIT_S)


def test_a_session_that_was_never_started_can_be_closed() -> None:
    assert session(1).close(0.01)
