"""Runs are isolated: answers by rank, failures as words, nothing left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest
import torch
import torch.distributed as dist

from benchmarks.cells import run_cell
from benchmarks.memory import descendants, proportional_bytes

WAITS = "import threading; threading.Event().wait(60)"


def summed_rank(rank: int) -> int:
    total = torch.tensor([rank + 1])
    dist.all_reduce(total)
    return int(total)


def test_ranks_answer_in_order_and_can_talk() -> None:
    assert run_cell(summed_rank, 2, timeout_s=60).answers == (3, 3)


def test_an_error_of_a_rank_is_a_failed_run_with_its_reason() -> None:
    def fail(rank: int) -> int:
        raise KeyError(f"rank {rank}")

    cell = run_cell(fail, 1, timeout_s=60)
    assert cell.answers == ()
    assert "KeyError" in cell.failure


def test_a_run_beyond_its_time_is_ended() -> None:
    cell = run_cell(lambda rank: threading.Event().wait(60), 1, timeout_s=0.2)
    assert "did not end within 0.2 s" in cell.failure


def test_what_a_rank_leaves_behind_is_ended_and_paid_for() -> None:
    before = set(descendants(os.getpid()))

    def leave_a_child(rank: int) -> int:
        return subprocess.Popen([sys.executable, "-c", WAITS]).pid

    cell = run_cell(leave_a_child, 1, timeout_s=60)
    assert set(descendants(os.getpid())) <= before
    assert cell.cpu_s > 0


@pytest.mark.skipif(not os.path.exists("/proc/self/smaps_rollup"), reason="only Linux counts PSS")
def test_memory_of_a_process_is_counted() -> None:
    assert proportional_bytes(os.getpid()) > 1_000_000
    assert proportional_bytes(2**30) == 0
