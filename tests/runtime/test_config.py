"""The settings: each wrong value is refused by name; what ranks share is listed once."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dgap.protocol.codec import SETTINGS_LIMIT, Greeting
from dgap.protocol.errors import ConfigError
from dgap.protocol.machine import check_settings
from dgap.protocol.vocabulary import Policy
from dgap.runtime.config import LoaderConfig

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"token_budget": 0}, "token_budget must be an integer of at least 1, not 0"),
    ({"token_budget": -5}, "token_budget"),
    ({"token_budget": 1.5}, "token_budget"),
    ({"token_budget": True}, "token_budget"),
    ({"token_budget": 2**62}, "token_budget"),
    ({"window": 0}, "window"),
    ({"accumulation_steps": 0}, "accumulation_steps"),
    ({"queue_size": 0}, "queue_size"),
    ({"chunk_size": 0}, "chunk_size"),
    ({"error_limit": -1}, "error_limit must be an integer of at least 0"),
    ({"seed": -1}, "seed"),
    ({"seed": "0"}, "seed"),
    ({"budget_kind": "sum"}, "budget_kind must be one of 'padded', 'packed', not 'sum'"),
    ({"mode": "both"}, "mode"),
    ({"policy": "best"}, "policy"),
    ({"tail": "drop"}, "tail"),
    ({"on_empty": "raise"}, "on_empty"),
    ({"on_over_budget": "cut"}, "on_over_budget"),
    ({"on_error": "error"}, "on_error"),
    ({"shuffle": "no"}, "shuffle must be True or False"),
    ({"allow_same_data": 1}, "allow_same_data"),
    ({"pin_memory": None}, "pin_memory"),
    ({"trace_dir": ""}, "trace_dir must be the path of a folder, not ''"),
    ({"trace_dir": True}, "trace_dir"),
    ({"timeout_s": 0}, "timeout_s"),
    ({"timeout_s": float("inf")}, "timeout_s"),
    ({"timeout_s": float("nan")}, "timeout_s"),
    ({"timeout_s": "60"}, "timeout_s"),
    ({"timeout_s": None}, "timeout_s"),
    ({"window": 3, "accumulation_steps": 4}, "window 3 must hold at least accumulation_steps 4"),
    ({"first_window": 0}, "first_window"),
    ({"first_window": 3, "accumulation_steps": 4}, "first_window"),
    ({"first_window": 9, "window": 8}, "first_window 9 must not exceed window 8"),
    ({"mode": "quota"}, "quota=<samples"),
    ({"quota": 5}, "quota=<samples"),
    ({"mode": "quota", "quota": 0}, "quota must be an integer of at least 1"),
    ({"tail": "stop", "accumulation_steps": 2}, 'use tail="idle"'),
]


def config(**settings: Any) -> LoaderConfig:
    return LoaderConfig(**{"token_budget": 100, **settings})


@pytest.mark.parametrize(("settings", "words"), WRONG, ids=[str(each[0]) for each in WRONG])
def test_a_wrong_value_is_refused_and_what_is_allowed_is_said(
    settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        config(**settings)
    assert words in str(caught.value)


def test_every_setting_but_the_budget_has_a_default_and_values_are_frozen() -> None:
    built = config()
    with pytest.raises(dataclasses.FrozenInstanceError):
        built.token_budget = 5  # type: ignore[misc]


@given(st.integers(1, 5000), st.integers(1, 64))
def test_the_first_window_holds_a_whole_update_and_never_exceeds_the_window(
    window: int, accumulation: int
) -> None:
    if accumulation > window:
        return
    built = config(window=window, accumulation_steps=accumulation)
    assert accumulation <= built.first_target <= window
    assert config(window=window, first_window=window).first_target == window


def test_the_first_window_is_a_64th_but_at_least_sixteen_samples() -> None:
    assert config(window=4096).first_target == 64
    assert config(window=100).first_target == 16
    assert config(window=5).first_target == 5


@given(st.integers(1, 10**6), st.integers(1, 64))
def test_the_shares_of_a_quota_are_even_and_add_up(quota: int, world_size: int) -> None:
    built = config(mode="quota", quota=quota)
    shares = [built.quota_share(rank, world_size) for rank in range(world_size)]
    assert sum(shares) == quota
    assert max(shares) - min(shares) <= 1


def test_in_join_mode_there_is_no_share() -> None:
    assert config().quota_share(0, 2) == 0


def test_the_settings_of_the_table_are_those_of_the_loader() -> None:
    built = config(window=9, accumulation_steps=3, mode="quota", quota=5, policy="paper")
    settings = built.settings()
    check_settings(settings)
    assert (settings.window, settings.accumulation, settings.quota) == (9, 3, 1)
    assert settings.policy == Policy.PAPER
    assert settings.tail_stop == 0
    assert config().settings().policy == Policy.FILL
    assert config(tail="stop").settings().tail_stop == 1


SHARED: list[dict[str, Any]] = [
    {"token_budget": 101},
    {"budget_kind": "packed"},
    {"window": 1023},
    {"first_window": 63},
    {"mode": "quota", "quota": 7},
    {"policy": "paper"},
    {"tail": "stop"},
    {"accumulation_steps": 2},
    {"on_empty": "skip"},
    {"on_over_budget": "skip"},
    {"on_error": "skip"},
    {"error_limit": 99},
    {"seed": 1},
    {"shuffle": True},
    {"allow_same_data": True},
]
LOCAL: list[dict[str, Any]] = [
    {"queue_size": 9},
    {"chunk_size": 9},
    {"timeout_s": 9},
    {"pin_memory": True},
    {"trace_dir": "traces"},
]


@pytest.mark.parametrize("settings", SHARED, ids=str)
def test_a_setting_that_ranks_must_share_shows_in_the_words(settings: dict[str, Any]) -> None:
    assert config(**settings).shared_words(0) != config().shared_words(0)


@pytest.mark.parametrize("settings", LOCAL, ids=str)
def test_a_setting_of_one_rank_alone_does_not(settings: dict[str, Any]) -> None:
    assert config(**settings).shared_words(0) == config().shared_words(0)


def test_every_setting_is_either_shared_or_local() -> None:
    tried = {name for settings in (*SHARED, *LOCAL) for name in settings}
    assert tried == {field.name for field in dataclasses.fields(LoaderConfig)}


def test_the_epoch_is_shared_and_all_words_fit_a_greeting() -> None:
    words = config().shared_words(3)
    assert dict(words)["epoch"] == 3
    assert len(words) <= SETTINGS_LIMIT
    Greeting(table_digest="00" * 32, settings=words)
