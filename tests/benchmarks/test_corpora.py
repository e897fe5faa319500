"""Corpora load with their provenance, and the synthetic ones have the paper's variations."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.corpora import DATA, NAMES, REAL, Corpus, load

PAPER_VARIATIONS = {
    "lognormal_cv029": 0.29,
    "lognormal_cv048": 0.48,
    "bimodal_cv080": 0.80,
    "lognormal_cv100": 1.00,
}
COUNTS = {
    "chat_chitchat_chunks": 8862,
    "tool_bfcl": 3641,
    "chat_chitchat": 4018,
    "doc_linux": 4912,
    "doc_linux_raw": 4912,
    "mm_qwen3vl": 1442,
}


@pytest.mark.parametrize("name", NAMES)
def test_every_corpus_has_samples_of_at_least_one_token_and_a_source(name: str) -> None:
    corpus = load(name)
    assert min(corpus.lengths) >= 1
    assert corpus.source
    assert corpus.licence


@pytest.mark.parametrize(("name", "count"), COUNTS.items())
def test_no_sample_of_a_real_corpus_was_lost_on_the_way(name: str, count: int) -> None:
    assert len(load(name).lengths) == count


def test_every_file_of_lengths_is_a_corpus() -> None:
    assert {path.stem for path in DATA.glob("*.json")} == set(REAL)


@pytest.mark.parametrize(("name", "variation"), PAPER_VARIATIONS.items())
def test_a_synthetic_corpus_varies_as_its_name_says(name: str, variation: float) -> None:
    assert round(load(name).variation, 2) == variation


def test_an_unknown_corpus_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="tool_bfcl"):
        load("tool")


def test_taking_is_seeded_and_draws_no_sample_twice_while_there_are_enough() -> None:
    corpus = Corpus(name="a", lengths=tuple(range(1, 101)), source="-", licence="-")
    taken = corpus.take(60, seed=1).lengths
    assert taken == corpus.take(60, seed=1).lengths
    assert taken != corpus.take(60, seed=2).lengths
    assert max(Counter(taken).values()) == 1


def test_taking_more_than_there_is_draws_again() -> None:
    corpus = Corpus(name="a", lengths=(3, 5), source="-", licence="-")
    taken = corpus.take(50, seed=0).lengths
    assert len(taken) == 50
    assert set(taken) == {3, 5}


def test_scaling_keeps_every_sample_trainable() -> None:
    corpus = Corpus(name="a", lengths=(1, 16, 160), source="-", licence="-")
    assert corpus.scaled(16).lengths == (2, 2, 10)
