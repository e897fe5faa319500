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
        "rank": 0,
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
    assert len(first) == GREETING_SIZE + REPORT_SIZE
    assert own.read([first], first=True) == (Report(offered=3),)
    second = own.words(Report(offered=2), samples("b"))
    assert len(second) == REPORT_SIZE
    assert own.read([second], first=False) == (Report(offered=2),)


def exchange(*changes: dict[str, Any], data: list[list[Sample]]) -> list[BaseException | None]:
    """What each rank raises on reading the vector of all; `changes` are those of each rank."""
    ranks = [introduction(rank=rank, **each) for rank, each in enumerate(changes)]
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
    outcomes = exchange({}, {}, data=[samples("a", "c"), samples("b")])
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
        {},
        {},
        changes,
        data=[samples("a"), samples("b"), samples("c")],
    )
    assert {type(outcome) for outcome in outcomes} == {kind}
    (text,) = {str(outcome) for outcome in outcomes}
    assert word in text
    assert "rank 2" in text


def test_ranks_that_read_the_same_samples_are_named() -> None:
    outcomes = exchange(
        {},
        {},
        {},
        data=[samples("a"), samples("b"), samples("a")],
    )
    assert {type(outcome) for outcome in outcomes} == {SameData}
    assert "ranks 0 and 2" in str(outcomes[1])


def test_the_same_samples_may_be_allowed() -> None:
    alike = {"allow_same_data": True}
    assert exchange(alike, alike, data=[samples("a"), samples("a")]) == [None, None]


def test_two_ranks_without_samples_do_not_read_the_same() -> None:
    assert exchange({}, {}, data=[[], []]) == [None, None]


def test_samples_that_cannot_be_looked_into_are_never_held_to_be_the_same() -> None:
    data = [samples(object()), samples(object())]
    assert exchange({}, {}, data=data) == [None, None]


def test_only_the_first_samples_are_compared() -> None:
    alike = list(range(DIGEST_SAMPLES))
    for difference_at, kind in ((DIGEST_SAMPLES, SameData), (DIGEST_SAMPLES - 1, type(None))):
        other = [*alike, -1]
        other[difference_at] = -2
        outcomes = exchange({}, {}, data=[samples(*alike, -1), samples(*other)])
        assert {type(outcome) for outcome in outcomes} == {kind}


def test_a_word_out_of_bounds_names_its_rank() -> None:
    own = introduction()
    for _ in range(2):
        own.words(Report(), [])
    with pytest.raises(MalformedReport, match="rank 1 sent exhausted=2"):
        own.read([tuple(Report()), tuple(Report(exhausted=2))], first=False)


@pytest.mark.parametrize("first", [True, False])
def test_a_gather_that_changes_or_swaps_or_drops_this_ranks_words_is_refused(first: bool) -> None:
    ranks = [introduction(rank=rank) for rank in range(2)]
    for rank in ranks if not first else ():
        rank.words(Report(), [])
    vector = [rank.words(Report(offered=at), []) for at, rank in enumerate(ranks)]
    assert len(ranks[1].read(vector, first=first)) == 2
    changed = [vector[0], (*vector[1][:-1], 1)]
    for wrong in (changed, vector[::-1], vector[:1]):
        with pytest.raises(MalformedReport, match=r"rank 1 sent .* and the gather returned"):
            ranks[1].read(wrong, first=first)
