"""Draws what the parts have written: one figure a measure, a panel a corpus, as PNG and SVG.

`python -m benchmarks.plots [folder]` draws again from `summary.json`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib

from .summary import Row, read
from .tables import show_line

matplotlib.use("Agg")

from matplotlib import pyplot

# Okabe and Ito's palette, which colour-blind readers can tell apart.
COLOURS = {
    "dgap": "#0072B2",
    "gmt": "#000000",
    "reference": "#D55E00",
    "lhotse": "#009E73",
    "sorted_window": "#CC79A7",
    "fixed": "#E69F00",
    "limit": "#999999",
}
PANEL_SIZE = (3.4, 2.6)
COLUMNS = 5
SWEEPS = {
    "padding": "padding (share of padded tokens)",
    "fill": "fill of the budget",
    "tokens_per_step": "true tokens a step, all ranks",
    "imbalance": "largest over mean padded tokens of the ranks",
    "steps": "steps",
    "metadata_bytes": "bytes that a rank sends in an epoch",
}
BARS = {
    "samples_per_s": "samples/s, loader alone",
    "cpu_s_per_1000": "CPU seconds per 1,000 samples",
    "peak_mb": "peak memory of all processes, MB",
    "first_batch_s": "seconds to the first batch",
}
Draw = Callable[[Any, Sequence[Row]], None]


def colour(kind: str) -> str:
    """One colour a kind, all policies of dgap in the same."""
    return COLOURS.get(kind.partition(":")[0], "#56B4E9")


def draw_sweep(axes: Any, rows: Sequence[Row]) -> None:
    """A line a kind over the window; a level line for what has no window to choose."""
    for kind in dict.fromkeys(row.kind for row in rows):
        points = sorted((row.window, row.median) for row in rows if row.kind == kind)
        style = "--" if kind == "dgap:paper" else "-"
        if kind in ("gmt", "limit"):
            axes.axhline(points[0][1], color=colour(kind), linestyle=":", label=kind)
        else:
            xs, ys = zip(*points, strict=True)
            axes.plot(xs, ys, style, marker="o", ms=3, color=colour(kind), label=kind)
    axes.set_xscale("log", base=2)
    axes.set_xlabel("window (samples)")


def draw_trade(axes: Any, rows: Sequence[Row]) -> None:
    """Padding over steps, a point a window: the two that every grouping trades."""
    steps = {(row.kind, row.window): row.median for row in rows if row.measure.endswith(".steps")}
    for kind in dict.fromkeys(row.kind for row in rows):
        points = sorted(
            (row.window, steps[kind, row.window], row.median)
            for row in rows
            if row.kind == kind and row.measure.endswith(".padding")
        )
        _, xs, ys = zip(*points, strict=True)
        style = "--" if kind == "dgap:paper" else "-"
        axes.plot(xs, ys, style, marker="o", ms=3, color=colour(kind), label=kind)
    axes.set_xlabel("steps")


def draw_bars(axes: Any, rows: Sequence[Row]) -> None:
    """A bar a kind with its least and greatest value."""
    shown = [row for row in rows if row.kind != "limit"]
    spread = [
        [row.median - row.min for row in shown],
        [row.max - row.median for row in shown],
    ]
    axes.bar(
        range(len(shown)),
        [row.median for row in shown],
        yerr=spread,
        color=[colour(row.kind) for row in shown],
    )
    axes.set_xticks(range(len(shown)), [row.kind for row in shown], rotation=60, ha="right")


def figure(rows: Sequence[Row], title: str, draw: Draw, path: Path) -> None:
    """Panels by corpus; nothing is written where there are no rows."""
    corpora = list(dict.fromkeys(row.corpus for row in rows))
    if not corpora:
        return
    columns = min(COLUMNS, len(corpora))
    lines = -(-len(corpora) // columns)
    width, height = PANEL_SIZE
    panels, grid = pyplot.subplots(
        lines, columns, figsize=(width * columns, height * lines + 0.6), squeeze=False
    )
    for axes in grid.flat[len(corpora) :]:
        axes.set_visible(False)
    for axes, corpus in zip(grid.flat, corpora, strict=False):
        draw(axes, [row for row in rows if row.corpus == corpus])
        axes.set_title(corpus, fontsize=9)
        axes.tick_params(labelsize=7)
        axes.set_ylim(bottom=None if min(row.min for row in rows) > 0.5 else 0)
    handles, labels = grid.flat[0].get_legend_handles_labels()
    if labels:
        panels.legend(handles, labels, loc="lower center", ncol=len(labels), fontsize=8)
    panels.suptitle(title, fontsize=11)
    panels.tight_layout(rect=(0, 0.05, 1, 0.98))
    for suffix in (".png", ".svg"):
        panels.savefig(path.with_suffix(suffix), dpi=110)
    pyplot.close(panels)
    show_line(f"written: {path.with_suffix('.png')}, .svg")


def draw_all(rows: Sequence[Row], folder: Path) -> None:
    """Every figure that the rows suffice for. `rows` carry the part as prefix of the measure."""
    for measure, title in SWEEPS.items():
        found = [row for row in rows if row.measure == f"quality.{measure}"]
        for world, budget in dict.fromkeys((row.world, row.budget) for row in found):
            chosen = [row for row in found if (row.world, row.budget) == (world, budget)]
            place = folder / f"{measure}_by_window_{world}_ranks_{budget}"
            figure(chosen, f"{title}; {world} ranks, budget {budget:,}", draw_sweep, place)
    traded = [row for row in rows if row.measure in ("quality.padding", "quality.steps")]
    for world, budget in dict.fromkeys((row.world, row.budget) for row in traded):
        chosen = [row for row in traded if (row.world, row.budget) == (world, budget)]
        place = folder / f"padding_by_steps_{world}_ranks_{budget}"
        figure(chosen, f"padding by steps; {world} ranks, budget {budget:,}", draw_trade, place)
    for measure, title in BARS.items():
        _draw_bars(rows, "loader_alone", measure, title, folder)
    _draw_bars(rows, "end_to_end", "samples_per_s", "samples/s, training", folder)


def _draw_bars(rows: Sequence[Row], part: str, measure: str, title: str, folder: Path) -> None:
    found = [row for row in rows if row.measure == f"{part}.{measure}" and "/" not in row.kind]
    for world in dict.fromkeys(row.world for row in found):
        chosen = [row for row in found if row.world == world]
        place = folder / f"{part}_{measure}_{world}_ranks"
        figure(chosen, f"{title}; {world} rank(s)", draw_bars, place)


def main(arguments: Sequence[str]) -> int:
    """Draw from the summary in the given folder (default runs/bench)."""
    folder = Path(arguments[0] if arguments else "runs/bench")
    _, rows = read(folder / "summary.json")
    draw_all(rows, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
