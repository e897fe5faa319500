"""A process that ends in the middle of an epoch ends, and its peers hear of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.tracing import new_trace_folder

PROGRAM = """
import sys
import torch
from torch import distributed as dist
from dgap.runtime import CollectiveFailed, DynamicBatchLoader, PeerStopped, loader as module

module.LEAVE_WAIT_S = 0.5  # for a faster test: nobody will hear of it in time
rank, address, trace_dir = int(sys.argv[1]), sys.argv[2], sys.argv[3]
dist.init_process_group("gloo", init_method=address, rank=rank, world_size=2)
samples = [{"input_ids": torch.full((3,), number)} for number in range(100)]
loader = DynamicBatchLoader(
    samples, collate_fn=len, token_budget=6, window=4, queue_size=1, timeout_s=300.0,
    trace_dir=trace_dir or None,
)
try:
    for batch in loader:
        if rank == 0:
            raise KeyError("the training loop of rank 0")
        sys.stdin.read()  # a long evaluation
except (CollectiveFailed, PeerStopped):
    print("told")
"""


def test_a_loop_that_fails_while_its_peer_pauses_ends_its_process_and_the_peer_is_told(
    tmp_path: Path,
) -> None:
    root = Path(__file__).parents[2] / ".ci" / "import_root"
    program = f"import sys; sys.path.insert(0, {str(root)!r})\n{PROGRAM}"
    traces = new_trace_folder("loop_that_fails", killed=True) or ""
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    failing, pausing = (
        subprocess.Popen(
            [sys.executable, "-c", program, str(rank), f"file://{tmp_path}/meet", traces],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            text=True,
        )
        for rank in range(2)
    )
    try:
        _, errors = failing.communicate(timeout=60.0)
        assert "KeyError: 'the training loop of rank 0'" in errors
        assert failing.returncode == 1
        output, errors = pausing.communicate(timeout=60.0)
        assert output.split() == ["told"], errors
    finally:
        for process in (failing, pausing):
            process.kill()
            process.wait(20.0)
