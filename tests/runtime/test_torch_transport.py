"""Collectives among real processes over Gloo: right answers, and an end to every wait."""

from __future__ import annotations

import os
import signal
import threading
import time
from datetime import timedelta
from typing import Any, cast

import pytest
from torch import distributed as dist

from dgap.protocol.errors import CollectiveFailed, ConfigError
from dgap.runtime.torch_transport import group_place, open_transport, wait_for
from dgap.runtime.transport import AloneTransport, Transport
from tests.processes import RankResult, run_ranks, values_of

LONG_S = 300.0
SHORT_S = 4.0  # a busy machine may keep a thread from its sign of life for a second or two
PAYLOADS = (b"", b"x", bytes(range(256)) * 500)


def run(target: Any, world_size: int = 2, arg: Any = None) -> list[RankResult]:
    return run_ranks(
        target,
        world_size=world_size,
        start_method="fork",
        args_per_rank=[arg] * world_size,
        timeout_s=120.0,  # enough for a machine that is busy otherwise
    )


def every_collective(rank: int, world_size: int, arg: Any) -> Any:
    transport = open_transport(None, timeout_s=LONG_S)
    try:
        return {
            "place": (transport.rank, transport.world_size),
            "gather": transport.gather([rank, 2**62 - rank]),
            "total": transport.total([rank + 1, 10**12]),
            "shared": [
                transport.share(payload if rank == origin else b"other", origin) == payload
                for origin in range(world_size)
                for payload in PAYLOADS
            ],
        }
    finally:
        transport.close()


def test_every_rank_gets_the_words_of_all_their_sums_and_any_ranks_payload() -> None:
    values = values_of(run(every_collective))
    for rank, value in enumerate(values):
        assert value["place"] == (rank, 2)
        assert value["gather"] == [[0, 2**62], [1, 2**62 - 1]]
        assert value["total"] == [3, 2 * 10**12]
        assert value["shared"] == [True] * 6


def collectives_of_a_subgroup(rank: int, world_size: int, arg: Any) -> Any:
    group = dist.new_group([0, 2])
    dist.barrier()  # a rank that left before all had met would be missed
    if rank == 1:
        try:
            open_transport(group, timeout_s=LONG_S)
        except ConfigError as error:
            return str(error)
    transport = open_transport(group, timeout_s=LONG_S)
    try:
        return group_place(group), transport.gather([rank]), transport.share(b"%d" % rank, 1)
    finally:
        transport.close()


def test_ranks_count_within_their_group_and_one_outside_is_refused() -> None:
    first, outside, last = values_of(run(collectives_of_a_subgroup, world_size=3))
    assert first == ((0, 2), [[0], [2]], b"2")
    assert last == ((1, 2), [[0], [2]], b"2")
    assert "rank 1 is not in the loader's process group" in outside


def one_after_the_other(rank: int, world_size: int, arg: Any) -> Any:
    seen: list[Any] = []
    for turn in range(3):
        transport = open_transport(None, timeout_s=LONG_S)
        seen.append(transport.gather([10 * turn + rank]))
        transport.close()
        transport.close()
        seen.append(transport.closed)
    return seen


def test_a_transport_can_be_opened_after_another_was_closed() -> None:
    expected = [[[0], [1]], True, [[10], [11]], True, [[20], [21]], True]
    assert values_of(run(one_after_the_other)) == [expected, expected]


def outcome(transport: Transport, words: list[int]) -> tuple[str, tuple[int, ...], str]:
    """What a gather that must fail raises: its type, the ranks it names, its text."""
    try:
        transport.gather(words)
    except CollectiveFailed as error:
        return type(error).__name__, error.ranks, str(error)
    return "nothing", (), ""


def gather_with_a_killed_peer(rank: int, world_size: int, arg: Any) -> Any:
    transport = open_transport(None, timeout_s=LONG_S)
    transport.gather([rank])
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    started_s = time.monotonic()
    first = outcome(transport, [rank])
    after_s = time.monotonic() - started_s
    return first, after_s, transport.closed, outcome(transport, [rank])


