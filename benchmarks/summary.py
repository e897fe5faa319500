"""Rows, the medians over rounds, the ratios within a round, and the file they are kept in.

Rules kept here:
1. Rounds are interleaved (A B C, A B C, ...), and a ratio of two kinds is taken within each round
   before its median is: what slows the machine for a while slows both.
2. A row says median, least and greatest value over the rounds; a run that failed gives no value.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from .tables import show_line, show_table


class CellKey(NamedTuple):
    """What was run: the columns of a row that name it. budget and window: 0 where none is."""

    corpus: str
    budget: int
    window: int
    world: int
    kind: str


class Row(NamedTuple):
    """One line of summary.json."""

    corpus: str
    budget: int
    window: int
    world: int
    kind: str
    measure: str
    median: float
    min: float
    max: float


def row_of(key: CellKey, measure: str, values: Sequence[float]) -> Row:
    """The row of the values of all rounds; at least one."""
    return Row(*key, measure, median(values), min(values), max(values))


def rows_of(key: CellKey, rounds: Sequence[Mapping[str, float]]) -> list[Row]:
    """One row for each measure that some round has."""
    names = dict.fromkeys(name for values in rounds for name in values)
    return [
        row_of(key, name, [values[name] for values in rounds if name in values]) for name in names
    ]


def ratio_rows(
    above: CellKey,
    below: CellKey,
    rounds: Iterable[tuple[Mapping[str, float], Mapping[str, float]]],
    measures: Sequence[str],
) -> list[Row]:
    """Ratios above / below, pair by pair; the kind of these rows is `above/below`."""
    pairs = list(rounds)
    key = above._replace(kind=f"{above.kind}/{below.kind}")
    rows = []
    for name in measures:
        ratios = [a[name] / b[name] for a, b in pairs if name in a and b.get(name)]
        if ratios:
            rows.append(row_of(key, name, ratios))
    return rows


def versions() -> dict[str, str]:
    """What the numbers were measured with."""
    found = {"python": platform.python_version(), "machine": platform.platform()}
    for name in ("torch", "online-dynamic-batching", "lhotse", "numpy"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def write(path: Path, rows: Sequence[Row], sizes: Mapping[str, Any]) -> None:
    """One JSON object: the command, sizes and versions, and the rows one a line."""
    head = {"command": [Path(sys.argv[0]).name, *sys.argv[1:]], "sizes": sizes}
    text = json.dumps(head | {"versions": versions()}, indent=1)[:-2]
    lines = ",\n".join("  " + json.dumps(row._asdict()) for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{text},\n "rows": [\n{lines}\n ]\n}}\n', encoding="utf-8")
    show_line(f"written: {path}")


def read(path: Path) -> tuple[dict[str, Any], list[Row]]:
    """What `write` wrote: everything but the rows, and the rows."""
    content = json.loads(path.read_text(encoding="utf-8"))
    rows = [Row(**row) for row in content.pop("rows")]
    return content, rows


def shown(value: float) -> str:
    """Three significant digits; whole numbers and thousands without a fraction."""
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 1e-3 else f"{value:.1e}"


def show(title: str, rows: Sequence[Row], measures: Sequence[str]) -> None:
    """A table with a line a cell and a column a measure: median, and the spread behind it.

    Of the columns that name a cell only those are shown in which the cells differ.
    """
    cells: dict[CellKey, dict[str, Row]] = {}
    for row in rows:
        cells.setdefault(CellKey(*row[:5]), {})[row.measure] = row
    used = [name for name in measures if any(name in found for found in cells.values())]
    differing = [
        place
        for place, name in enumerate(CellKey._fields)
        if name == "kind" or len({key[place] for key in cells}) > 1
    ]
    body = [
        [f"{key[place]:,}" if place in (1, 2, 3) else str(key[place]) for place in differing]
        + [_cell(found.get(name)) for name in used]
        for key, found in cells.items()
    ]
    show_table(title, [*(CellKey._fields[place] for place in differing), *used], body)


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    if row.min == row.max:
        return shown(row.median)
    return f"{shown(row.median)} ({shown(row.min)}-{shown(row.max)})"
