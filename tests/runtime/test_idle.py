"""The idle batch: smallest sample with targets, fresh at each use, lent only if it pickles."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import torch

from dgap.protocol.errors import BadBatch
from dgap.runtime.chunks import Sample
from dgap.runtime.idle import IdleBatch, collate_checked, smallest


class PicklesAndDoesNotLoad:
    def __reduce__(self) -> Any:
        return (int, ("no number",))


class RaisesWhenPickled:
    def __reduce__(self) -> Any:
        raise RuntimeError("not today")


def sample(index: int, cost: int, targets: int) -> Sample:
    return Sample(index=index, cost=cost, targets=targets, value=f"value {index}")


def test_each_use_is_a_fresh_copy_of_the_batch() -> None:
    content = {"input_ids": torch.tensor([1, 2])}
    idle = IdleBatch.of(content)
    first = idle.content()
    first["input_ids"].zero_()
    first["more"] = 1
    assert idle.content()["input_ids"].tolist() == [1, 2]
    assert set(idle.content()) == {"input_ids"}
    assert content["input_ids"].tolist() == [1, 2]


def test_a_borrower_unpacks_what_the_lender_packed() -> None:
    lender = IdleBatch.of({"input_ids": [5]})
    assert IdleBatch(lender.payload).content() == {"input_ids": [5]}


@pytest.mark.parametrize(
    "content", [threading.Lock(), lambda: None, PicklesAndDoesNotLoad(), RaisesWhenPickled()]
)
def test_what_cannot_be_pickled_both_ways_is_kept_as_it_is_and_not_lent(content: Any) -> None:
    idle = IdleBatch.of(content)
    assert idle.payload == b""
    assert idle.content() is content
    assert idle.obstacle


def test_a_batch_that_can_be_lent_has_no_obstacle() -> None:
    assert IdleBatch.of([1]).obstacle == ""


def test_the_smallest_sample_has_targets_if_any_has() -> None:
    samples = [sample(0, 1, 0), sample(1, 9, 2), sample(2, 7, 1), sample(3, 7, 5)]
    assert smallest(samples).index == 2
    assert smallest(samples[:1]).index == 0


def test_the_collate_function_gets_the_values_in_order() -> None:
    assert collate_checked(list, [sample(3, 1, 1), sample(1, 1, 1)]) == ["value 3", "value 1"]


def test_a_collate_function_that_returns_nothing_is_refused_by_the_samples_indices() -> None:
    with pytest.raises(BadBatch, match=r"returned None for the samples \[3, 1\]"):
        collate_checked(lambda values: None, [sample(3, 1, 1), sample(1, 1, 1)])


@pytest.mark.parametrize("content", [0, [], {}, False])
def test_a_batch_that_is_false_but_not_none_is_a_batch(content: Any) -> None:
    assert collate_checked(lambda values: content, [sample(0, 1, 1)]) is content
