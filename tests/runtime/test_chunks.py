"""Chunks through the public DataLoader: reading order, faults in place, every start method."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import DataLoader, Dataset

from dgap.protocol.errors import BadCost, ConfigError, SampleChanged
from dgap.protocol.vocabulary import FailureCode
from dgap.runtime.chunks import (
    Chunk,
    ChunkDataset,
    ChunkSampler,
    Fault,
    Sample,
    iterate_chunk,
    shared_chunks,
)


class Texts(Dataset[Any]):
    """Sample i has i tokens; some indices misbehave, each in its own way."""

    def __init__(self, size: int = 10, **troubles: int) -> None:
        self.size = size
        self.troubles = {index: name for name, index in troubles.items()}

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> Any:
        trouble = self.troubles.get(index)
        if trouble == "raises":
            raise ValueError(f"broken file {index}")
        if trouble == "missing":
            raise IndexError("no such row")
        if trouble == "stops":
            raise StopIteration
        if trouble == "unmeasured":
            return {"tokens": [1]}
        if trouble == "none":
            return None
        if trouble == "unpicklable":
            return {"input_ids": torch.arange(index), "function": lambda: None}
        if trouble == "graph":
            return {"input_ids": torch.ones(index, requires_grad=True) * 2}
        return {
            "input_ids": torch.arange(index),
            "labels": [-100] * (index - 1) + [1] * (index > 0),
        }


class InBulk(Texts):
    """Reads many at once, unless one of them is broken."""

    def __init__(self, mode: str = "", **troubles: int) -> None:
        super().__init__(**troubles)
        self.mode = mode
        self.bulk_count = 0

    def __getitems__(self, indices: list[int]) -> list[Any]:
        self.bulk_count += 1
        if self.mode == "short":
            return []
        if self.mode == "raises":
            raise RuntimeError("bulk is broken")
        return [self[index] for index in indices]


def entries_of(
    dataset: Any, order: Any, *, num_workers: int = 0, start_method: str | None = None
) -> list[Sample | Fault]:
    loader: DataLoader[Chunk] = DataLoader(
        ChunkDataset(dataset),
        sampler=ChunkSampler(order, 3),
        batch_size=None,
        num_workers=num_workers,
        multiprocessing_context=start_method,
    )
    return [entry for chunk in loader for entry in iterate_chunk(chunk)]


WORKERS = [(0, None), (2, "fork"), (2, "spawn"), (1, "forkserver")]
TROUBLES = {"raises": 1, "missing": 4, "none": 5, "unmeasured": 6, "stops": 9}


@pytest.mark.parametrize(("num_workers", "start_method"), WORKERS)
def test_every_index_comes_back_in_reading_order_as_sample_or_fault(
    num_workers: int, start_method: str | None
) -> None:
    order = [3, 1, 4, 5, 9, 2, 6, 8, 7, 0]
    entries = entries_of(
        Texts(**TROUBLES), order, num_workers=num_workers, start_method=start_method
    )
    assert [entry.index for entry in entries] == order
    samples = {entry.index: entry for entry in entries if isinstance(entry, Sample)}
    faults = {entry.index: entry for entry in entries if isinstance(entry, Fault)}
    assert set(faults) == {1, 4, 6, 9}
    for index in (3, 2, 8, 7):
        assert samples[index].cost == index
        assert samples[index].targets == 1
        assert torch.equal(samples[index].value["input_ids"], torch.arange(index))
    assert (samples[5].cost, samples[5].value) == (0, None)
    assert samples[0].cost == 0
    assert [type(faults[index].exception()) for index in (1, 4, 6, 9)] == [
        ValueError,
        SampleChanged,
        BadCost,
        StopIteration,
    ]
    assert faults[6].code == FailureCode.COST
    assert "10 samples" in faults[4].message
    assert "broken file 1" in faults[1].message


@pytest.mark.parametrize("trouble", ["unpicklable", "graph"])
def test_a_sample_that_cannot_leave_its_worker_is_a_fault_and_not_a_hang(trouble: str) -> None:
    dataset = Texts(**{trouble: 4})
    entries = entries_of(dataset, range(10), num_workers=1, start_method="fork")
    faults = [entry for entry in entries if isinstance(entry, Fault)]
    assert [fault.index for fault in faults] == [4]
    assert "packing the sample at index 4" in faults[0].describe()
    assert len(entries) == 10
    assert all(isinstance(entry, Sample) for entry in entries_of(dataset, range(10)))


def test_an_index_beyond_the_length_is_the_samplers_fault() -> None:
    class Rows(Texts):
        def __getitem__(self, index: int) -> Any:
            return {"input_ids": list(range(10))[index]}

    (entry,) = entries_of(Rows(), [12])
    assert isinstance(entry, Fault)
    assert type(entry.exception()) is IndexError


def test_reading_in_bulk_is_used_where_the_data_set_offers_it() -> None:
    dataset = InBulk()
    assert [entry.index for entry in entries_of(dataset, range(6))] == list(range(6))
    assert dataset.bulk_count == 2


def test_reading_in_bulk_falls_back_to_find_the_sample_at_fault() -> None:
    entries = entries_of(InBulk(raises=4), range(6))
    assert [entry.index for entry in entries if isinstance(entry, Fault)] == [4]


@pytest.mark.parametrize("mode", ["short", "raises"])
def test_a_bulk_reader_that_is_wrong_by_itself_is_passed_over_with_a_warning(mode: str) -> None:
    with pytest.warns(UserWarning, match="read one by one"):
        entries = entries_of(InBulk(mode), range(3))
    assert all(isinstance(entry, Sample) for entry in entries)


def test_a_sampler_is_cut_into_chunks_of_any_integers() -> None:
    indices: list[Any] = [np.int64(4), torch.tensor(2), 9, 1, 0]
    sampler = ChunkSampler(indices, 2)
    assert list(sampler) == [[4, 2], [9, 1], [0]]
    assert all(type(index) is int for chunk in sampler for index in chunk)
    assert len(sampler) == 3
    assert list(ChunkSampler([], 2)) == []


@given(
    size=st.integers(0, 40),
    chunk_size=st.integers(1, 9),
    small_size=st.integers(1, 9),
    small_count=st.integers(0, 9),
)
def test_chunks_of_two_sizes_hold_every_index_once_in_order(
    size: int, chunk_size: int, small_size: int, small_count: int
) -> None:
    sampler = ChunkSampler(range(size), chunk_size, small_size=small_size, small_count=small_count)
    chunks = list(sampler)
    assert [index for chunk in chunks for index in chunk] == list(range(size))
    assert len(sampler) == len(chunks)
    wanted = [small_size] * small_count + [chunk_size] * size
    assert all(len(chunk) == want for chunk, want in zip(chunks[:-1], wanted, strict=False))
    assert all(len(chunk) <= want for chunk, want in zip(chunks, wanted, strict=False))


def test_all_workers_share_the_first_window_and_every_chunk_fits_the_window() -> None:
    chunks = list(
        shared_chunks(range(1000), chunk_size=32, window=1024, first_window=64, workers=2)
    )
    assert [len(chunk) for chunk in chunks[:9]] == [8] * 8 + [32]
    chunks = list(shared_chunks(range(1000), chunk_size=32, window=5, first_window=5, workers=1))
    assert {len(chunk) for chunk in chunks} == {5}


def test_few_samples_are_dealt_to_all_workers() -> None:
    chunks = list(shared_chunks(range(8), chunk_size=32, window=64, first_window=16, workers=2))
    assert [len(chunk) for chunk in chunks] == [1] * 8
    assert list(shared_chunks([], chunk_size=32, window=64, first_window=16, workers=0)) == []


def test_a_sampler_without_a_length_is_taken_and_has_none() -> None:
    sampler = ChunkSampler((index for index in range(3)), 2)
    with pytest.raises(TypeError, match="generator has no length"):
        len(sampler)
    assert list(sampler) == [[0, 1], [2]]


@pytest.mark.parametrize("index", [[1, 2], "1", 1.0, None])
def test_a_sampler_of_something_else_is_refused(index: Any) -> None:
    with pytest.raises(ConfigError, match="single integers"):
        list(ChunkSampler([index], 2))


def test_a_chunk_size_below_one_is_refused() -> None:
    with pytest.raises(ConfigError, match="chunk_size"):
        ChunkSampler([], 0)
    with pytest.raises(ConfigError, match="small_size"):
        ChunkSampler([], 1, small_size=0)
