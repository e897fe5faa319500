"""The rows of all parts end up in one file, each measure under the name of its part."""

from __future__ import annotations

from pathlib import Path

from benchmarks.__main__ import merge
from benchmarks.summary import CellKey, row_of, write


def test_parts_are_merged_under_their_names_and_missing_ones_left_out(tmp_path: Path) -> None:
    key = CellKey("tool_bfcl", 16384, 64, 2, "gmt")
    write(tmp_path / "quality.json", [row_of(key, "padding", [0.5])], {"samples": 3})
    rows, sizes = merge(tmp_path, ("quality", "kernel"))
    assert [row.measure for row in rows] == ["quality.padding"]
    assert sizes == {"quality": {"samples": 3}}
