"""The inside of a rank that `tests/processes.py` started: runs the target, sends the outcome."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import pickle
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal

from tests.tracing import trace_every_epoch

Target = Callable[[int, int, Any], Any]
StartMethod = Literal["spawn", "fork"]


@dataclass(frozen=True, kw_only=True)
class RankError:
    """What a rank raised, in words; and the exception itself where it survives pickling.

    `type_name` is "ProcessDied" for a rank that ended without a result (killed, crashed).
    `attributes` holds what the exception carries (`rank`, `step`, ...) as far as it pickles.
    """

    type_name: str
    message: str
    traceback: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)
    exception: BaseException | None = None


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What all ranks of one call share; travels to the child by pickle."""

    world_size: int
    folder: str
    start_method: StartMethod
    init_group: bool
    collective_timeout_s: float
    trace_folder: str | None = None

    def log_path(self, rank: int) -> Path:
        return Path(self.folder, f"rank-{rank}.log")


def rank_main(setup: Setup, rank: int, target: Target, arg: Any, writer: Connection) -> None:
    """Runs in the rank: sends (value, error) through `writer`, whatever happens."""
    _prepare(setup, rank)
    try:
        value, error = _run_target(setup, rank, target, arg), None
    except BaseException as raised:  # whatever a rank raises is its result
        value, error = None, _describe(raised)
    try:
        message = pickle.dumps((value, error))
    except Exception as raised:  # pickle raises what the value's __reduce__ does
        message = pickle.dumps((None, _describe(raised)))
    writer.send_bytes(message)
    writer.close()


def _prepare(setup: Setup, rank: int) -> None:
    os.setsid()
    log_fd = os.open(setup.log_path(rank), os.O_WRONLY | os.O_APPEND)
    for fd in (1, 2):
        os.dup2(log_fd, fd)
    # chain=True runs the default action of SIGUSR1 after the dump, which ends the process: the
    # parent waits for that exit and so knows that the dump is complete.
    faulthandler.register(signal.SIGUSR1, file=log_fd, all_threads=True, chain=True)
    faulthandler.enable(file=log_fd)
    multiprocessing.set_start_method(setup.start_method, force=True)
    # One thread per rank: W ranks share the cores. The variable is for a torch yet to be imported.
    os.environ["OMP_NUM_THREADS"] = "1"
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)
    if setup.trace_folder is not None:
        trace_every_epoch(setup.trace_folder)


def _run_target(setup: Setup, rank: int, target: Target, arg: Any) -> Any:
    if not setup.init_group:
        return target(rank, setup.world_size, arg)
    from torch import distributed

    if any(name == "lo" for _, name in socket.if_nameindex()):
        os.environ["GLOO_SOCKET_IFNAME"] = "lo"  # a host name need not resolve on a test machine
    distributed.init_process_group(
        "gloo",
        init_method=f"file://{setup.folder}/rendezvous",
        rank=rank,
        world_size=setup.world_size,
        timeout=timedelta(seconds=setup.collective_timeout_s),
    )
    try:
        return target(rank, setup.world_size, arg)
    finally:
        distributed.destroy_process_group()


def _describe(raised: BaseException) -> RankError:
    attributes = {name: value for name, value in vars(raised).items() if _survives_pickling(value)}
    return RankError(
        type_name=type(raised).__name__,
        message=str(raised),
        traceback="".join(traceback.format_exception(raised)),
        attributes=attributes,
        exception=raised if _survives_pickling(raised) else None,
    )


def _survives_pickling(value: object) -> bool:
    try:
        pickle.loads(pickle.dumps(value))
    except Exception:  # pickle raises whatever a class's own hooks raise
        return False
    return True