def test_a_killed_peer_is_noticed_at_once_and_the_connections_are_given_up() -> None:
    survivor, killed = run(gather_with_a_killed_peer)
    assert killed.error is not None
    (first, after_s, closed, second) = survivor.value
    assert first[0] == "CollectiveFailed"
    assert "closed its connection" in first[2]
    assert closed
    assert second[0] == "CollectiveFailed"
    assert "given up" in second[2]
    assert after_s < LONG_S / 10


def gather_with_a_stopped_peer(rank: int, world_size: int, stopped: int) -> Any:
    transport = open_transport(None, timeout_s=SHORT_S)
    pids = transport.gather([os.getpid()])
    if rank == stopped:
        os.kill(os.getpid(), signal.SIGSTOP)
    seen = outcome(transport, [rank])
    os.kill(pids[stopped][0], signal.SIGKILL)
    return seen


@pytest.mark.parametrize("stopped", [0, 1], ids=["the host of the store", "another rank"])
def test_a_stopped_peer_is_named_after_the_timeout(stopped: int) -> None:
    results = run(gather_with_a_stopped_peer, arg=stopped)
    survivor = results[1 - stopped]
    assert survivor.error is None, survivor
    kind, ranks, text = survivor.value
    assert (kind, ranks) == ("CollectiveFailed", (stopped,))
    assert f"rank(s) {stopped}" in text


def gather_with_pausing_peers(rank: int, world_size: int, arg: Any) -> Any:
    transport = open_transport(None, timeout_s=SHORT_S)
    vectors = []
    for pausing in range(world_size):
        if rank == pausing:
            threading.Event().wait(1.5 * SHORT_S)  # an evaluation, say: nothing of ours is called
        vectors.append(transport.gather([rank]))
    transport.close()
    return vectors


def test_a_peer_whose_loop_pauses_for_longer_than_the_timeout_is_waited_for() -> None:
    assert values_of(run(gather_with_pausing_peers)) == [[[[0], [1]]] * 2] * 2


def open_without_the_peer(rank: int, world_size: int, arg: Any) -> Any:
    dist.barrier()
    if rank == 1:
        return None
    try:
        open_transport(None, timeout_s=SHORT_S)
    except CollectiveFailed as error:
        return str(error)


def test_a_peer_that_never_comes_is_an_error_with_advice() -> None:
    alone, _ = values_of(run(open_without_the_peer))
    assert alone is not None


def close_while_waiting(rank: int, world_size: int, arg: Any) -> Any:
    transport = open_transport(None, timeout_s=SHORT_S)
    if rank == 1:
        dist.barrier()
        return outcome(transport, [rank])[0]
    seen: list[Any] = []
    waiting = threading.Thread(target=lambda: seen.append(outcome(transport, [rank])), daemon=True)
    waiting.start()
    waiting.join(0.2)  # so that it is inside, most of the time; it fails alike if it is not
    transport.close()
    waiting.join(20.0)
    dist.barrier()
    return seen


def test_closing_ends_a_wait_in_another_thread_and_the_peer_does_not_wait_for_ever() -> None:
    (seen, peer) = values_of(run(close_while_waiting))
    ((kind, _, text),) = seen
    assert kind == "CollectiveFailed"
    assert "given up" in text
    assert peer in ("CollectiveFailed", "nothing")


def test_without_a_process_group_a_rank_is_alone() -> None:
    assert group_place(None) == (0, 1)
    assert isinstance(open_transport(None, timeout_s=1.0), AloneTransport)


class FakeWork:
    """A collective whose wait runs out of time although it is complete a moment later."""

    def __init__(self, *, complete: bool, error: str = "") -> None:
        self.complete = complete
        self.error = error
        self.waits = 0

    def wait(self, timeout: timedelta | None = None) -> bool:
        self.waits += 1
        if timeout is not None:
            raise RuntimeError("timed out")
        if self.error:
            raise RuntimeError(self.error)
        return True

    def is_completed(self) -> bool:
        return self.complete


def ask(work: FakeWork) -> bool:
    return wait_for(cast(dist.Work, work), timedelta(seconds=1))


def test_a_collective_that_completes_just_after_its_slice_is_complete_and_not_failed() -> None:
    assert ask(FakeWork(complete=True))


def test_a_collective_that_failed_raises_and_one_under_way_is_waited_for_again() -> None:
    with pytest.raises(RuntimeError, match="connection reset"):
        ask(FakeWork(complete=True, error="connection reset"))
    assert not ask(FakeWork(complete=False))
