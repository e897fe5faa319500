"""The error tree: one root, the tree of the docstring, and what the errors carry."""

from __future__ import annotations

import inspect
import re

import pytest

from dgap.protocol import errors
from dgap.protocol.errors import (
    CollectiveFailed,
    ConfigError,
    DgapError,
    PeerError,
    PeerFailed,
    PeerStopped,
)

CLASSES = {
    name: value
    for name, value in vars(errors).items()
    if inspect.isclass(value) and issubclass(value, Exception)
}


def test_every_error_is_a_dgap_error_and_says_what_it_is() -> None:
    assert all(issubclass(each, DgapError) and each.__doc__ for each in CLASSES.values())


def test_the_docstring_draws_exactly_the_tree_there_is() -> None:
    drawn: dict[str, str] = {}
    parents: list[str] = []
    for indent, name in re.findall(r"^    ([│├└─ ]*)(\w+)", errors.__doc__ or "", re.MULTILINE):
        depth = len(indent) // 4
        del parents[depth:]
        drawn[name] = parents[-1] if parents else "Exception"
        parents.append(name)
    assert drawn == {name: each.__bases__[0].__name__ for name, each in CLASSES.items()}


def test_a_wrong_setting_is_a_value_error_too() -> None:
    assert issubclass(ConfigError, ValueError)


@pytest.mark.parametrize("kind", [PeerFailed, PeerStopped])
def test_a_peer_error_names_rank_and_step(kind: type[PeerError]) -> None:
    error = kind("rank 3 failed", rank=3, step=17)
    assert (str(error), error.rank, error.step) == ("rank 3 failed", 3, 17)


def test_a_failed_collective_names_the_ranks_if_they_are_known() -> None:
    assert CollectiveFailed("silence").ranks == ()
    assert CollectiveFailed("silence", ranks=(1, 2)).ranks == (1, 2)
