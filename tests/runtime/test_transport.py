"""A rank that is alone: every collective returns its own words, as copies."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dgap.protocol.errors import MalformedReport
from dgap.runtime.transport import AloneTransport, Transport
from tests.runtime.loading import COSTS, loader


def test_a_rank_alone_is_a_transport_of_one() -> None:
    transport: Transport = AloneTransport()
    assert (transport.rank, transport.world_size, transport.closed) == (0, 1, False)


def test_its_collectives_return_what_they_are_given() -> None:
    words = [3, 0, 2**62]
    transport = AloneTransport()
    assert transport.gather(words) == [words]
    assert transport.total(words) == words
    assert transport.share(b"payload", 0) == b"payload"


def test_what_it_returns_is_not_the_callers_list() -> None:
    words = [1, 2]
    transport = AloneTransport()
    assert transport.gather(words)[0] is not words
    assert transport.total(words) is not words


def test_it_can_be_used_after_closing_since_nothing_is_held() -> None:
    transport = AloneTransport()
    transport.close()
    transport.close()
    assert not transport.closed
    assert transport.gather([1]) == [[1]]


def test_a_gather_that_brings_other_words_than_were_sent_ends_the_epoch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def gather(self: AloneTransport, words: Sequence[int]) -> list[list[int]]:
        return [[*words[:-1], 1 - words[-1]]]

    monkeypatch.setattr(AloneTransport, "gather", gather)
    made = loader(COSTS)
    with pytest.raises(MalformedReport, match=r"rank 0 sent .* and the gather returned"):
        list(made)
    made.close()
