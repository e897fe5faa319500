"""Medians and spread, ratios within rounds, and a file that reads back as it was written."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.summary import CellKey, Row, ratio_rows, read, row_of, rows_of, shown, write

A = CellKey("corpus", 16384, 256, 2, "a")
B = A._replace(kind="b")


def test_a_row_holds_median_least_and_greatest() -> None:
    assert row_of(A, "speed", [3.0, 1.0, 8.0]) == Row(*A, "speed", 3.0, 1.0, 8.0)


def test_a_round_that_failed_gives_no_value() -> None:
    rows = rows_of(A, [{"speed": 2.0}, {"failed": 1.0}, {"speed": 4.0}])
    assert rows == [Row(*A, "speed", 3.0, 2.0, 4.0), Row(*A, "failed", 1.0, 1.0, 1.0)]


def test_ratios_are_taken_within_a_round_before_their_median_is() -> None:
    rounds = [({"speed": 10.0}, {"speed": 5.0}), ({"speed": 3.0}, {"speed": 1.0})]
    assert ratio_rows(A, B, rounds, ["speed"]) == [Row(*A[:4], "a/b", "speed", 2.5, 2.0, 3.0)]


def test_no_ratio_is_made_of_what_is_missing_or_zero() -> None:
    rounds = [({"speed": 1.0}, {"failed": 1.0}), ({"speed": 1.0}, {"speed": 0.0})]
    assert ratio_rows(A, B, rounds, ["speed", "memory"]) == []


def test_what_was_written_reads_back(tmp_path: Path) -> None:
    rows = [row_of(A, "speed", [1.5]), row_of(B, "padding", [0.25, 0.5])]
    path = tmp_path / "new" / "summary.json"
    write(path, rows, {"samples": 7})
    content, found = read(path)
    assert found == rows
    assert content["sizes"] == {"samples": 7}
    assert set(content) == {"command", "sizes", "versions"}


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (12.0, "12"), (0.12345, "0.123"), (54321.6, "54,322"), (0.000012, "1.2e-05")],
)
def test_numbers_are_shown_as_people_read_them(value: float, text: str) -> None:
    assert shown(value) == text
