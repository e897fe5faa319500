"""The step and the batch: metadata stays outside the keys; copies keep it."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections import OrderedDict, UserDict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pytest
import torch

from dgap.runtime.step import Batch, Step, map_tensors, wrap

STEP = Step(
    index=4,
    epoch=1,
    round=2,
    weight=0.75,
    idle=False,
    sync=True,
    samples=3,
    tokens=10,
    padded_tokens=12,
    targets=7,
    global_samples=30,
    global_tokens=100,
    global_padded_tokens=120,
    global_targets=70,
    sample_indices=(5, 6, 7),
)


class Pair(NamedTuple):
    left: Any
    right: Any


def test_a_batch_has_the_collate_functions_keys_and_nothing_else() -> None:
    content = {"input_ids": torch.ones(2, 3), "labels": torch.ones(2, 3)}
    batch = wrap(content, STEP)
    assert type(batch) is Batch
    assert set(batch) == set(content)
    assert batch["input_ids"] is content["input_ids"]
    assert batch.step is STEP
    assert (lambda **keys: set(keys))(**batch) == set(content)


def test_a_mapping_that_is_no_dict_becomes_a_batch() -> None:
    batch = wrap(UserDict({"input_ids": [1]}), STEP)
    assert type(batch) is Batch
    assert batch == {"input_ids": [1]}


@pytest.mark.parametrize("content", [[1, 2], (1,), torch.ones(2), "text", 0, Pair(1, 2)])
def test_anything_else_comes_back_untouched(content: Any) -> None:
    assert wrap(content, STEP) is content


def test_to_moves_every_tensor_and_keeps_the_step_and_the_original() -> None:
    batch = Batch({"x": torch.ones(2), "deep": [{"y": torch.ones(1)}], "n": 5}, STEP)
    moved = batch.to(torch.float64)
    assert type(moved) is Batch
    assert moved.step is STEP
    assert moved["x"].dtype == torch.float64
    assert moved["deep"][0]["y"].dtype == torch.float64
    assert moved["n"] == 5
    assert batch["x"].dtype == torch.float32
    assert batch["deep"][0]["y"].dtype == torch.float32


def test_copies_and_pickles_of_a_batch_keep_the_step() -> None:
    batch = Batch({"x": [1]}, STEP)
    for other in (copy.copy(batch), copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))):
        assert type(other) is Batch
        assert other == batch
        assert other.step == STEP


def test_nested_containers_are_copied_with_their_kinds() -> None:
    one = torch.ones(1)
    changed = map_tensors({"a": Pair(one, "b"), "c": (one, [one]), "d": None}, lambda t: t + 1)
    assert changed == {"a": Pair(torch.tensor([2.0]), "b"), "c": changed["c"], "d": None}
    assert type(changed["a"]) is Pair
    assert type(changed["c"]) is tuple
    assert changed["c"][1][0].item() == 2.0
    assert one.item() == 1.0


class Encoding(UserDict[str, Any]):
    """As transformers' BatchEncoding: knows something beside its items."""

    def __init__(self, data: dict[str, Any], origin: str = "nowhere") -> None:
        super().__init__(data)
        self.origin = origin


class Fixed(Mapping[str, Any]):
    """Read-only, and shared by its shallow copies."""

    def __init__(self, items: dict[str, Any]) -> None:
        self.items_of_it = items

    def __getitem__(self, key: str) -> Any:
        return self.items_of_it[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.items_of_it)

    def __len__(self) -> int:
        return len(self.items_of_it)


class Pairs(Fixed):
    """Cannot be built from a dict alone."""

    def __init__(self, keys: list[str], values: list[Any]) -> None:
        super().__init__(dict(zip(keys, values, strict=True)))


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (Encoding({"x": torch.ones(1)}, origin="here"), Encoding),
        (OrderedDict(x=torch.ones(1)), OrderedDict),
        (Fixed({"x": torch.ones(1)}), Fixed),
        (Pairs(["x"], [torch.ones(1)]), dict),
    ],
    ids=["user dict", "subclass of dict", "read-only", "not built from a dict"],
)
def test_any_mapping_is_rebuilt_and_the_users_own_is_not_written_into(
    value: Mapping[str, Any], kind: type
) -> None:
    changed: Mapping[str, Any]
    (changed,) = map_tensors([value], lambda tensor: tensor + 1)
    assert type(changed) is kind
    assert {**changed} == {"x": torch.tensor([2.0])}
    assert {**value} == {"x": torch.tensor([1.0])}
    assert getattr(changed, "origin", "here") == "here"


def test_an_idle_step_has_no_samples_of_its_own_but_the_sums_of_all_ranks() -> None:
    idle = STEP.as_idle()
    assert (idle.weight, idle.idle, idle.sample_indices) == (0.0, True, ())
    assert (idle.samples, idle.tokens, idle.padded_tokens, idle.targets) == (0, 0, 0, 0)
    kept: list[str] = ["index", "epoch", "round", "sync"]
    kept += ("global_samples", "global_tokens", "global_padded_tokens", "global_targets")
    assert all(getattr(idle, name) == getattr(STEP, name) for name in kept)


def test_a_step_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        STEP.weight = 2.0  # type: ignore[misc]
