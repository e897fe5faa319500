"""Loops that leave: break, close, loaders side by side, ranks that are killed.

What a rank does is a function `leave_...` that runs in it; several run in one set of processes.
"""

from __future__ import annotations

import gc
import os
import signal
import time
from functools import cache
from typing import Any
from unittest.mock import patch

import pytest
from torch import distributed

from dgap.runtime import DynamicBatchLoader
from dgap.runtime import loader as loader_module
from tests.laws.laws import Setting, violations
from tests.laws.records import Epoch, Raised, meet, run_epoch
from tests.laws.samples import InOrder, Uneven, pad
from tests.processes import START_METHODS, StartMethod, run_ranks, values_of

WORLD_SIZE = 3
BUDGET, COST, SIZE = 40, 10, 60
TAILS = ("idle", "stop")
both_start_methods = pytest.mark.parametrize("start_method", START_METHODS)
both_tails = pytest.mark.parametrize("tail", TAILS)


def new_loader(rank: int, size: int = SIZE, **settings: Any) -> DynamicBatchLoader:
    return DynamicBatchLoader(
        Uneven(rank, (COST,) * size),
        collate_fn=pad,
        sampler=InOrder(size),
        **{
            "token_budget": BUDGET,
            "window": 8,
            "first_window": 4,
            "timeout_s": 60.0,
            "queue_size": 2,
            **settings,
        },
    )


def setting_of(sizes: tuple[int, ...], tail: str = "idle") -> Setting:
    sources = [Uneven(rank, (COST,) * size) for rank, size in enumerate(sizes)]
    identities = tuple(tuple(map(source.identity, range(len(source)))) for source in sources)
    costs = {each: COST for own in identities for each in own}
    return Setting(budget=BUDGET, costs=costs, identities=identities, tail=tail)


def leave_on_one_rank(rank: int, tail: str) -> list[Epoch]:
    """Rank 1 breaks after 3 steps; then all ranks run a whole epoch of the same loader."""
    loader = new_loader(rank, tail=tail)
    left = run_epoch(loader, rank=rank, break_after=3 if rank == 1 else None)
    whole = run_epoch(loader, rank=rank, work=meet)
    loader.close()
    return [left, whole]


def leave_on_all_ranks(rank: int, tail: str) -> list[Epoch]:
    """All break after 2 steps, twice; then a whole epoch."""
    loader = new_loader(rank, tail=tail)
    left = [run_epoch(loader, rank=rank, work=meet, break_after=2) for _ in range(2)]
    whole = run_epoch(loader, rank=rank, work=meet)
    loader.close()
    return [*left, whole]


def leave_by_close(rank: int, tail: str) -> list[Epoch]:
    """Rank 2 closes its loader in the middle of the epoch."""
    loader = new_loader(rank, tail=tail)

    def close_in_step_1(_: Any, step: Any) -> None:
        if rank == 2 and step.index == 1:
            loader.close()

    left = run_epoch(loader, rank=rank, work=close_in_step_1)
    loader.close()
    return [left]


def leave_before_the_peers(rank: int, tail: str) -> list[Epoch]:
    """Under "stop" rank 0 is done after its first samples, and closes; the peers go on after."""
    loader = new_loader(rank, size=4 if rank == 0 else SIZE, tail="stop")
    met = False

    def wait_for_the_close_of_rank_0(_: Any, step: Any) -> None:
        nonlocal met
        if rank > 0 and not met and step.index > 4:
            distributed.barrier()
            met = True

    epoch = run_epoch(loader, rank=rank, work=wait_for_the_close_of_rank_0)
    loader.close(wait_s=0.1)
    if not met:
        distributed.barrier()
    return [epoch]


def evaluate_within_training(rank: int, tail: str) -> list[Epoch]:
    """Two loaders alive at once: a whole evaluation between two steps of training, three times."""
    training = new_loader(rank, tail=tail)
    evaluation = new_loader(rank, size=20 + rank, tail="idle")
    evaluations = []

    def evaluate(_: Any, step: Any) -> None:
        if step.index in (0, 2, 5):
            evaluations.append(run_epoch(evaluation, rank=rank, work=meet))

    trained = run_epoch(training, rank=rank, work=evaluate)
    training.close()
    evaluation.close()
    return [trained, *evaluations]


def drop_loaders_and_fork(rank: int, tail: str) -> list[int]:
    """Exit codes of forked children that collect what the loaders of this rank left behind."""
    codes = []
    for closes in (True, False):
        loader = new_loader(rank, tail=tail)
        run_epoch(loader, rank=rank, work=meet)
        if closes:
            loader.close()
        del loader
        distributed.barrier()
        child = os.fork()
        if child == 0:
            signal.alarm(10)
            gc.collect()
            os._exit(0)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    return codes


LEAVING = (
    leave_on_one_rank,
    leave_on_all_ranks,
    leave_by_close,
    leave_before_the_peers,
    evaluate_within_training,
    drop_loaders_and_fork,
)


def run_all(rank: int, world_size: int, arg: None) -> dict[tuple[str, str], Any]:
    return {(each.__name__, tail): each(rank, tail) for tail in TAILS for each in LEAVING}


@cache
def outcomes(start_method: StartMethod) -> list[dict[tuple[str, str], Any]]:
    return values_of(
        run_ranks(run_all, world_size=WORLD_SIZE, start_method=start_method, timeout_s=120.0)
    )


