"""The harness itself: every way in which a rank can end, under both start methods."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import pytest

from tests.processes import START_METHODS, RanksHung, StartMethod, run_ranks, values_of

both_start_methods = pytest.mark.parametrize("start_method", START_METHODS)


def sum_over_ranks(rank: int, world_size: int, arg: int) -> tuple[int, int, int]:
    import torch
    from torch import distributed

    total = torch.tensor(arg)
    distributed.all_reduce(total)
    return rank, world_size, int(total)


def raise_on_rank_1(rank: int, world_size: int, arg: None) -> str:
    print(f"rank {rank} says hello")
    if rank == 1:
        raise KeyError("no such sample")
    return "fine"


class HasKeywordOnlyArguments(Exception):
    def __init__(self, message: str, *, step: int) -> None:
        super().__init__(message)
        self.step = step
        self.lock = threading.Lock()


def raise_what_does_not_pickle(rank: int, world_size: int, arg: None) -> None:
    raise HasKeywordOnlyArguments("stopped", step=7)


def return_what_does_not_pickle(rank: int, world_size: int, arg: None) -> object:
    return threading.Lock()


def wait_for_a_peer_that_left(rank: int, world_size: int, arg: None) -> None:
    if rank == 0:
        never_set = threading.Event()
        never_set.wait()


def kill_rank_0(rank: int, world_size: int, arg: None) -> int:
    if rank == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return rank


def crash_after_returning(rank: int, world_size: int, arg: None) -> int:
    from multiprocessing.util import Finalize

    Finalize(None, os._exit, args=(3,), exitpriority=0)
    return rank


def leave_a_process_behind(rank: int, world_size: int, arg: None) -> int:
    command = [sys.executable, "-c", "import signal; signal.pause()"]
    return subprocess.Popen(command).pid


def default_start_method(rank: int, world_size: int, arg: None) -> str:
    import multiprocessing

    return multiprocessing.get_start_method()


def return_bytes(rank: int, world_size: int, arg: int) -> bytes:
    return bytes(arg)


@both_start_methods
def test_ranks_meet_in_a_collective_and_return_in_rank_order(start_method: StartMethod) -> None:
    results = run_ranks(
        sum_over_ranks, world_size=2, start_method=start_method, args_per_rank=[30, 12]
    )
    assert values_of(results) == [(0, 2, 42), (1, 2, 42)]


@both_start_methods
def test_a_raising_rank_is_a_result_and_its_peers_are_unharmed(start_method: StartMethod) -> None:
    healthy, failing = run_ranks(
        raise_on_rank_1, world_size=2, start_method=start_method, init_group=False
    )
    assert (healthy.value, healthy.error) == ("fine", None)
    assert healthy.output == "rank 0 says hello\n"
    assert failing.error is not None
    assert failing.error.type_name == "KeyError"
    assert "raise_on_rank_1" in failing.error.traceback
    assert isinstance(failing.error.exception, KeyError)
    with pytest.raises(AssertionError, match="rank 1: KeyError: 'no such sample'"):
        values_of([healthy, failing])


@both_start_methods
def test_a_hanging_rank_is_ended_and_all_stacks_are_shown(start_method: StartMethod) -> None:
    before_s = time.monotonic()
    with pytest.raises(RanksHung) as caught:
        run_ranks(
            wait_for_a_peer_that_left,
            world_size=2,
            start_method=start_method,
            timeout_s=8.0,
            init_group=False,
        )
    message = str(caught.value)
    assert "rank(s) 0 of 2 were still running" in message
    assert "in wait_for_a_peer_that_left" in message
    assert "rank 1 (ended: (None, None))" in message
    assert time.monotonic() - before_s < 16.0


@both_start_methods
def test_a_killed_rank_is_named_with_its_signal(start_method: StartMethod) -> None:
    killed, survivor = run_ranks(
        kill_rank_0, world_size=2, start_method=start_method, init_group=False
    )
    assert killed.error is not None
    assert killed.error.type_name == "ProcessDied"
    assert killed.error.message == "ended with exit code -9 without a result"
    assert survivor.value == 1


@both_start_methods
def test_workers_of_a_rank_start_by_the_same_method(start_method: StartMethod) -> None:
    results = run_ranks(
        default_start_method, world_size=1, start_method=start_method, init_group=False
    )
    assert values_of(results) == [start_method]


def run_one(target: Any, arg: Any = None) -> Any:
    """One rank by fork, the quick start method, without a process group."""
    results = run_ranks(
        target, world_size=1, start_method="fork", args_per_rank=[arg], init_group=False
    )
    return results[0]


def test_an_exception_that_cannot_be_pickled_keeps_its_name_message_and_attributes() -> None:
    error = run_one(raise_what_does_not_pickle).error
    assert (error.type_name, error.message) == ("HasKeywordOnlyArguments", "stopped")
    assert error.attributes == {"step": 7}
    assert error.exception is None


def test_a_value_that_cannot_be_pickled_is_an_error_of_that_rank() -> None:
    error = run_one(return_what_does_not_pickle).error
    assert error.type_name == "TypeError"
    assert "pickle" in error.message


def test_a_crash_after_returning_is_not_taken_for_success() -> None:
    error = run_one(crash_after_returning).error
    assert error.message == "ended with exit code 3 after it had returned"


def test_a_result_larger_than_a_pipe_arrives() -> None:
    assert len(run_one(return_bytes, 1 << 20).value) == 1 << 20


def test_what_a_rank_started_does_not_outlive_the_call() -> None:
    pid = run_one(leave_a_process_behind).value
    try:
        exit_fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    from multiprocessing.connection import wait

    assert wait([exit_fd], timeout=10.0), f"process {pid} is still alive"
    os.close(exit_fd)


def test_one_argument_per_rank_is_required() -> None:
    with pytest.raises(ValueError, match="1 arguments for 2 ranks"):
        run_ranks(return_bytes, world_size=2, args_per_rank=[1])
