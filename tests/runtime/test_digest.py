"""Digests: equal contents alone make them equal, in any process; hidden contents make them 0."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

from dgap.runtime.digest import DIGEST_SIZE_BITS, content_digest


@dataclass
class Example:
    input_ids: Any


class Holder:
    def __init__(self, value: Any) -> None:
        self.value = value


def samples() -> list[Any]:
    return [
        {"input_ids": torch.arange(5), "text": "a b"},
        {"input_ids": np.arange(5), "image": torch.rand(2, 3, generator=torch.Generator())},
        Example([1, 2.5, None, True]),
        Holder((b"x", [1])),
    ]


def digest_in_another_process(hash_seed: str) -> int:
    code = (
        "from tests.runtime.test_digest import samples, content_digest;"
        "print(content_digest(samples()))"
    )
    environment = {
        **os.environ,
        "PYTHONHASHSEED": hash_seed,
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    output = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, check=True, timeout=120
    ).stdout
    return int(output)


def test_equal_contents_give_equal_digests_in_another_process() -> None:
    own = content_digest(samples())
    assert 0 < own < 2**DIGEST_SIZE_BITS
    assert digest_in_another_process("1") == own == digest_in_another_process("2")


DISTINCT: list[list[Any]] = [
    [{"a": torch.arange(4)}],
    [{"a": torch.arange(4).view(2, 2)}],
    [{"a": torch.arange(4, dtype=torch.int32)}],
    [{"a": torch.tensor([0, 1, 2, 4])}],
    [{"a": torch.arange(4).to(torch.bfloat16)}],
    [{"a": torch.arange(8)[::2]}],
    [{"a": np.arange(4)}],
    [{"a": [0, 1, 2, 3]}],
    [{"a": (0, 1, 2, 3)}],
    [{"b": [0, 1, 2, 3]}],
    [OrderedDict(a=[0, 1, 2, 3])],
    [{"a": [0, 1, 23]}],
    [{"a": [[0, 1], [2, 3]]}],
    [{"a": "0123"}],
    [{"a": b"0123"}],
    [{"a": 123.0}],
    [{"a": 123}],
    [None],
    [None, None],
    [Example(1)],
    [Holder(1)],
    [Holder(2)],
]


def test_contents_that_differ_in_any_way_give_other_digests() -> None:
    digests = [content_digest(contents) for contents in DISTINCT]
    assert 0 not in digests
    assert len(set(digests)) == len(DISTINCT)


def test_a_strided_view_reads_like_a_copy_of_it() -> None:
    view = torch.arange(8)[::2]
    assert content_digest([view]) == content_digest([view.clone()])


def deep() -> list[Any]:
    nest: list[Any] = []
    for _ in range(100):
        nest = [nest]
    return nest


def endless() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


@pytest.mark.parametrize(
    "contents",
    [
        [],
        [{"a": object()}],
        [torch.ones(3).to_sparse()],
        [torch.ones(3, device="meta")],
        [np.array([object()])],
        [deep()],
        [endless()],
        [list(range(200_000))],
        [Holder(int)],
    ],
    ids=lambda contents: type(contents[0]).__name__ if contents else "none",
)
def test_what_cannot_be_read_is_never_equal_to_anything(contents: list[Any]) -> None:
    assert content_digest(contents) == 0
