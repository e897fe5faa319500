"""The first round: ranks introduce themselves, and those that were not started alike refuse.

Rules kept here:
1. The greeting travels with the first report of an epoch, so refusing costs no extra collective.
2. All ranks read the same vector, so all raise the same `RanksDiffer` (A6).
"""

from __future__ import annotations

from collections.abc import Sequence

from dgap.protocol.codec import (
    GREETING_SIZE,
    Greeting,
    decode_reports,
    encode_greeting,
    encode_report,
    refusal,
)
from dgap.protocol.errors import MalformedReport
from dgap.protocol.vocabulary import Report

from .chunks import Sample
from .digest import content_digest

DIGEST_SAMPLES = 32
"""Samples of the first window that are compared with the peers'."""


class Introduction:
    """Encodes and decodes the vectors of an epoch; the first one carries the greeting."""

    def __init__(
        self,
        *,
        rank: int,
        table_digest: str,
        settings: tuple[tuple[str, int], ...],
        allow_same_data: bool,
    ) -> None:
        self._rank = rank
        self._sent: tuple[int, ...] = ()
        self._table_digest = table_digest
        self._settings = settings
        self._allow_same_data = allow_same_data
        self._greeting: Greeting | None = None

    def words(self, report: Report, window: Sequence[Sample]) -> tuple[int, ...]:
        """What this rank sends: the report, in the first round with the greeting before it."""
        if self._greeting is not None:
            self._sent = tuple(encode_report(report))
            return self._sent
        first = [sample.value for sample in window[:DIGEST_SAMPLES]]
        digest = 0 if self._allow_same_data or not first else content_digest(first)
        self._greeting = Greeting(
            table_digest=self._table_digest, settings=self._settings, sample_digest=digest
        )
        self._sent = (*encode_greeting(self._greeting), *encode_report(report))
        return self._sent

    def read(self, vector: Sequence[Sequence[int]], *, first: bool) -> tuple[Report, ...]:
        """One report per rank.

        Raises RanksDiffer (the same on all ranks) in the first round, MalformedReport if a word
        is out of bounds or this rank's own words came back changed (A1).
        """
        if len(vector) <= self._rank or tuple(vector[self._rank]) != self._sent:
            raise MalformedReport(
                f"rank {self._rank} sent {self._sent} and the gather returned "
                f"{vector[self._rank : self._rank + 1]} for it: does something else use the "
                "loader's process group?"
            )
        if not first or self._greeting is None:
            return decode_reports(vector)
        error = refusal(
            self._greeting,
            [words[:GREETING_SIZE] for words in vector],
            allow_same_data=self._allow_same_data,
        )
        if error is not None:
            raise error
        return decode_reports([words[GREETING_SIZE:] for words in vector])
