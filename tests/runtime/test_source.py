"""The source: what the workers read, in order, in passes; and how it ends, with nothing left."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from torch.utils.data import DataLoader

from dgap.protocol.errors import ConfigError
from dgap.runtime.chunks import Fault, Sample
from dgap.runtime.source import Source, start_error
from tests.processes import run_ranks, values_of
from tests.runtime.leftovers import LIMIT_S, Leftovers
from tests.runtime.reading import BreakingSampler, Numbers, Patient, inner


def opened(dataset: Any, *, window: int = 100, **options: Any) -> Source:
    source = Source(lambda: inner(dataset, **options), window=window)
    source.start()
    return source


def one_pass(source: Source) -> list[Sample | Fault]:
    entries: list[Sample | Fault] = []
    while isinstance(pulled := source.pull(), list):
        entries += pulled
    assert pulled.name == "ENDED"
    return entries


def values(entries: list[Sample | Fault]) -> list[Any]:
    return [entry.value for entry in entries if isinstance(entry, Sample)]


ALL = ["x" * size for size in range(1, 7)]


@pytest.mark.parametrize("num_workers", [0, 2])
def test_a_pass_holds_every_sample_in_order_and_then_its_end(num_workers: int) -> None:
    with Leftovers():
        source = opened(Numbers(), num_workers=num_workers)
        assert values(one_pass(source)) == ALL
        source.close(LIMIT_S)


@pytest.mark.parametrize("num_workers", [0, 2])
def test_a_restart_reads_the_source_again_from_its_start(num_workers: int) -> None:
    with Leftovers():
        source = opened(Numbers(), num_workers=num_workers, persistent_workers=num_workers > 0)
        for _ in range(3):
            assert values(one_pass(source)) == ALL
            source.restart()
        assert values(one_pass(source)) == ALL
        source.close(LIMIT_S)


def test_a_restart_in_the_middle_of_a_pass_passes_over_what_is_queued_of_it() -> None:
    last_was_read = threading.Event()

    class Watched(Numbers):
        def __getitem__(self, index: int) -> Any:
            if index == 5:
                last_was_read.set()  # so the chunks before this one are queued
            return super().__getitem__(index)

    source = opened(Watched())
    assert last_was_read.wait(LIMIT_S)
    first = source.pull()
    assert isinstance(first, list)
    assert values(first) == ["x", "xx"]
    source.restart()
    source.restart()
    assert values(one_pass(source)) == ALL
    source.close(LIMIT_S)


def test_reading_ahead_stops_when_the_window_is_full() -> None:
    read: list[int] = []

    class Watched(Numbers):
        def __getitem__(self, index: int) -> Any:
            read.append(index)
            return super().__getitem__(index)

    source = opened(Watched(size=50), window=4)
    source.pull()
    source.close(LIMIT_S)
    # One chunk was pulled, two are queued, one may be in hand, and one is being read at most.
    assert len(read) <= 10


@pytest.mark.parametrize("num_workers", [0, 2])
def test_closing_in_the_middle_of_a_pass_leaves_nothing_behind(num_workers: int) -> None:
    with Leftovers():
        source = opened(Numbers(size=200), window=4, num_workers=num_workers)
        source.pull()
        source.close(LIMIT_S)
        source.close(LIMIT_S)


def test_a_source_that_was_closed_says_so() -> None:
    source = opened(Numbers())
    source.close(LIMIT_S)
    signal = source.pull()
    assert not isinstance(signal, list)
    assert signal.name == "LEFT"


def test_closing_wakes_an_engine_that_waits_for_samples() -> None:
    dataset = Patient()
    source = opened(dataset)
    answers: list[Any] = []
    waiting = threading.Thread(target=lambda: answers.append(source.pull()), daemon=True)
    waiting.start()
    assert dataset.entered.wait(LIMIT_S)
    source.close(0.01)
    waiting.join(LIMIT_S)
    dataset.released.set()
    assert [answer.name for answer in answers] == ["LEFT"]


def test_closing_does_not_wait_for_a_data_set_that_never_returns() -> None:
    dataset = Patient()
    source = opened(dataset)
    assert dataset.entered.wait(LIMIT_S)
    closing = threading.Thread(target=source.close, args=(0.01,), daemon=True)
    closing.start()
    closing.join(LIMIT_S)
    hung = closing.is_alive()
    dataset.released.set()
    assert not hung


def only_fault(source: Source) -> Fault:
    """The one fault with which the stream of the wanted pass ends."""
    while isinstance(pulled := source.pull(), list):
        faults = [entry for entry in pulled if isinstance(entry, Fault)]
        if faults:
            (fault,) = faults
            return fault
    raise AssertionError(f"no fault before {pulled}")


@pytest.mark.parametrize("num_workers", [0, 2])
@pytest.mark.parametrize("count", [0, 5])
def test_a_sampler_that_breaks_is_a_fault_that_leaves_no_worker(
    num_workers: int, count: int
) -> None:
    with Leftovers():
        sampler = BreakingSampler(count)
        source = opened(Numbers(size=100), sampler=sampler, num_workers=num_workers)
        fault = only_fault(source)
        source.close(LIMIT_S)
        assert type(fault.exception()) is LookupError
        assert not fault.skippable


def read_with_a_worker_that_dies(rank: int, world_size: int, arg: Any) -> str:
    with Leftovers():
        source = opened(Numbers(trouble="dies"), num_workers=2)
        fault = only_fault(source)
        source.close(LIMIT_S)
        error = fault.exception()
    return f"{type(error).__name__}: {error}"


def test_a_worker_that_dies_is_a_fault_and_its_siblings_end_while_the_error_is_kept() -> None:
    # In a process of its own: here some DataLoader may have installed torch's handler already.
    results = run_ranks(
        read_with_a_worker_that_dies, world_size=1, start_method="fork", init_group=False
    )
    (text,) = values_of(results)
    assert text.startswith("RuntimeError: DataLoader worker")
    assert "exited unexpectedly" in text


def test_a_data_set_that_exits_does_not_leave_the_engine_waiting() -> None:
    source = opened(Numbers(trouble="exits"))
    assert type(only_fault(source).exception()) is SystemExit
    source.close(LIMIT_S)


def test_a_sample_that_does_not_load_in_this_process_is_a_fault() -> None:
    source = opened(Numbers(trouble="does not load"), num_workers=1)
    fault = only_fault(source)
    assert "ValueError" in fault.describe()
    source.close(LIMIT_S)


def test_an_error_of_a_pass_that_nobody_wants_any_more_still_ends_the_stream() -> None:
    source = Source(lambda: inner(Numbers(size=100), sampler=BreakingSampler(2)), window=100)
    source.restart()  # before the thread reads at all: its first pass is out of date
    source.start()
    assert type(only_fault(source).exception()) is LookupError
    source.close(LIMIT_S)


@pytest.mark.parametrize("start_method", ["spawn", "forkserver"])
def test_a_data_set_that_cannot_be_sent_is_one_clear_error_and_no_process(
    start_method: str,
) -> None:
    with Leftovers():
        dataset = Numbers()
        dataset.function = lambda: None  # type: ignore[attr-defined]
        source = opened(dataset, num_workers=2, multiprocessing_context=start_method)
        error = only_fault(source).exception()
        source.close(LIMIT_S)
        assert type(error) is ConfigError
        assert 'multiprocessing_context="fork" or num_workers=0' in str(error)
        assert error.__cause__ is not None


def test_a_loader_that_cannot_be_made_is_a_fault_of_the_stream() -> None:
    def refuse() -> DataLoader[Any]:
        raise ConfigError("nothing to read")

    source = Source(refuse, window=1)
    source.start()
    assert str(only_fault(source).exception()) == "nothing to read"
    source.close(LIMIT_S)


@pytest.mark.parametrize(
    ("error", "hinted"),
    [
        (AttributeError("Can't pickle local object 'f.<locals>.g'"), True),
        (AttributeError("Can't get local object 'f.<locals>.g'"), True),
        (TypeError("cannot pickle '_thread.lock' object"), True),
        (ValueError("sampler option is wrong"), False),
    ],
)
def test_only_an_error_of_pickling_gets_the_hint_about_it(error: Exception, hinted: bool) -> None:
    found = start_error(error)
    assert (found is not error) == hinted
    assert not hinted or found.__cause__ is error


def test_a_source_that_was_never_started_leaves_no_worker_when_closed() -> None:
    with Leftovers():
        source = Source(lambda: inner(Numbers(), num_workers=2), window=10)
        source.close(LIMIT_S)
