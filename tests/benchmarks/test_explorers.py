"""The explorers are compared on what they agree on, and only there."""

from __future__ import annotations

import pytest

from benchmarks.explorers import FAMILIES, Speed, compiled, explorers, measure, table_rows, timed
from dgap.proofs.foreign import count_states
from dgap.proofs.foreign_tools import Answer


def test_medians_are_taken_over_the_repeats() -> None:
    seconds = iter([3.0, 1.0, 2.0])
    runs = {"one": lambda: Answer(states=10, search_s=next(seconds))}
    speed = measure(runs, 3)["one"]
    assert speed == Speed(states=10, prepare_s=0.0, search_s=2.0)
    assert speed.search_rate == 5.0


@pytest.mark.parametrize("other", [Answer(states=9), Answer(states=10, broken="S5")])
def test_explorers_that_do_not_agree_are_not_compared(other: Answer) -> None:
    runs = {"one": lambda: Answer(states=10), "two": lambda: other}
    with pytest.raises(ValueError, match="do not agree"):
        measure(runs, 1)


def test_every_explorer_starts_a_repeat_in_turn() -> None:
    order: list[str] = []

    def run(name: str) -> Answer:
        order.append(name)
        return Answer(states=1, search_s=1.0)

    measure({"a": lambda: run("a"), "b": lambda: run("b")}, 2)
    assert order == ["a", "b", "b", "a"]


def test_rows_say_how_many_times_faster_the_base_searches() -> None:
    speeds = {
        "ours": Speed(states=100, prepare_s=0.0, search_s=1.0),
        "other": Speed(states=100, prepare_s=1.0, search_s=4.0),
    }
    ours, other = table_rows(speeds)
    assert ours[-1] == "1.00"
    assert other == ["other", "100", "1.00", "4.00", "25", "20", "4.00"]


def test_our_explorers_count_the_same_with_and_without_properties() -> None:
    family = FAMILIES["join-stop"]
    runs = explorers(family)
    ours = ["ours", "ours, watching", "ours, compiled"]
    assert list(runs) == [*ours, "TLC", "rumur"]
    assert [runs[name]().states for name in ours] == [count_states(family)] * 3
    assert timed(lambda: 3).states == 3


def test_building_and_searching_are_timed_apart() -> None:
    answer = compiled(FAMILIES["join-stop"])
    assert answer.broken == ""
    assert answer.prepare_s > 0.0
    assert answer.search_s > 0.0
