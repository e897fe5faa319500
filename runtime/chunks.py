"""What runs inside the workers of the inner DataLoader: read, measure and pack a chunk.

Three rules:
1. every index asked for comes back, in reading order, as a sample or as a `Fault`;
2. nothing raises in a worker: an exception of the user's code is an entry of the chunk, so that
   the engine can fail at a step that all ranks share (S10);
3. no policy here: empty and over-budget samples are measured and passed on.

Use: DataLoader(ChunkDataset(dataset), sampler=ChunkSampler(sampler, 32), batch_size=None), with any
number of workers and any start method; then `iterate_chunk` on what it yields.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import Any

from torch.utils.data import Dataset, Sampler, get_worker_info

from dgap.protocol.errors import ConfigError, SampleChanged
from dgap.protocol.vocabulary import FailureCode

from .fault import Fault
from .packing import PackedChunk, leave_unpacked, pack, unpack
from .sample import CostFunction, TargetFunction, default_cost, default_target_count, measure

__all__ = [
    "DEFAULT_CHUNK_SIZE",
    "Chunk",
    "ChunkDataset",
    "ChunkSampler",
    "Fault",
    "Sample",
    "iterate_chunk",
    "shared_chunks",
]

# One worker message per 32 samples: 20 times the samples per second of one message each, while a
# chunk stays a small part of a window.
DEFAULT_CHUNK_SIZE = 32

# Two workers on two cores, a first window of 64: the first batch came after 1.2 to 1.4 times of
# a plain loader's with chunks of 8, after 1.6 to 1.9 times with chunks of 32.
SMALL_CHUNK_SIZE = 8

# So many messages from each worker at least, where there are enough samples.
CHUNKS_PER_WORKER = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """A measured sample: its index in the data set, cost (0 if empty), targets, and itself."""

    index: int
    cost: int
    targets: int
    value: Any


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """A worker message. Entries keep reading order; those in `faults` are no samples.

    indices: of all entries. faults: (place in `indices`, fault), places ascending.
    costs, targets, payload: of the samples alone, in order.
    """

    indices: tuple[int, ...]
    costs: tuple[int, ...]
    targets: tuple[int, ...]
    payload: PackedChunk
    faults: tuple[tuple[int, Fault], ...] = ()


def iterate_chunk(chunk: Chunk) -> Iterator[Sample | Fault]:
    """The entries of a chunk in reading order, unpacked."""
    faults = dict(chunk.faults)
    samples = zip(chunk.costs, chunk.targets, unpack(chunk.payload), strict=True)
    for place, index in enumerate(chunk.indices):
        fault = faults.get(place)
        if fault is not None:
            yield fault
        else:
            cost, targets, value = next(samples)
            yield Sample(index=index, cost=cost, targets=targets, value=value)


class ChunkDataset(Dataset[Chunk]):
    """A map-style data set read in chunks: `self[[4, 7, 1]]` is a `Chunk` of three entries.

    Args:
        dataset: has `__getitem__` and perhaps `__getitems__`, which is tried first.
        cost_fn, target_fn: as in `measure`.
    """

    def __init__(
        self,
        dataset: Any,
        *,
        cost_fn: CostFunction = default_cost,
        target_fn: TargetFunction = default_target_count,
    ) -> None:
        self.dataset = dataset
        self.cost_fn = cost_fn
        self.target_fn = target_fn

    def __getitem__(self, indices: list[int]) -> Chunk:
        entries = [
            entry if isinstance(entry, Fault) else self._measured(index, entry)
            for index, entry in zip(indices, self._read(indices), strict=True)
        ]
        if get_worker_info() is None:
            return _chunk_of(indices, entries, leave_unpacked(_values(entries)))
        try:
            payload = pack(_values(entries))
        except Exception as error:
            entries = _without_unpackable(entries, error)
            payload = pack(_values(entries))
        return _chunk_of(indices, entries, payload)

    def _read(self, indices: list[int]) -> list[Any]:
        """The samples, or Faults in their places."""
        if not hasattr(self.dataset, "__getitems__"):
            return [self._read_one(index) for index in indices]
        try:
            samples = list(self.dataset.__getitems__(indices))
            if len(samples) == len(indices):
                return samples
            complaint = f"returned {len(samples)} samples for {len(indices)} indices"
        except Exception as error:
            complaint = f"raised {type(error).__name__}: {error}"
        entries = [self._read_one(index) for index in indices]
        if not any(isinstance(entry, Fault) for entry in entries):
            warnings.warn(
                f"__getitems__ of {type(self.dataset).__name__} {complaint}, while __getitem__ "
                "reads the same samples; they were read one by one",
                stacklevel=2,
            )
        return entries

    def _read_one(self, index: int) -> Any:
        try:
            return self.dataset[index]
        except IndexError as error:
            return Fault.of(FailureCode.SOURCE, index, self._blamed(index, error))
        except Exception as error:
            return Fault.of(FailureCode.SOURCE, index, error)

    def _blamed(self, index: int, error: IndexError) -> Exception:
        """An IndexError below the data set's own length says that its length lies."""
        size = len(self.dataset) if isinstance(self.dataset, Sized) else None
        if size is None or not 0 <= index < size:
            return error
        changed = SampleChanged(
            f"the data set says it has {size} samples and raised {error!r} at index {index}: "
            "its length is wrong, or reading this sample fails"
        )
        changed.__cause__ = error
        return changed

    def _measured(self, index: int, value: Any) -> Sample | Fault:
        try:
            measured = measure(value, index=index, cost_fn=self.cost_fn, target_fn=self.target_fn)
        except Exception as error:
            return Fault.of(FailureCode.COST, index, error)
        return Sample(index=index, cost=measured.cost, targets=measured.targets, value=value)


