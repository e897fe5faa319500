"""Ranks come together however many groups lived and died before, and not for ever."""

from __future__ import annotations

import time

import pytest
from torch import distributed

from dgap.protocol.errors import CollectiveFailed
from dgap.runtime.torch_transport import open_transport
from tests.processes import run_ranks, values_of


def open_close_and_open_again(rank: int, world_size: int, arg: None) -> list[list[list[int]]]:
    seen = []
    for round_index in range(3):
        transport = open_transport(None, timeout_s=20.0)
        seen.append(transport.gather([rank, round_index]))
        transport.close()
    return seen


def meet_after_a_group_of_one(rank: int, world_size: int, arg: None) -> list[list[int]]:
    """Rank 0 alone is a member of one more group."""
    if rank == 0:
        distributed.new_group([0], backend="gloo", use_local_synchronization=True)
    transport = open_transport(None, timeout_s=20.0)
    return transport.gather([rank])


def two_open_at_once(rank: int, world_size: int, arg: None) -> tuple[list[int], list[int]]:
    first = open_transport(None, timeout_s=20.0)
    second = open_transport(None, timeout_s=20.0)
    return second.total([1]), first.total([rank])


def meet_in_a_part_of_the_job(rank: int, world_size: int, arg: None) -> bytes | None:
    group = distributed.new_group([2, 1], backend="gloo")
    if rank == 0:
        return None
    transport = open_transport(group, timeout_s=20.0)
    return transport.share(f"rank {transport.rank} was {rank}".encode(), 1)


def wait_for_a_rank_that_never_comes(rank: int, world_size: int, arg: None) -> float:
    end = distributed.new_group([0, 1], backend="gloo")
    started_s = time.monotonic()
    if rank == 0:
        with pytest.raises(CollectiveFailed, match="not all ranks asked for their first batch"):
            open_transport(None, timeout_s=1.0)
    waited_s = time.monotonic() - started_s
    distributed.barrier(end)
    return waited_s


def test_a_transport_opened_after_another_was_closed_reaches_the_same_peers() -> None:
    values = values_of(run_ranks(open_close_and_open_again, world_size=2, start_method="fork"))
    assert values[0] == values[1] == [[[0, number], [1, number]] for number in range(3)]


def test_ranks_meet_although_they_are_members_of_different_numbers_of_groups() -> None:
    values = values_of(run_ranks(meet_after_a_group_of_one, world_size=2, start_method="fork"))
    assert values == [[[0], [1]]] * 2


def test_two_transports_at_once_do_not_hear_each_other() -> None:
    values = values_of(run_ranks(two_open_at_once, world_size=2, start_method="fork"))
    assert values == [([2], [1])] * 2


def test_a_group_of_some_ranks_is_enough() -> None:
    values = values_of(run_ranks(meet_in_a_part_of_the_job, world_size=3, start_method="fork"))
    assert values == [None, b"rank 1 was 2", b"rank 1 was 2"]


def test_a_rank_that_never_comes_is_not_waited_for_for_ever() -> None:
    values = values_of(
        run_ranks(wait_for_a_rank_that_never_comes, world_size=2, start_method="fork")
    )
    assert 1.0 <= values[0] < 10.0
