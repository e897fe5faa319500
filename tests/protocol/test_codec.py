"""The wire format: what is encoded is decoded, and what no rank could send is refused by name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dgap.protocol.codec import (
    COUNT_LIMIT,
    DIGEST_WORDS,
    GREETING_SIZE,
    REPORT_SIZE,
    SETTINGS_LIMIT,
    WIRE_VERSION,
    Greeting,
    decode_reports,
    encode_greeting,
    encode_report,
    refusal,
    word,
)
from dgap.protocol.errors import MalformedReport, SameData, SettingsDiffer, VersionsDiffer
from dgap.protocol.table import TABLE
from dgap.protocol.vocabulary import FailureCode, Report

COUNTS = st.integers(0, COUNT_LIMIT - 1)
FLAGS = st.integers(0, 1)
REPORTS = st.builds(
    Report,
    offered=COUNTS,
    needed=COUNTS,
    units=COUNTS,
    exhausted=FLAGS,
    failed=st.integers(0, len(FailureCode) - 1),
    stopped=FLAGS,
    dry=FLAGS,
)


def greeting(*, budget: int = 8, digest: str = TABLE.digest(), sample: int = 0) -> Greeting:
    settings = (("window", 4), ("token_budget", budget))
    return Greeting(table_digest=digest, settings=settings, sample_digest=sample)


def refused(*greetings: Greeting, allow_same_data: bool = False) -> object:
    vector = [encode_greeting(each) for each in greetings]
    answers = [refusal(each, vector, allow_same_data=allow_same_data) for each in greetings]
    assert len({(type(answer), str(answer)) for answer in answers}) == 1, "ranks must agree"
    return answers[0]


@given(reports=st.lists(REPORTS, max_size=4))
def test_reports_survive_the_wire(reports: list[Report]) -> None:
    vector = [encode_report(report) for report in reports]
    assert all(len(words) == REPORT_SIZE for words in vector)
    assert decode_reports(vector) == tuple(reports)


@pytest.mark.parametrize("name", Report._fields)
@pytest.mark.parametrize("value", [-1, COUNT_LIMIT])
def test_a_word_out_of_bounds_is_refused_with_rank_and_field(name: str, value: int) -> None:
    bad = encode_report(Report()._replace(**{name: value}))
    with pytest.raises(MalformedReport, match=rf"rank 1 sent {name}={value}"):
        decode_reports([encode_report(Report()), bad])


@pytest.mark.parametrize("name", ["exhausted", "stopped", "dry"])
def test_a_flag_is_zero_or_one(name: str) -> None:
    with pytest.raises(MalformedReport, match=rf"{name}=2, not in \[0, 2\)"):
        decode_reports([encode_report(Report()._replace(**{name: 2}))])


def test_an_unknown_failure_code_is_refused() -> None:
    with pytest.raises(MalformedReport, match="failed=6"):
        decode_reports([encode_report(Report(failed=len(FailureCode)))])


@pytest.mark.parametrize("size", [0, REPORT_SIZE - 1, REPORT_SIZE + 1])
def test_a_report_of_another_length_is_refused(size: int) -> None:
    with pytest.raises(MalformedReport, match=f"rank 0 sent {size} words"):
        decode_reports([[0] * size])


def test_a_greeting_has_one_size_whatever_it_says() -> None:
    bare = Greeting(table_digest=TABLE.digest(), settings=())
    full = tuple((str(index), index) for index in range(SETTINGS_LIMIT))
    for each in (bare, greeting(), Greeting(table_digest=TABLE.digest(), settings=full)):
        words = encode_greeting(each)
        assert len(words) == GREETING_SIZE
        assert words[0] == WIRE_VERSION
        assert all(0 <= value < COUNT_LIMIT for value in words)


@pytest.mark.parametrize(
    "settings",
    [tuple((str(i), 0) for i in range(SETTINGS_LIMIT + 1)), (("a", -1),), (("a", COUNT_LIMIT),)],
)
def test_settings_that_do_not_fit_are_refused(settings: tuple[tuple[str, int], ...]) -> None:
    with pytest.raises(ValueError, match="at most 25 settings"):
        Greeting(table_digest=TABLE.digest(), settings=settings)


def test_ranks_that_are_alike_are_not_refused() -> None:
    assert refused(greeting(), greeting(), greeting()) is None
    assert refused(greeting(sample=5), greeting(sample=6), greeting()) is None


def test_another_table_is_refused_and_the_rank_named() -> None:
    answer = refused(greeting(), greeting(), greeting(digest="0" * 64))
    assert isinstance(answer, VersionsDiffer)
    assert "rank 2 runs another transition table" in str(answer)


def test_another_wire_version_is_refused_before_anything_else_is_compared() -> None:
    other = [WIRE_VERSION + 1, *encode_greeting(greeting(budget=9))[1:]]
    answer = refusal(greeting(), [encode_greeting(greeting()), other], allow_same_data=False)
    assert isinstance(answer, VersionsDiffer)
    assert "rank 1 runs another wire version" in str(answer)


def test_another_setting_is_refused_by_name_with_both_values() -> None:
    answer = refused(greeting(), greeting(budget=16))
    assert isinstance(answer, SettingsDiffer)
    assert "'token_budget' differs: rank 0 has 8, rank 1 has 16" in str(answer)


def test_the_same_samples_are_refused_unless_allowed() -> None:
    ranks = [greeting(sample=1), greeting(), greeting(), greeting(sample=1)]
    answer = refused(*ranks)
    assert isinstance(answer, SameData)
    assert "ranks 0 and 3" in str(answer)
    assert refused(*ranks, allow_same_data=True) is None


def test_every_bit_of_the_digest_but_the_lowest_of_each_word_is_compared() -> None:
    digests = ["8" + "0" * 63, "0" * 62 + "02", "0" * 64]
    heads = {
        tuple(encode_greeting(greeting(digest=digest))[1 : 1 + DIGEST_WORDS]) for digest in digests
    }
    assert len(heads) == len(digests)


def test_texts_become_equal_words_iff_they_are_equal() -> None:
    assert word("join") == word("join")
    assert word("join") != word("quota")
    assert 0 <= word("") < 2**62
