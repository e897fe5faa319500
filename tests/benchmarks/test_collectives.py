"""The latency model by hand, and the bytes of a message."""

from __future__ import annotations

import pytest

from benchmarks.collectives import (
    BYTES_PER_S,
    LATENCY_S,
    exchange_model_s,
    message_bytes,
    ring_gather_s,
    ring_sum_s,
)


def test_a_ring_gather_takes_one_hop_less_than_there_are_ranks() -> None:
    assert ring_gather_s(1, 1000) == 0.0
    assert ring_gather_s(5, 1000) == pytest.approx(4 * (LATENCY_S + 1000 / BYTES_PER_S))


def test_a_ring_sum_passes_a_share_around_twice() -> None:
    assert ring_sum_s(4, 800) == pytest.approx(6 * (LATENCY_S + 200 / BYTES_PER_S))


def test_the_model_grows_with_the_ranks_and_refuses_other_kinds() -> None:
    for kind in ("dgap", "reference"):
        costs = [exchange_model_s(kind, world, 256, 10) for world in (2, 16, 4096)]
        assert costs == sorted(costs)
    with pytest.raises(ValueError, match="no model"):
        exchange_model_s("gmt", 2, 256, 10)


def test_the_reference_sends_two_words_a_sample_of_its_window() -> None:
    assert message_bytes("reference", 256, 7) == 8 * (2 + 512)
