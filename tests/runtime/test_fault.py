"""Faults: what they say, what they raise, what they carry across a process boundary."""

from __future__ import annotations

from typing import Any

import pytest
from torch.utils.data import DataLoader, Dataset

from dgap.protocol.errors import DataError
from dgap.protocol.vocabulary import FailureCode
from dgap.runtime.fault import Fault, WorkerTraceback


class Stubborn(Exception):
    """Pickles, and then does not load."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} {second}")


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Unsendable(Exception):
    def __init__(self) -> None:
        super().__init__("holds a function")
        self.function = lambda: None


ERRORS = [ValueError("plain"), Stubborn("a", "b"), Unsendable()]


class FaultyDataset(Dataset[Fault]):
    def __len__(self) -> int:
        return len(ERRORS)

    def __getitem__(self, index: int) -> Fault:
        try:
            raise ERRORS[index]
        except Exception as error:
            return Fault.of(FailureCode.SOURCE, index, error)


def as_it_is(item: Any) -> Any:
    return item


@pytest.mark.parametrize("start_method", ["fork", "spawn"])
def test_a_fault_from_a_worker_carries_the_exception_where_it_survives(start_method: str) -> None:
    loader = DataLoader(
        FaultyDataset(),
        batch_size=None,
        num_workers=1,
        collate_fn=as_it_is,
        multiprocessing_context=start_method,
    )
    plain, stubborn, unsendable = loader
    error = plain.exception()
    assert type(error) is ValueError
    assert isinstance(error.__cause__, WorkerTraceback)
    assert "raise ERRORS[index]" in str(error.__cause__)
    for fault, name in ((stubborn, "Stubborn"), (unsendable, "Unsendable")):
        error = fault.exception()
        assert type(error) is DataError
        assert name in str(error)
        assert f"index {fault.index}" in str(error)
        assert "described in words" in str(error.__cause__)


def test_in_the_main_process_the_exception_is_the_very_same() -> None:
    error = Unsendable()
    fault = Fault.of(FailureCode.COST, 4, error)
    assert fault.exception() is error
    assert error.__cause__ is None
    assert fault.describe() == "Unsendable: holds a function (measuring the sample at index 4)"


def test_an_exception_that_cannot_say_what_it_is_still_makes_a_fault() -> None:
    assert "RuntimeError" in Fault.of(FailureCode.SOURCE, 0, Mute()).message


def test_only_a_fault_of_one_sample_while_reading_or_measuring_can_be_skipped() -> None:
    error = ValueError("x")
    skippable = {code for code in FailureCode if Fault.of(code, 1, error).skippable}
    assert skippable == {FailureCode.SOURCE, FailureCode.COST}
    ended = Fault.of(FailureCode.SOURCE, None, error)
    assert not ended.skippable
    assert ended.describe() == "ValueError: x"