class ChunkSampler(Sampler[list[int]]):
    """Cuts any sampler of single indices into lists of `chunk_size`, the last one perhaps shorter.

    The first `small_count` lists have `small_size` indices: all workers share the reading of the
    first window, and the first batch does not wait for a whole chunk behind it.

    Raises:
        ConfigError: a size below 1; while iterating, an index that is not an integer.
    """

    def __init__(
        self,
        sampler: Iterable[int],
        chunk_size: int = DEFAULT_CHUNK_SIZE,
        *,
        small_size: int = 1,
        small_count: int = 0,
    ) -> None:
        for name, value in (("chunk_size", chunk_size), ("small_size", small_size)):
            if value < 1:
                raise ConfigError(f"{name} is {value}; it must be at least 1")
        self.sampler = sampler
        self.chunk_size = chunk_size
        self.small_size = small_size
        self.small_count = small_count

    def __len__(self) -> int:
        if not isinstance(self.sampler, Sized):
            raise TypeError(f"a {type(self.sampler).__name__} has no length")
        size = len(self.sampler)
        small_count = min(self.small_count, -(-size // self.small_size))
        return small_count + -(-max(0, size - small_count * self.small_size) // self.chunk_size)

    def __iter__(self) -> Iterator[list[int]]:
        indices = map(_plain_index, self.sampler)
        sizes = chain(repeat(self.small_size, self.small_count), repeat(self.chunk_size))
        while chunk := list(islice(indices, next(sizes))):
            yield chunk


def shared_chunks(
    sampler: Iterable[int], *, chunk_size: int, window: int, first_window: int, workers: int
) -> ChunkSampler:
    """Chunks such that each worker gets several of them, of the first window as of all samples.

    None is larger than `chunk_size` or the window, in samples. `sampler` needs a length.
    """
    messages = CHUNKS_PER_WORKER * max(1, workers)
    share = len(sampler) // messages  # type: ignore[arg-type]
    size = max(1, min(chunk_size, window, share))
    small_size = min(size, max(SMALL_CHUNK_SIZE, first_window // messages))
    small_count = -(-first_window // small_size)
    return ChunkSampler(sampler, size, small_size=small_size, small_count=small_count)


def _plain_index(index: Any) -> int:
    try:
        return operator.index(index)
    except TypeError:
        raise ConfigError(
            f"the sampler yields {index!r}; it must yield single integers (a batch sampler is "
            "not needed here: batches are formed by cost)"
        ) from None


def _values(entries: list[Sample | Fault]) -> list[Any]:
    return [entry.value for entry in entries if isinstance(entry, Sample)]


def _without_unpackable(entries: list[Sample | Fault], error: Exception) -> list[Sample | Fault]:
    """Faults in place of the samples that do not pickle; of all, if only together they do not."""
    kept = [entry if isinstance(entry, Fault) else _packable(entry) for entry in entries]
    if sum(isinstance(entry, Fault) for entry in kept) > sum(
        isinstance(entry, Fault) for entry in entries
    ):
        return kept
    return [entry if isinstance(entry, Fault) else _unpackable(entry, error) for entry in entries]


def _packable(entry: Sample) -> Sample | Fault:
    try:
        pack([entry.value])
    except Exception as error:
        return _unpackable(entry, error)
    return entry


def _unpackable(entry: Sample, error: Exception) -> Fault:
    return Fault.of(FailureCode.SOURCE, entry.index, error, doing="packing")


def _chunk_of(indices: list[int], entries: list[Sample | Fault], payload: PackedChunk) -> Chunk:
    samples = [entry for entry in entries if isinstance(entry, Sample)]
    return Chunk(
        indices=tuple(indices),
        costs=tuple(sample.cost for sample in samples),
        targets=tuple(sample.targets for sample in samples),
        payload=payload,
        faults=tuple(
            (place, entry) for place, entry in enumerate(entries) if isinstance(entry, Fault)
        ),
    )
