"""The arguments of a loader: what can only be wrong is refused with the nearest right thing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from torch.utils.data import IterableDataset

from dgap.protocol.errors import ConfigError
from dgap.runtime.arguments import build_config, check_arguments


class Stream(IterableDataset[int]):
    def __iter__(self) -> Iterator[int]:
        return iter([1])


class Endless:
    def __getitem__(self, index: int) -> int:
        return index


FUNCTIONS: dict[str, Any] = {
    "collate_fn": list,
    "cost_fn": len,
    "target_fn": max,
    "truncate_fn": None,
}


def check(
    dataset: object = (1, 2),
    sampler: object = None,
    workers: tuple[object, object] = (0, None),
    settings: dict[str, Any] | None = None,
    functions: dict[str, Any] | None = None,
) -> None:
    config = build_config({"token_budget": 8, **(settings or {})})
    check_arguments(dataset, sampler, {**FUNCTIONS, **(functions or {})}, workers, config)


def test_the_settings_become_a_config() -> None:
    config = build_config({"token_budget": 8, "tail": "stop"})
    assert (config.token_budget, config.tail) == (8, "stop")


def test_a_near_miss_is_answered_with_the_right_name() -> None:
    with pytest.raises(ConfigError, match="'token_buget'; did you mean 'token_budget'"):
        build_config({"token_buget": 8})


def test_a_name_like_no_other_is_answered_with_all_of_them() -> None:
    with pytest.raises(ConfigError, match="'zzz'; known are token_budget, budget_kind, window"):
        build_config({"zzz": 8, "token_budget": 8})


def test_the_budget_must_be_given() -> None:
    with pytest.raises(ConfigError, match="token_budget=<tokens> is required"):
        build_config({})


@pytest.mark.parametrize("dataset", [Stream(), None, 5])
def test_a_data_set_without_indices_is_refused(dataset: object) -> None:
    with pytest.raises(ConfigError, match=f"map-style .* not {type(dataset).__name__}"):
        check(dataset)


def test_something_must_have_a_length() -> None:
    with pytest.raises(ConfigError, match="dataset must have a length"):
        check(Endless())
    with pytest.raises(ConfigError, match="sampler must have a length"):
        check(sampler=iter([0, 1]))
    check(Endless(), sampler=[0, 1])


@pytest.mark.parametrize("name", ["collate_fn", "cost_fn", "target_fn", "truncate_fn"])
def test_a_function_that_cannot_be_called_is_named(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} must be a function, not 5"):
        check(settings={"on_over_budget": "truncate"}, functions={"truncate_fn": list, name: 5})


@pytest.mark.parametrize("name", ["collate_fn", "cost_fn", "target_fn"])
def test_only_truncate_fn_may_be_left_out(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} must be a function, not None"):
        check(functions={name: None})
    check(functions={"truncate_fn": None})


@pytest.mark.parametrize("count", [-1, 1.0, True, "2"])
def test_a_number_of_workers_that_is_none_is_refused(count: object) -> None:
    with pytest.raises(ConfigError, match="num_workers"):
        check(workers=(count, None))


@pytest.mark.parametrize("factor", [0, 1.0, True])
def test_a_prefetch_factor_that_fetches_nothing_is_refused(factor: object) -> None:
    with pytest.raises(ConfigError, match="prefetch_factor"):
        check(workers=(1, factor))


def test_truncating_and_its_function_go_together() -> None:
    with pytest.raises(ConfigError, match="go together"):
        check(settings={"on_over_budget": "truncate"})
    with pytest.raises(ConfigError, match="go together"):
        check(functions={"truncate_fn": list})
    check(settings={"on_over_budget": "truncate"}, functions={"truncate_fn": list})
