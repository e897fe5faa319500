"""Costs and targets of every kind of sample that people have, and refusals that name the sample."""

from __future__ import annotations

from collections import OrderedDict, UserDict, namedtuple
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dgap.protocol.errors import BadCost
from dgap.runtime.sample import (
    Measurement,
    default_cost,
    default_target_count,
    measure,
    shifted_target_count,
)

Pair = namedtuple("Pair", ["input_ids", "labels"])


@dataclass
class Example:
    input_ids: Any
    labels: Any = None


FIVE_IDS = [
    [1, 2, 3, 4, 5],
    (1, 2, 3, 4, 5),
    [[1, 2, 3, 4, 5]],
    torch.arange(5),
    torch.arange(5)[None],
    np.arange(5),
    np.arange(5)[None],
]


@pytest.mark.parametrize("ids", FIVE_IDS, ids=lambda ids: f"{type(ids).__name__}-{len(ids)}")
@pytest.mark.parametrize(
    "container",
    [
        lambda ids: {"input_ids": ids},
        lambda ids: OrderedDict(input_ids=ids),
        lambda ids: UserDict(input_ids=ids),
        lambda ids: Pair(ids, None),
        lambda ids: Example(ids),
        lambda ids: SimpleNamespace(input_ids=ids),
    ],
    ids=["dict", "OrderedDict", "UserDict", "namedtuple", "dataclass", "object"],
)
def test_every_container_of_every_kind_of_ids_costs_its_length(container: Any, ids: Any) -> None:
    assert default_cost(container(ids)) == 5


@pytest.mark.parametrize(
    "sample",
    [
        {"inputs_embeds": torch.ones(3, 4)},
        (torch.arange(3), torch.arange(3)),
        "text",
        {"input_ids": None},
        {"input_ids": "abc"},
        {"input_ids": torch.ones(2, 3)},
        {"input_ids": torch.tensor(4)},
        {"input_ids": [[1, 2], [3, 4]]},
        {"input_ids": 7},
    ],
)
def test_a_sample_that_the_default_cannot_measure_asks_for_a_cost_function(sample: Any) -> None:
    with pytest.raises(BadCost, match="cost_fn"):
        default_cost(sample)


@pytest.mark.parametrize("ids", [[], [[]], torch.empty(0), np.empty((1, 0))])
def test_an_empty_sample_costs_nothing(ids: Any) -> None:
    assert measure({"input_ids": ids}, index=0) == Measurement(0, 0)


def test_none_costs_nothing_and_is_not_shown_to_the_functions() -> None:
    assert measure(None, index=0, cost_fn=len) == Measurement(0, 0)
    assert measure([1], index=0, cost_fn=lambda sample: None) == Measurement(0, 0)


MASKED = [-100, -100, 3, 4, -100]


@pytest.mark.parametrize(
    "labels",
    [MASKED, [MASKED], torch.tensor(MASKED), torch.tensor([MASKED]), np.array(MASKED)],
)
def test_targets_are_the_labels_that_are_not_ignored(labels: Any) -> None:
    assert default_target_count({"labels": labels}, 5) == 2
    assert default_target_count(Pair(None, labels), 5) == 2
    assert shifted_target_count({"labels": labels}, 5) == 2


@given(
    labels=st.lists(st.sampled_from([-101, -100, -99, 0, 7]), max_size=20),
    dtype=st.sampled_from([torch.int64, torch.int32, torch.int16, torch.float32, torch.bfloat16]),
    stride=st.integers(1, 3),
    as_array=st.booleans(),
)
def test_labels_of_any_dtype_and_stride_are_counted_as_one_counts_them_by_hand(
    labels: list[int], dtype: torch.dtype, stride: int, as_array: bool
) -> None:
    tensor = torch.tensor(labels, dtype=dtype)[::stride]
    by_hand = [label != -100 for label in tensor.tolist()]
    given_labels = tensor.numpy() if as_array and dtype is not torch.bfloat16 else tensor
    assert default_target_count({"labels": given_labels}, 99) == sum(by_hand)
    assert shifted_target_count({"labels": given_labels}, 99) == sum(by_hand[1:])
    assert tensor.tolist() == torch.tensor(labels, dtype=dtype)[::stride].tolist()


def test_the_shifted_count_leaves_out_the_first_label() -> None:
    for labels in ([1, 2, 3], [[1, 2, 3]], torch.tensor([[1, 2, 3]]), np.array([1, 2, 3])):
        assert default_target_count({"labels": labels}, 3) == 3
        assert shifted_target_count({"labels": labels}, 3) == 2
    assert shifted_target_count({}, 3) == 2


def test_a_class_label_is_one_target_and_no_labels_count_the_cost() -> None:
    assert default_target_count({"labels": 3}, 9) == 1
    assert default_target_count({"labels": torch.tensor(3)}, 9) == 1
    assert default_target_count({"labels": -100}, 9) == 0
    assert default_target_count({}, 9) == 9
    assert default_target_count({"labels": None}, 9) == 9


@pytest.mark.parametrize("cost", [7, np.int32(7), np.uint8(7), torch.tensor(7), np.array(7)])
def test_all_kinds_of_integers_are_accepted_as_plain_ones(cost: Any) -> None:
    measured = measure("x", index=0, cost_fn=lambda sample: cost)
    assert measured == Measurement(7, 7)
    assert type(measured.cost) is int


@pytest.mark.parametrize(
    "cost",
    [
        True,
        np.bool_(True),
        torch.tensor(True),
        2.0,
        float("nan"),
        torch.tensor(2.0),
        torch.tensor([2]),
        np.array([2]),
        "3",
        -1,
        2**63,
    ],
    ids=repr,
)
def test_anything_else_is_refused_with_index_and_value(cost: Any) -> None:
    with pytest.raises(BadCost, match=r"cost_fn returned .* index 41"):
        measure("x", index=41, cost_fn=lambda sample: cost)
    with pytest.raises(BadCost, match=r"target_fn returned .* index 41"):
        measure("x", index=41, cost_fn=len, target_fn=lambda sample, n: cost)


def test_the_users_own_exception_is_not_replaced() -> None:
    with pytest.raises(ZeroDivisionError):
        measure("x", index=0, cost_fn=lambda sample: 1 // 0)
