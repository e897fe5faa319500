"""Packing round trips: same types, dtypes, shapes, values and identities; nothing shared."""

from __future__ import annotations

import pickle
from collections import OrderedDict, UserDict, defaultdict, namedtuple
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dgap.runtime import packing
from dgap.runtime.packing import leave_unpacked, pack, unpack

Pair = namedtuple("Pair", ["first", "second"])


@dataclass(frozen=True)
class Example:
    input_ids: Any
    note: str = ""


class Keyed(dict[str, Any]):
    """A dict subclass with an attribute of its own."""

    source = "none"


class Subclass(torch.Tensor):
    pass


class Kind(Enum):
    CHAT = 1


def same(left: Any, right: Any) -> bool:
    """Equal in type, shape, dtype and value all the way down."""
    if type(left) is not type(right):
        return False
    if isinstance(left, torch.Tensor):
        return left.dtype == right.dtype and torch.equal(left, right)
    if isinstance(left, np.ndarray):
        return (
            left.dtype == right.dtype and left.shape == right.shape and bool((left == right).all())
        )
    if isinstance(left, (dict, UserDict)):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, Example):
        return same(left.input_ids, right.input_ids) and left.note == right.note
    return bool(left == right)


def carried(samples: list[Any]) -> list[Any]:
    """Through a pickle, as between processes."""
    return unpack(pickle.loads(pickle.dumps(pack(samples))))


keyed = Keyed(input_ids=torch.arange(4))
keyed.source = "unit"
SAMPLES: list[Any] = [
    {"input_ids": torch.arange(7), "labels": torch.full((1, 7), -100)},
    {"pixels": torch.rand(3, 4, 5).permute(2, 0, 1), "scale": torch.tensor(2.5)},
    {"ids": np.arange(6, dtype=np.int32), "mask": np.ones((2, 3), dtype=bool)},
    {"ids": np.array(3.5), "empty": np.empty((0, 4)), "none": torch.empty(0, 2)},
    {"ids": list(range(40)), "wide": [2**80, -(2**63), *range(10)], "short": [1, 2]},
    {"mixed": [True, 1, 1.0, None, "a", 2, 3, 4, 5], "words": ["ab"] * 20},
    (torch.arange(3), [torch.ones(2), {"deep": (np.arange(2),)}], "text"),
    Pair(torch.arange(2, dtype=torch.uint8), np.arange(3, dtype=np.float16)),
    Example(torch.ones(2, dtype=torch.bfloat16), "note"),
    OrderedDict(b=torch.arange(1), a=2),
    defaultdict(list, ids=[1]),
    UserDict(ids=torch.arange(3)),
    keyed,
    {1: torch.ones(1), "x": 2, None: 3},
    np.array(["a", "bc"]),
    np.array([{"a": 1}], dtype=object),
    np.arange(4, dtype=">i4"),
    np.arange(6).reshape(2, 3).T,
    torch.tensor([1 + 2j]).conj(),
    Kind.CHAT,
    b"bytes",
    None,
    5,
    "text",
]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: type(sample).__name__)
def test_a_sample_of_this_kind_comes_back_the_same(sample: Any) -> None:
    assert same(carried([sample]), [sample])


def test_all_kinds_share_one_chunk() -> None:
    assert same(carried(SAMPLES), SAMPLES)


def test_attributes_of_a_dict_subclass_come_back() -> None:
    assert carried([keyed])[0].source == "unit"


trees = st.recursive(
    st.one_of(
        st.lists(st.integers(-5, 5), max_size=12).map(lambda v: torch.tensor(v, dtype=torch.int64)),
        st.lists(st.integers(-5, 5), max_size=12).map(lambda v: np.array(v, dtype=np.int16)),
        st.lists(st.integers(), max_size=12),
        st.lists(st.floats(allow_nan=False), max_size=10),
        st.text(max_size=5),
        st.none(),
        st.booleans(),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.text(max_size=2), inner, max_size=4),
        st.tuples(inner, inner),
        st.builds(Pair, inner, inner),
        st.builds(Example, inner),
    ),
    max_leaves=12,
)


@settings(max_examples=120, deadline=None)
@given(st.lists(trees, max_size=6))
def test_random_trees_come_back_the_same(samples: list[Any]) -> None:
    assert same(carried(samples), samples)


@pytest.mark.parametrize("limit_bytes", [0, 2**30], ids=["shared memory", "inline"])
def test_both_ways_of_carrying_a_buffer_give_the_same(
    limit_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "INLINE_SIZE_LIMIT_BYTES", limit_bytes)
    chunk = pack(SAMPLES)
    assert any(isinstance(column.buffer, torch.Tensor) for column in chunk.columns) == (
        limit_bytes == 0
    )
    assert same(unpack(chunk), SAMPLES)


def test_one_object_met_twice_is_one_object_again() -> None:
    ids = torch.arange(9)
    first, second = carried([{"input_ids": ids, "labels": ids}, {"input_ids": ids}])
    assert first["input_ids"] is first["labels"]
    assert second["input_ids"] is first["input_ids"]


@pytest.mark.parametrize("limit_bytes", [0, 2**30], ids=["shared memory", "inline"])
def test_writing_into_what_came_out_reaches_nobody_else(
    limit_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "INLINE_SIZE_LIMIT_BYTES", limit_bytes)
    sources = [{"t": torch.zeros(3), "a": np.zeros(3), "l": [0] * 9} for _ in range(3)]
    results: list[Any] = unpack(pack(sources))
    results[1]["t"].fill_(5)
    results[1]["a"][:] = 5
    results[1]["l"][0] = 5
    zeros = {"t": torch.zeros(3), "a": np.zeros(3), "l": [0] * 9}
    assert same(sources, [zeros] * 3)
    assert same([results[0], results[2]], [zeros] * 2)


def test_a_chunk_of_text_is_one_buffer_without_a_descriptor() -> None:
    sample = {key: torch.arange(350) for key in ("input_ids", "labels", "attention_mask")}
    chunk = pack([dict(sample, input_ids=torch.arange(350)) for _ in range(32)])
    assert len(chunk.columns) == 1
    assert isinstance(chunk.columns[0].buffer, bytes)
    assert chunk.skeleton is not None
    assert len(chunk.skeleton) < 2000


@pytest.mark.parametrize(
    "tensor",
    [
        torch.nn.Parameter(torch.ones(2)),
        torch.ones(2, requires_grad=True),
        torch.eye(3).to_sparse(),
        torch.ones(2).as_subclass(Subclass),
        torch.ones(2, dtype=torch.uint16),
    ],
    ids=["parameter", "gradient", "sparse", "subclass", "rare dtype"],
)
def test_a_tensor_that_cannot_be_packed_travels_as_it_is(tensor: torch.Tensor) -> None:
    chunk = pack([{"x": tensor, "y": torch.ones(1)}])
    assert chunk.as_it_is == (tensor,)
    (result,) = unpack(chunk)
    assert isinstance(result, dict)
    assert result["x"] is tensor


def test_a_tensor_inside_an_autograd_graph_is_refused_with_the_remedy() -> None:
    with pytest.raises(pickle.PicklingError, match="detach"):
        pack([torch.ones(2, requires_grad=True) * 2])


def test_left_unpacked_the_samples_are_the_very_same() -> None:
    samples = [lambda: 1, torch.ones(2)]
    results = unpack(leave_unpacked(samples))
    assert results[0] is samples[0]
    assert results[1] is samples[1]
    assert unpack(pack([])) == []