def seen(start_method: StartMethod, what: Any, tail: str) -> list[Any]:
    """By epoch: what the ranks saw."""
    by_rank = [each[what.__name__, tail] for each in outcomes(start_method)]
    return [list(ranks) for ranks in zip(*by_rank, strict=True)]


@both_start_methods
@both_tails
def test_a_break_on_one_rank_names_it_to_the_others(start_method: StartMethod, tail: str) -> None:
    left, whole = seen(start_method, leave_on_one_rank, tail)
    assert left[1].raised is None
    assert len(left[1].taken) == 3
    for epoch in (left[0], left[2]):
        raised = epoch.raised
        assert isinstance(raised, Raised)
        assert (raised.type_name, raised.rank) == ("PeerStopped", 1)
        assert "rank 1 left early" in raised.message
        assert raised.step == len(epoch.taken)
        # Two queued, one in the engine's hand, and the rest of the round that was under way.
        assert 3 <= len(epoch.taken) <= 3 + 3 + 8
    assert violations(setting_of((SIZE,) * WORLD_SIZE, tail), whole) == []


@both_start_methods
@both_tails
def test_a_break_on_all_ranks_is_no_error(start_method: StartMethod, tail: str) -> None:
    first, second, whole = seen(start_method, leave_on_all_ranks, tail)
    for epoch in (*first, *second):
        assert epoch.raised is None
        assert len(epoch.taken) == 2
    assert violations(setting_of((SIZE,) * WORLD_SIZE, tail), whole) == []


@both_start_methods
@both_tails
def test_a_close_in_the_middle_names_its_rank_to_the_others(
    start_method: StartMethod, tail: str
) -> None:
    (left,) = seen(start_method, leave_by_close, tail)
    assert left[2].raised is None
    for epoch in left[:2]:
        assert epoch.raised is not None
        assert (epoch.raised.type_name, epoch.raised.rank) == ("PeerStopped", 2)


@both_start_methods
def test_closing_after_ones_own_end_does_not_disturb_the_peers(start_method: StartMethod) -> None:
    (epochs,) = seen(start_method, leave_before_the_peers, "stop")
    setting = setting_of((4, SIZE, SIZE), "stop")
    assert len(epochs[0].taken) < len(epochs[1].taken)
    assert [text for text in violations(setting, epochs) if "rank 0: the ledger" not in text] == []


@both_start_methods
@both_tails
def test_an_evaluation_runs_between_two_steps_of_training(
    start_method: StartMethod, tail: str
) -> None:
    trained, *evaluations = seen(start_method, evaluate_within_training, tail)
    assert violations(setting_of((SIZE,) * WORLD_SIZE, tail), trained) == []
    assert len(evaluations) == 3
    for epochs in evaluations:
        assert violations(setting_of((20, 21, 22)), epochs) == []


@both_start_methods
def test_what_a_loader_leaves_behind_can_be_collected_in_a_forked_worker(
    start_method: StartMethod,
) -> None:
    assert seen(start_method, drop_loaders_and_fork, "idle") == [[0] * WORLD_SIZE] * 2


def start_anew_while_the_peer_stays(rank: int, world_size: int, arg: None) -> Raised | None:
    """Rank 0 takes one step and no more; rank 1 leaves, and asks for another epoch."""
    with patch.object(loader_module, "LEAVE_WAIT_S", 0.5):
        # A round of ten steps: the engine of rank 0 cannot get to the next gather.
        loader = new_loader(rank, queue_size=1, window=40, first_window=40, timeout_s=1.0)
        steps = loader.steps()
        next(steps)
        raised = None
        if rank == 1:
            steps.close()  # type: ignore[attr-defined]
            raised = run_epoch(loader, rank=rank).raised
        distributed.barrier()
        loader.close(wait_s=0.5)
    return raised


def test_a_loop_that_stays_in_an_epoch_that_a_peer_has_left_is_an_error_there() -> None:
    results = run_ranks(
        start_anew_while_the_peer_stays, world_size=2, start_method="fork", killed=True
    )
    stays, leaves = values_of(results)
    assert stays is None
    assert leaves.type_name == "CollectiveFailed"
    assert "rank 1: the epoch before has not ended" in leaves.message


def killed_after_two_steps(rank: int, world_size: int, victim: int) -> tuple[Epoch, float]:
    loader = new_loader(rank, timeout_s=100.0)
    started_s = time.monotonic()

    def die(_: Any, step: Any) -> None:
        if rank == victim and step.index == 2:
            os.kill(os.getpid(), signal.SIGKILL)

    epoch = run_epoch(loader, rank=rank, work=die)
    return epoch, time.monotonic() - started_s


@pytest.mark.parametrize(("start_method", "victim"), [("fork", 0), ("fork", 2), ("spawn", 1)])
def test_a_killed_rank_is_an_error_on_every_survivor_within_seconds(
    start_method: StartMethod, victim: int
) -> None:
    results = run_ranks(
        killed_after_two_steps,
        world_size=WORLD_SIZE,
        start_method=start_method,
        args_per_rank=[victim] * WORLD_SIZE,
        killed=True,
    )
    for result in results:
        if result.rank == victim:
            assert result.error is not None
            assert result.error.type_name == "ProcessDied"
            continue
        assert result.error is None
        epoch, waited_s = result.value
        assert epoch.raised is not None
        assert epoch.raised.type_name == "CollectiveFailed"
        assert epoch.raised.message.startswith(f"rank {result.rank}: ")
        assert waited_s < 30.0
