"""The wire format: a report as a few 64-bit integers, and the greeting of the first round.

Rules kept here:
1. What is decoded is checked: a word out of its bounds raises `MalformedReport` with the rank.
2. The greeting has one size for all versions, so that any two versions can refuse each other.
3. Refusal is computed from the gathered greetings alone: all ranks raise the same error (A6).

A round's vector is `REPORT_SIZE` words a rank; the first round's has `GREETING_SIZE` words more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from .errors import MalformedReport, RanksDiffer, SameData, SettingsDiffer, VersionsDiffer
from .vocabulary import FailureCode, Report

WIRE_VERSION = 1
SETTINGS_LIMIT = 25
DIGEST_WORDS = 4
GREETING_SIZE = 1 + DIGEST_WORDS + SETTINGS_LIMIT + 1
REPORT_SIZE = len(Report._fields)
COUNT_LIMIT = 2**63
"""Counts stay below this (A7): the words travel as signed 64-bit integers."""

_FLAGS = ("exhausted", "stopped", "dry")


@dataclass(frozen=True, kw_only=True)
class Greeting:
    """What a rank says of itself in the first round of an epoch.

    `settings` are (name, value) pairs in one order on all ranks, at most `SETTINGS_LIMIT`;
    values that are no small integers are given as `word(text)`. `sample_digest` is a digest of
    the contents of the first samples, 0 for a rank that has none or does not want the check.
    """

    table_digest: str
    settings: tuple[tuple[str, int], ...]
    sample_digest: int = 0

    def __post_init__(self) -> None:
        values = [value for _, value in self.settings]
        if len(values) > SETTINGS_LIMIT or not all(0 <= v < COUNT_LIMIT for v in values):
            raise ValueError(f"at most {SETTINGS_LIMIT} settings, each in [0, 2**63): {values}")


def word(text: str) -> int:
    """A text as one word in [0, 2**62): equal texts give equal words on every machine."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 2


def encode_greeting(greeting: Greeting) -> list[int]:
    """`GREETING_SIZE` words: wire version, table digest, settings, sample digest."""
    digest = bytes.fromhex(greeting.table_digest)
    words = [
        int.from_bytes(digest[at : at + 8], "big") >> 1 for at in range(0, 8 * DIGEST_WORDS, 8)
    ]
    values = [value for _, value in greeting.settings]
    padding = [0] * (SETTINGS_LIMIT - len(values))
    return [WIRE_VERSION, *words, *values, *padding, greeting.sample_digest]


def encode_report(report: Report) -> list[int]:
    """`REPORT_SIZE` words, in the order of the fields."""
    return [int(value) for value in report]


def decode_reports(vector: Sequence[Sequence[int]]) -> tuple[Report, ...]:
    """One report per rank. Raises MalformedReport naming rank and field."""
    return tuple(_decode_report(words, rank) for rank, words in enumerate(vector))


def _decode_report(words: Sequence[int], rank: int) -> Report:
    if len(words) != REPORT_SIZE:
        raise MalformedReport(f"rank {rank} sent {len(words)} words, not {REPORT_SIZE}")
    report = Report(*words)
    for name, value in report._asdict().items():
        limit = 2 if name in _FLAGS else len(FailureCode) if name == "failed" else COUNT_LIMIT
        if not 0 <= value < limit:
            raise MalformedReport(f"rank {rank} sent {name}={value}, not in [0, {limit})")
    return report


def refusal(
    own: Greeting, vector: Sequence[Sequence[int]], *, allow_same_data: bool
) -> RanksDiffer | None:
    """Why these ranks may not run together, or None. `vector` holds one greeting per rank.

    The answer is the same on every rank whose own greeting is in the vector. Versions are
    compared first, since words of another version may mean something else.
    """
    return (
        _versions_differ(vector)
        or _settings_differ(own, vector)
        or (None if allow_same_data else _same_data(vector))
    )


def _versions_differ(vector: Sequence[Sequence[int]]) -> RanksDiffer | None:
    heads = [tuple(words[: 1 + DIGEST_WORDS]) for words in vector]
    other = _first_other(heads)
    if other is None:
        return None
    what = "wire version" if heads[0][0] != heads[other][0] else "transition table"
    return VersionsDiffer(
        f"rank {other} runs another {what} than rank 0; install the same dgap on all ranks"
    )


def _settings_differ(own: Greeting, vector: Sequence[Sequence[int]]) -> RanksDiffer | None:
    for index, (name, _) in enumerate(own.settings):
        values = [words[1 + DIGEST_WORDS + index] for words in vector]
        other = _first_other(values)
        if other is not None:
            return SettingsDiffer(
                f"setting {name!r} differs: rank 0 has {values[0]}, rank {other} has "
                f"{values[other]} (texts are shown as digests); give all ranks the same value"
            )
    return None


def _same_data(vector: Sequence[Sequence[int]]) -> RanksDiffer | None:
    first_with: dict[int, int] = {}
    for rank, words in enumerate(vector):
        digest = words[GREETING_SIZE - 1]
        if digest and digest in first_with:
            return SameData(
                f"ranks {first_with[digest]} and {rank} read the same first samples: the source "
                "is not sharded. Leave `sampler` unset to have it sharded, pass a distributed "
                "sampler, or set allow_same_data=True if this is meant"
            )
        first_with.setdefault(digest, rank)
    return None


def _first_other(values: Sequence[object]) -> int | None:
    """The first rank whose value is not rank 0's."""
    return next((rank for rank, value in enumerate(values) if value != values[0]), None)
