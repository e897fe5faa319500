"""The loader over worker processes: every start method, what must travel, and what must not."""

from __future__ import annotations

import multiprocessing
import os
from typing import Any

import pytest
from torch.utils.data import get_worker_info

import dgap.runtime.loader as loader_module
from dgap.protocol.errors import CollectiveFailed, ConfigError
from tests.processes import run_ranks, values_of
from tests.runtime.leftovers import Leftovers
from tests.runtime.loading import COSTS, Tokens, firsts, loader, numbers


class InWorkers(Tokens):
    """Each sample says in which process it was read."""

    def __getitem__(self, index: int) -> Any:
        worker = get_worker_info()
        sample: dict[str, Any] = super().__getitem__(index)
        return {**sample, "worker": -1 if worker is None else worker.id, "pid": os.getpid()}


class Deadly(Tokens):
    """Its worker dies at sample 9."""

    def __getitem__(self, index: int) -> Any:
        if index == 9:
            os._exit(3)
        return super().__getitem__(index)


def initialise(worker_id: int) -> None:
    worker = get_worker_info()
    assert worker is not None
    chunks: Any = worker.dataset
    chunks.dataset.costs[0] = 20


@pytest.mark.parametrize("start_method", ["fork", "spawn", "forkserver"])
def test_samples_are_read_in_the_workers_and_collated_here(start_method: str) -> None:
    seen: list[Any] = []

    def collate(samples: list[Any]) -> Any:  # a closure: it need not travel
        seen.append(os.getpid())
        return {"numbers": [int(s["input_ids"][0]) for s in samples], "samples": samples}

    with Leftovers():
        made = loader(
            dataset=InWorkers(COSTS),
            collate_fn=collate,
            num_workers=2,
            multiprocessing_context=start_method,
        )
        batches = list(made)
        made.close()
    assert sorted(numbers(batches)) == list(range(len(COSTS)))
    workers = {sample["worker"] for batch in batches for sample in batch["samples"]}
    assert workers == {0, 1}
    assert os.getpid() not in {s["pid"] for batch in batches for s in batch["samples"]}
    assert set(seen) == {os.getpid()}


def test_the_order_does_not_depend_on_the_number_of_workers() -> None:
    orders = [numbers(loader(shuffle=True, num_workers=count, window=4)) for count in (0, 1, 2)]
    assert orders[0] == orders[1] == orders[2]


@pytest.mark.parametrize("start_method", ["spawn", "forkserver"])
def test_a_data_set_that_cannot_travel_is_one_clear_error_and_no_process(
    start_method: str,
) -> None:
    class Local(Tokens):
        pass

    with Leftovers():
        before = multiprocessing.active_children()
        made = loader(dataset=Local(COSTS), num_workers=2, multiprocessing_context=start_method)
        with pytest.raises(ConfigError, match="Define it at the top level of a module") as caught:
            next(iter(made))
        assert multiprocessing.active_children() == before
        assert caught.value.__cause__ is not None
        made.close()


def test_a_cost_function_that_cannot_travel_is_the_same_error() -> None:
    with Leftovers():
        made = loader(
            num_workers=1, multiprocessing_context="spawn", cost_fn=lambda s: len(s["input_ids"])
        )
        with pytest.raises(ConfigError, match="a function given to the loader"):
            next(iter(made))
        made.close()


def test_a_worker_is_initialised_as_in_any_data_loader() -> None:
    made = loader(num_workers=1, worker_init_fn=initialise, prefetch_factor=1)
    costs = {tuple(step.sample_indices): step.tokens for _, step in made.steps()}
    assert costs[(0,)] == 20


def lose_a_worker(rank: int, world_size: int, arg: Any) -> tuple[str, int, int]:
    received = 0
    with Leftovers():
        made = loader(dataset=Deadly(COSTS), num_workers=2, chunk_size=1, window=2)
        try:
            for batch in made:
                received += len(batch["numbers"])
        except RuntimeError as error:
            text = str(error)
        made.close()
    return text, received, made.ledger.balance


def test_a_worker_that_dies_is_raised_behind_the_batches_and_leaves_nothing() -> None:
    # In a process of its own: here some DataLoader may have installed torch's handler already,
    # which raises wherever the main thread stands.
    ((text, received, balance),) = values_of(
        run_ranks(lose_a_worker, world_size=1, start_method="fork", init_group=False)
    )
    assert "exited unexpectedly" in text
    assert 0 < received < 9
    assert balance == 0


def test_workers_that_started_before_the_peers_were_missed_are_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[int] = []

    def nobody_came(*_: Any, **__: Any) -> Any:
        begun.append(len(multiprocessing.active_children()))
        raise CollectiveFailed("rank 0: nobody came")

    with Leftovers():
        made = loader(num_workers=2)
        before = len(multiprocessing.active_children())
        monkeypatch.setattr(loader_module, "open_transport", nobody_came)
        with pytest.raises(CollectiveFailed, match="nobody came"):
            next(iter(made))
        assert begun == [before + 2]
        monkeypatch.undo()
        assert sorted(numbers(made)) == list(range(len(COSTS)))
        made.close()


def test_many_epochs_leave_nothing_behind() -> None:
    with Leftovers():
        made = loader(num_workers=1, collate_fn=firsts)
        for epoch in range(4):
            made.set_epoch(epoch)
            assert len(numbers(made)) == len(COSTS)
        made.close()
