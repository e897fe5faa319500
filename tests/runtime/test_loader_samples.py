"""Samples of any kind, and the policies for those that break the rules, through the loader."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch.utils.data import Dataset

from dgap.protocol.errors import BadBatch, BadCost, EmptySample, OverBudget, SampleChanged
from dgap.runtime import DynamicBatchLoader
from tests.runtime.leftovers import Leftovers
from tests.runtime.loading import Tokens, loader, numbers


@dataclasses.dataclass(frozen=True)
class Record:
    input_ids: torch.Tensor
    labels: list[int]


class Named(NamedTuple):
    input_ids: Any
    labels: Any


class Encoding(dict[str, Any]):
    """A dict subclass, as tokenizers return."""


LENGTHS = [3, 1, 4, 1, 5]
LABELS = {length: [-100] * (length - 1) + [7] for length in LENGTHS}
BY_LENGTH = {"cost_fn": len}
KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "dict of tensors [L]": (lambda n: {"input_ids": torch.arange(n), "labels": LABELS[n]}, {}),
    "dict of tensors [1, L]": (
        lambda n: {"input_ids": torch.arange(n)[None], "labels": torch.tensor([LABELS[n]])},
        {},
    ),
    "dict of arrays": (
        lambda n: {"input_ids": np.arange(n), "labels": np.array(LABELS[n])},
        {},
    ),
    "dict of lists": (lambda n: {"input_ids": list(range(n)), "labels": LABELS[n]}, {}),
    "dict subclass": (lambda n: Encoding(input_ids=list(range(n)), labels=LABELS[n]), {}),
    "dataclass": (lambda n: Record(torch.arange(n), LABELS[n]), {}),
    "named tuple": (lambda n: Named(torch.arange(n), LABELS[n]), {}),
    "tuple": (
        lambda n: (torch.arange(n), LABELS[n]),
        {"cost_fn": lambda s: len(s[0]), "target_fn": lambda s, cost: 1},
    ),
    "tensor": (torch.arange, {**BY_LENGTH, "target_fn": lambda s, cost: 1}),
    "array": (np.arange, {**BY_LENGTH, "target_fn": lambda s, cost: 1}),
    "text": (lambda n: "x" * n, {**BY_LENGTH, "target_fn": lambda s, cost: 1}),
}


@pytest.mark.parametrize("num_workers", [0, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_samples_of_every_kind_reach_the_collate_function_as_they_were(
    kind: str, num_workers: int
) -> None:
    make, functions = KINDS[kind]
    samples = [make(length) for length in LENGTHS]
    made: DynamicBatchLoader = loader(
        dataset=samples, collate_fn=list, num_workers=num_workers, **functions
    )
    for values, step in made.steps():
        assert step.tokens == sum(LENGTHS[index] for index in step.sample_indices)
        assert step.targets == step.samples == len(values)
        for value, index in zip(values, step.sample_indices, strict=True):
            assert type(value) is type(samples[index])
            assert str(value) == str(samples[index])
            assert num_workers or value is samples[index]
    assert made.ledger.delivered == len(LENGTHS)


class Odd(Dataset[Any]):
    """Five good samples of 5 tokens and one odd one, number 2."""

    def __init__(self, odd: Any, size: int = 6) -> None:
        self.odd = odd
        self.size = size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> Any:
        if index >= 6:
            raise IndexError("list index out of range")
        if index == 2:
            return self.odd() if callable(self.odd) else self.odd
        return {"input_ids": torch.full((5,), index)}


EMPTY = {"input_ids": torch.ones(0)}
LONG = {"input_ids": torch.full((21,), 2)}


def refuse() -> Any:
    raise ValueError("broken file")


def failure(dataset: Any, **settings: Any) -> BaseException:
    """What the loop is raised; everything it got before is accounted for."""
    with Leftovers():
        made = loader(dataset=dataset, **settings)
        with pytest.raises(Exception) as caught:  # noqa: PT011 - the caller looks at it
            list(made)
        made.close()
        assert made.ledger.balance == 0
    return caught.value


@pytest.mark.parametrize("num_workers", [0, 2])
@pytest.mark.parametrize(
    ("odd", "settings", "kind", "words"),
    [
        (None, {}, EmptySample, 'sample 2 is empty .* on_empty="skip"'),
        (EMPTY, {}, EmptySample, "sample 2 is empty"),
        (LONG, {"on_over_budget": "error"}, OverBudget, "sample 2 costs 21 .* budget of 20"),
        (refuse, {}, ValueError, "broken file"),
        ({"text": "no ids"}, {}, BadCost, "no input_ids .* cost_fn="),
    ],
    ids=["None", "empty", "over budget", "raises", "not measured"],
)
def test_a_sample_that_breaks_the_rules_is_an_error_that_names_it(
    odd: Any, settings: dict[str, Any], kind: type[Exception], words: str, num_workers: int
) -> None:
    error = failure(Odd(odd), num_workers=num_workers, **settings)
    assert type(error) is kind
    assert re.search(words, str(error))


@pytest.mark.parametrize("cost", [-1, 1.5, "5", True, 2**63, torch.ones(2)])
def test_a_cost_that_is_no_count_is_an_error_that_names_the_sample(cost: Any) -> None:
    error = failure(Odd(LONG), cost_fn=lambda sample: cost)
    assert type(error) is BadCost
    assert "index 0" in str(error)


@pytest.mark.parametrize(
    ("odd", "settings", "counter"),
    [
        (None, {"on_empty": "skip"}, "skipped_empty"),
        (EMPTY, {"on_empty": "skip"}, "skipped_empty"),
        (LONG, {"on_over_budget": "skip"}, "skipped_over_budget"),
        (refuse, {"on_error": "skip"}, "skipped_error"),
        ({"text": "no ids"}, {"on_error": "skip"}, "skipped_error"),
    ],
    ids=["None", "empty", "over budget", "raises", "not measured"],
)
def test_what_is_skipped_is_counted_by_its_reason_and_nothing_else_is_missing(
    odd: Any, settings: dict[str, Any], counter: str
) -> None:
    made = loader(dataset=Odd(odd), **settings)
    assert sorted(numbers(made)) == [0, 1, 3, 4, 5]
    assert getattr(made.ledger, counter) == made.ledger.skipped == 1
    assert made.progress == 1.0


def test_more_errors_than_the_limit_are_raised() -> None:
    made = loader(dataset=[refuse] * 4, cost_fn=lambda s: s(), on_error="skip", error_limit=4)
    assert list(made) == []
    error = failure([refuse] * 4, cost_fn=lambda s: s(), on_error="skip", error_limit=3)
    assert type(error) is ValueError


def test_an_over_budget_sample_is_alone_in_its_batch() -> None:
    made = loader(dataset=Odd(LONG))
    groups = [batch["numbers"] for batch in made]
    assert [2] in groups
    assert sorted(number for group in groups for number in group) == list(range(6))
    assert made.ledger.over_budget == 1


def test_an_over_budget_sample_can_be_cut_to_the_budget() -> None:
    def cut(sample: Any, budget: int) -> Any:
        return {"input_ids": sample["input_ids"][:budget]}

    made = loader(dataset=Odd(LONG), on_over_budget="truncate", truncate_fn=cut)
    by_number = {tuple(batch["numbers"]): batch for batch in made}
    assert by_number[(2,)]["input_ids"].shape == (1, 20)
    assert (made.ledger.truncated, made.ledger.delivered) == (1, 6)
    assert LONG["input_ids"].shape == (21,)


@pytest.mark.parametrize("num_workers", [0, 2])
def test_a_data_set_whose_length_lies_is_an_error_that_says_so(num_workers: int) -> None:
    error = failure(Odd(EMPTY, size=9), num_workers=num_workers, on_empty="skip")
    assert type(error) is SampleChanged
    assert "says it has 9 samples" in str(error)
    assert "index 6" in str(error)


def test_a_collate_function_that_returns_nothing_is_an_error() -> None:
    error = failure(Tokens([1, 2]), collate_fn=lambda samples: None)
    assert type(error) is BadBatch
    assert "returned None for the samples" in str(error)


def test_an_error_of_the_collate_function_is_raised_as_itself_with_the_samples() -> None:
    error = failure(Tokens([1, 2]), collate_fn=lambda samples: samples[0]["labels"])
    assert type(error) is KeyError
    assert "collating samples [0]" in error.__notes__[0]
