"""How fast a loader delivers when nobody trains: every kind, the same samples, interleaved.

Measures: samples/s through the loader (start included), CPU seconds of all processes per 1,000
samples, time to the first batch, peak memory of all processes, and what the batches were like.
The limit beside samples/s is one copy of the batches' true bytes on one core.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

import torch

from .cells import Cell, run_cell
from .corpora import Corpus, load
from .kinds import ENVIRONMENT, KINDS, Job, window_of
from .measure import RankRecord, batch_measures, consume, copy_rate, limit_measures, speed_measures
from .options import Options, parse, quick_options
from .summary import CellKey, Row, ratio_rows, row_of, rows_of, show, write
from .tables import show_line

FULL = Options()
QUICK = quick_options(corpora=("bimodal_cv080",))
TIMEOUT_S = 300.0

RATIO_MEASURES = ("samples_per_s", "cpu_s_per_1000", "first_batch_s", "peak_mb")
BASES = ("gmt", "reference", "fixed")
SHOWN = (
    "samples_per_s",
    "cpu_s_per_1000",
    "first_batch_s",
    "peak_mb",
    "padding",
    "fill",
    "steps",
    "imbalance",
    "coverage",
    "failed",
)
COPY_BYTES = 64 * 1024 * 1024


def measure_cell(job: Job, *, watch_memory: bool) -> tuple[Cell[RankRecord], dict[str, float]]:
    """One run of one kind: what the processes left and the measures of it."""
    cell = run_cell(
        lambda rank: consume(replace(job, rank=rank)),
        job.world_size,
        timeout_s=TIMEOUT_S,
        watch_memory=watch_memory,
        environment=ENVIRONMENT,
    )
    if cell.failure:
        return cell, {"failed": 1.0}
    if watch_memory:
        return cell, {"peak_mb": cell.peak_bytes / 1e6}
    batches = batch_measures([rank.steps for rank in cell.answers], job.lengths, job.budget)
    return cell, speed_measures(cell.answers, cell.cpu_s) | batches


def copy_bytes_per_s() -> float:
    """How fast one core copies memory: the best of three."""
    source = torch.zeros(COPY_BYTES, dtype=torch.uint8)
    target = torch.empty_like(source)
    best_s = float("inf")
    for _ in range(4):
        start_s = perf_counter()
        target.copy_(source)
        best_s = min(best_s, perf_counter() - start_s)
    return COPY_BYTES / best_s


def measure_group(corpus: Corpus, world: int, budget: int, options: Options) -> list[Row]:
    """All kinds on one corpus and world size: rounds of one run of each, then a memory round."""
    kinds = options.kinds or KINDS
    window = options.windows[0] if options.windows else None
    count = options.samples // world * world
    taken = corpus.take(count, seed=options.seed)
    results: dict[str, list[dict[str, float]]] = {kind: [] for kind in kinds}
    for index in range(options.rounds + 1):
        for kind in kinds:
            job = Job(
                kind=kind,
                lengths=taken.lengths,
                budget=budget,
                window=window,
                world_size=world,
                workers=options.workers,
                seed=options.seed + index,
            )
            cell, measures = measure_cell(job, watch_memory=index == options.rounds)
            results[kind].append(measures)
            if cell.failure:
                show_line(f"FAILED {corpus.name} world {world} {kind}: {cell.failure}")
    keys = {
        kind: CellKey(corpus.name, budget, window_of(kind, window, count), world, kind)
        for kind in kinds
    }
    limit = CellKey(corpus.name, budget, 0, world, "limit")
    rows = rows_of(limit, [limit_measures(taken.lengths, budget, world)])
    rows.append(row_of(limit, "samples_per_s", [copy_rate(taken.lengths, copy_bytes_per_s())]))
    for kind in kinds:
        rows += rows_of(keys[kind], results[kind])
    return rows + pair_rows(keys, results)


def pair_rows(keys: dict[str, CellKey], results: dict[str, list[dict[str, float]]]) -> list[Row]:
    """dgap over each base, within the same round."""
    rows: list[Row] = []
    for kind in keys:
        for base in BASES:
            if kind.startswith("dgap") and base in keys:
                pairs = zip(results[kind], results[base], strict=True)
                rows += ratio_rows(keys[kind], keys[base], pairs, RATIO_MEASURES)
    return rows


def main(arguments: Sequence[str]) -> int:
    """Measure, show and write `loader_alone.json`."""
    options = parse(arguments, part="loader_alone", purpose=__doc__ or "", full=FULL, quick=QUICK)
    rows: list[Row] = []
    for name in options.corpora:
        for world in options.worlds:
            for budget in options.budgets:
                group = measure_group(load(name), world, budget, options)
                where = f"{name}, {world} rank(s), budget {budget:,}"
                show(f"loader alone: {where}", [row for row in group if "/" not in row.kind], SHOWN)
                show(f"ratios: {where}", [row for row in group if "/" in row.kind], SHOWN)
                rows += group
    write(options.output / "loader_alone.json", rows, options.sizes())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
