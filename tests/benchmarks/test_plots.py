"""Figures are drawn from rows, and only those that the rows suffice for."""

from __future__ import annotations

from pathlib import Path

from benchmarks.plots import draw_all
from benchmarks.summary import CellKey, Row, row_of


def quality_rows() -> list[Row]:
    rows = []
    for kind, window in (("gmt", 999), ("dgap:fill", 64), ("dgap:fill", 256)):
        key = CellKey("tool_bfcl", 16384, window, 2, kind)
        rows += [row_of(key, "quality.padding", [0.1]), row_of(key, "quality.steps", [40.0])]
    return rows


def test_each_figure_is_written_twice(tmp_path: Path) -> None:
    draw_all(quality_rows(), tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert {f"padding_by_window_2_ranks_16384{suffix}" for suffix in (".png", ".svg")} <= names
    assert "padding_by_steps_2_ranks_16384.png" in names
    assert not any(name.startswith("loader_alone") for name in names)


def test_nothing_is_drawn_of_nothing(tmp_path: Path) -> None:
    draw_all([], tmp_path)
    assert list(tmp_path.iterdir()) == []
