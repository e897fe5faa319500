"""The requests are values: equal by content, never changed."""

from __future__ import annotations

import dataclasses
from typing import Any, get_args

import pytest

from dgap.runtime import requests
from dgap.runtime.requests import Gather, Share, Total

KINDS = get_args(requests.Request)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_each_request_is_a_frozen_value_that_says_what_answers_it(kind: Any) -> None:
    values = [0 for _ in dataclasses.fields(kind)]
    assert kind(*values) == kind(*values)
    assert "Answer: " in kind.__doc__
    for field in dataclasses.fields(kind):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(kind(*values), field.name, 1)


def test_requests_of_different_kinds_are_never_equal() -> None:
    requests_of_all_kinds: set[object] = {Gather((1, 2)), Total((1, 2))}
    assert len(requests_of_all_kinds) == 2
    assert Gather((1, 2)) != Gather((2, 1))
    assert Share(b"", 0) != Share(b"", 1)
