"""The loader in one process: what iteration gives, several epochs, and nothing left behind."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, RandomSampler, SequentialSampler, SubsetRandomSampler

from dgap.protocol.table import TABLE
from dgap.runtime import Batch, DynamicBatchLoader, ShardingSampler, Step
from tests.runtime.leftovers import Leftovers
from tests.runtime.loading import COSTS, Tokens, firsts, loader, numbers

EVERY = list(range(len(COSTS)))


@pytest.mark.parametrize("num_workers", [0, 2])
@pytest.mark.parametrize("budget_kind", ["padded", "packed"])
def test_an_epoch_delivers_every_sample_once_under_the_budget(
    num_workers: int, budget_kind: str
) -> None:
    with Leftovers():
        made = loader(num_workers=num_workers, budget_kind=budget_kind, shuffle=True)
        items = list(made.steps())
        made.close()
    assert sorted(numbers(batch for batch, _ in items)) == EVERY
    for batch, step in items:
        costs = [COSTS[index] for index in batch["numbers"]]
        size = len(costs) * max(costs) if budget_kind == "padded" else sum(costs)
        assert size <= 20
        assert (step.samples, step.tokens, step.padded_tokens) == (len(costs), sum(costs), size)
        assert list(step.sample_indices) == batch["numbers"]
        assert (step.weight, step.idle, step.sync) == (1.0, False, True)
    assert [step.index for _, step in items] == list(range(len(items)))
    assert (made.ledger.balance, made.ledger.delivered) == (0, len(COSTS))


def test_it_is_a_data_loader_to_those_who_ask() -> None:
    made = loader()
    assert isinstance(made, DataLoader)
    assert isinstance(made.dataset, Tokens)
    assert made.batch_size is None
    assert isinstance(made.sampler, ShardingSampler)
    assert made.collate_fn is firsts
    assert made.protocol_digest == TABLE.digest()


def test_plain_iteration_gives_batches_with_the_models_keys_and_the_step_beside_them() -> None:
    for batch in loader():
        assert type(batch) is Batch
        assert set(batch) == {"numbers", "input_ids"}
        assert isinstance(batch.step, Step)
        assert batch.to(torch.float32)["input_ids"].dtype == torch.float32


def test_what_is_no_mapping_comes_back_untouched() -> None:
    made: list[Any] = []

    def collate(samples: list[Any]) -> Any:
        made.append((len(samples), torch.ones(1)))
        return made[-1]

    for batch in loader(collate_fn=collate):
        assert any(batch is each for each in made)


def test_asking_for_an_iterator_starts_nothing() -> None:
    calls: list[int] = []

    class Watched(Tokens):
        def __getitem__(self, index: int) -> Any:
            calls.append(index)
            return super().__getitem__(index)

    with Leftovers():
        made = loader(dataset=Watched(COSTS))
        iterators = [iter(made), iter(made), made.steps()]
        assert calls == []
        next(iterators[1])
        assert calls
        made.close()


def test_a_new_iterator_ends_the_one_before() -> None:
    with Leftovers():
        made = loader()
        first = iter(made)
        next(first)
        assert sorted(numbers(made)) == EVERY
        assert list(first) == []


def test_next_after_the_end_ends_again() -> None:
    iterator = iter(loader())
    list(iterator)
    for _ in range(3):
        with pytest.raises(StopIteration):
            next(iterator)


@pytest.mark.parametrize("num_workers", [0, 2])
def test_leaving_early_leaves_no_thread_and_no_process(num_workers: int) -> None:
    with Leftovers():
        made = loader([1, 2, 3] * 100, num_workers=num_workers, queue_size=1)
        for _ in made:
            break
        assert made.ledger.balance == 0
        made.close()
        made.close()


def test_leaving_early_ends_the_threads_without_a_call_of_close() -> None:
    with Leftovers():
        for _ in loader([1, 2, 3] * 100, queue_size=1):
            break


def test_an_epoch_that_was_left_is_followed_by_a_whole_one() -> None:
    made = loader()
    next(iter(made))
    assert sorted(numbers(made)) == EVERY


def test_a_closed_loader_can_be_iterated_again() -> None:
    made = loader()
    list(made)
    made.close()
    assert sorted(numbers(made)) == EVERY
    made.close()


def test_the_length_is_refused_with_what_to_use_instead() -> None:
    with pytest.raises(TypeError, match=r"use loader\.progress"):
        len(loader())
    assert sorted(numbers(list(loader()))) == EVERY  # list() asks for a length and goes without


def test_progress_counts_what_the_loop_received_and_ends_at_one() -> None:
    made = loader([0, *COSTS, 0], on_empty="skip", window=2)
    assert made.progress == 0.0
    seen = []
    received = 0
    for batch in made:
        received += len(batch["numbers"])
        assert made.progress <= (received + 2) / (len(COSTS) + 2)
        seen.append(made.progress)
    assert seen == sorted(seen)
    assert made.progress == 1.0


def test_progress_in_a_quota_counts_the_quota_alone() -> None:
    made = loader([0, 5, 5, 0], mode="quota", quota=8, on_empty="skip", window=2)
    received = 0
    for batch in made:
        received += len(batch["numbers"])
        assert made.progress == received / 8
    assert received == 8
    assert made.ledger.passes == 4


def test_an_empty_data_set_is_an_epoch_without_steps() -> None:
    made = loader([])
    assert list(made) == []
    assert made.progress == 1.0


def orders(epochs: list[int], **settings: Any) -> list[list[int]]:
    made = loader(list(range(1, 20)), shuffle=True, **settings)
    found = []
    for epoch in epochs:
        made.set_epoch(epoch)
        found.append(numbers(made))
    return found


def test_each_epoch_has_its_own_order_and_the_same_one_again() -> None:
    first, second, again = orders([0, 1, 0])
    assert first == again
    assert first != second
    assert sorted(first) == sorted(second)
    assert orders([0], seed=1)[0] != first


def test_without_shuffle_the_samples_are_read_in_order() -> None:
    read: list[int] = []

    class Watched(Tokens):
        def __getitem__(self, index: int) -> Any:
            read.append(index)
            return super().__getitem__(index)

    list(loader(dataset=Watched(COSTS)))
    assert read == EVERY


@pytest.mark.parametrize(
    ("sampler", "expected"),
    [
        ([4, 2, 2, 0], [0, 2, 2, 4]),
        ([], []),
        (range(3), [0, 1, 2]),
        (SequentialSampler(range(5)), [0, 1, 2, 3, 4]),
        (SubsetRandomSampler([7, 8, 9]), [7, 8, 9]),
        (RandomSampler(range(len(COSTS))), EVERY),
    ],
    ids=["list", "empty list", "range", "sequential", "subset", "random"],
)
def test_a_sampler_of_the_users_is_taken_as_it_is(sampler: Any, expected: list[int]) -> None:
    made = loader(sampler=sampler)
    assert sorted(numbers(made)) == expected
    assert made.progress == 1.0


def test_a_sampler_of_the_users_hears_of_the_epoch() -> None:
    sampler = ShardingSampler(len(COSTS), shuffle=True, seed=5)
    made = loader(sampler=sampler)
    made.set_epoch(7)
    assert sampler.epoch == 7
    loader(sampler=[1, 2]).set_epoch(3)  # one without set_epoch need not


def test_steps_of_an_accumulation_come_in_whole_updates() -> None:
    steps = [step for _, step in loader([5] * 22, accumulation_steps=4, window=16).steps()]
    assert len(steps) % 4 == 0
    assert [step.sync for step in steps] == [False, False, False, True] * (len(steps) // 4)
    assert sum(step.samples for step in steps) == 22


def test_a_quota_is_delivered_exactly() -> None:
    made = loader(COSTS, mode="quota", quota=30)
    assert len(numbers(made)) == 30
    assert made.ledger.passes == 3


@pytest.mark.parametrize("num_workers", [0, 2])
def test_a_quota_over_workers_is_delivered_exactly_and_leaves_nothing(num_workers: int) -> None:
    with Leftovers():
        made = loader(COSTS, mode="quota", quota=30, num_workers=num_workers, window=4)
        assert len(numbers(made)) == 30
        made.close()


def test_the_random_state_of_the_user_is_left_alone() -> None:
    before = torch.get_rng_state()
    for num_workers in (0, 1):
        list(loader(shuffle=True, num_workers=num_workers))
    assert torch.equal(torch.get_rng_state(), before)


def test_nothing_is_written_into_the_samples_of_a_list() -> None:
    samples = [{"input_ids": torch.full((cost,), index)} for index, cost in enumerate(COSTS)]
    before = copy.deepcopy(samples)
    made = DynamicBatchLoader(samples, collate_fn=firsts, token_budget=20)  # type: ignore[arg-type]
    assert sorted(numbers(made)) == EVERY
    for sample, original in zip(samples, before, strict=True):
        assert set(sample) == set(original)
        assert torch.equal(sample["input_ids"], original["input_ids"])
