"""The first round: the greeting travels once, and ranks that differ all raise the same error."""

from __future__ import annotations

from typing import Any

import pytest

from dgap.protocol.codec import GREETING_SIZE, REPORT_SIZE
from dgap.protocol.errors import MalformedReport, SameData, SettingsDiffer, VersionsDiffer
from dgap.protocol.vocabulary import Report
from dgap.runtime.chunks import Sample
from dgap.runtime.introduction import DIGEST_SAMPLES, Introduction

DIGEST = "ab" * 32


def introduction(**changes: Any) -> Introduction:
    arguments: dict[str, Any] = {
        "table_digest": DIGEST,
        "settings": (("window", 8), ("seed", 0)),
        "allow_same_data": False,
    }
    return Introduction(**{**arguments, **changes})


def samples(*values: Any) -> list[Sample]:
    return [
        Sample(index=index, cost=1, targets=1, value=value) for index, value in enumerate(values)
    ]


def test_the_greeting_travels_with_the_first_report_only() -> None:
    own = introduction()
    first = own.words(Report(offered=3), samples("a"))
    second = own.words(Report(offered=2), samples("b"))
    assert len(first) == GREETING_SIZE + REPORT_SIZE
    assert len(second) == REPORT_SIZE
    assert own.read([first], first=True) == (Report(offered=3),)
    assert own.read([second], first=False) == (Report(offered=2),)


def exchange(*ranks: Introduction, data: list[list[Sample]]) -> list[BaseException | None]:
    """What each rank raises on reading the vector of all."""
    vector = [
        rank.words(Report(offered=len(held)), held) for rank, held in zip(ranks, data, strict=True)
    ]
    outcomes: list[BaseException | None] = []
    for rank in ranks:
        try:
            reports = rank.read(vector, first=True)
        except (SameData, SettingsDiffer, VersionsDiffer) as error:
            outcomes.append(error)
        else:
            assert [report.offered for report in reports] == [len(held) for held in data]
            outcomes.append(None)
    return outcomes


def test_ranks_that_were_started_alike_get_each_others_reports() -> None:
    outcomes = exchange(introduction(), introduction(), data=[samples("a", "c"), samples("b")])
    assert outcomes == [None, None]


@pytest.mark.parametrize(
    ("changes", "kind", "word"),
    [
        ({"table_digest": "cd" * 32}, VersionsDiffer, "transition table"),
        ({"settings": (("window", 9), ("seed", 0))}, SettingsDiffer, "'window'"),
        ({"settings": (("window", 8), ("seed", 1))}, SettingsDiffer, "'seed'"),
    ],
)
def test_ranks_that_differ_all_raise_the_same_words(
    changes: dict[str, Any], kind: type[Exception], word: str
) -> None:
    outcomes = exchange(
        introduction(),
        introduction(),
        introduction(**changes),
        data=[samples("a"), samples("b"), samples("c")],
    )
    assert {type(outcome) for outcome in outcomes} == {kind}
    (text,) = {str(outcome) for outcome in outcomes}
    assert word in text
    assert "rank 2" in text


def test_ranks_that_read_the_same_samples_are_named() -> None:
    outcomes = exchange(
        introduction(),
        introduction(),
        introduction(),
        data=[samples("a"), samples("b"), samples("a")],
    )
    assert {type(outcome) for outcome in outcomes} == {SameData}
    assert "ranks 0 and 2" in str(outcomes[1])


def test_the_same_samples_may_be_allowed() -> None:
    alike = [introduction(allow_same_data=True) for _ in range(2)]
    assert exchange(*alike, data=[samples("a"), samples("a")]) == [None, None]


def test_two_ranks_without_samples_do_not_read_the_same() -> None:
    assert exchange(introduction(), introduction(), data=[[], []]) == [None, None]


def test_samples_that_cannot_be_looked_into_are_never_held_to_be_the_same() -> None:
    data = [samples(object()), samples(object())]
    assert exchange(introduction(), introduction(), data=data) == [None, None]


def test_only_the_first_samples_are_compared() -> None:
    alike = list(range(DIGEST_SAMPLES))
    for difference_at, kind in ((DIGEST_SAMPLES, SameData), (DIGEST_SAMPLES - 1, type(None))):
        other = [*alike, -1]
        other[difference_at] = -2
        outcomes = exchange(
            introduction(), introduction(), data=[samples(*alike, -1), samples(*other)]
        )
        assert {type(outcome) for outcome in outcomes} == {kind}


def test_a_word_out_of_bounds_names_its_rank() -> None:
    own = introduction()
    own.words(Report(), [])
    with pytest.raises(MalformedReport, match="rank 1 sent exhausted=2"):
        own.read([tuple(Report()), tuple(Report(exhausted=2))], first=False)
