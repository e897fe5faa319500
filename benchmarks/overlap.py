"""Does loading go on while the loop trains? A data set that takes as long to read as to train on.

Rules kept here:
1. Reading waits and training waits, in proportion to true and to padded tokens; nobody computes,
   so the result does not depend on the number of cores.
2. The limit is the longer of the two: all of the reading, spread over the workers, or all of the
   steps at the padding that the kind itself made. `over_longer` is the epoch over that.

One rank, two workers.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

from .cells import run_cell
from .corpora import Corpus, load
from .kinds import DGAP_KINDS, ENVIRONMENT, Job, open_kind, window_of
from .options import Options, parse, quick_options
from .samples import LengthDataset
from .summary import CellKey, Row, rows_of, show, write
from .tables import show_line

KINDS = ("fixed", "gmt", "reference", *DGAP_KINDS)
FULL = Options(
    samples=2048, rounds=1, worlds=(1,), corpora=("lognormal_cv048",), windows=(128, 256)
)
QUICK = quick_options(samples=512, worlds=(1,), corpora=("lognormal_cv048",), windows=(64,))
# Long against the noise of waking up, which is below a millisecond a step.
SECONDS_PER_SAMPLE = 0.005
TIMEOUT_S = 300.0
SHOWN = ("epoch_s", "reading_s", "training_s", "over_longer", "first_batch_s", "failed")


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How long reading and training wait for each token."""

    read_s: float
    train_s: float


def pace_of(lengths: Sequence[int], workers: int) -> Pace:
    """Reading, spread over the workers, and training without padding each take the same time."""
    seconds = SECONDS_PER_SAMPLE * len(lengths)
    tokens = sum(lengths)
    return Pace(read_s=seconds * workers / tokens, train_s=seconds / tokens)


def run_epoch(job: Job, pace: Pace) -> dict[str, float]:
    """One epoch whose steps wait in proportion to their padded tokens."""
    dataset = LengthDataset(job.lengths, wait_s_per_token=pace.read_s)
    waiting = threading.Event()
    start_s = perf_counter()
    first_s, padded = 0.0, 0
    for delivery in open_kind(job, dataset):
        first_s = first_s or perf_counter() - start_s
        tokens = delivery.batch["input_ids"].numel()
        padded += tokens
        waiting.wait(tokens * pace.train_s)
    epoch_s = perf_counter() - start_s
    reading_s = sum(job.lengths) * pace.read_s / job.workers
    training_s = padded * pace.train_s
    return {
        "epoch_s": epoch_s,
        "reading_s": reading_s,
        "training_s": training_s,
        "over_longer": epoch_s / max(reading_s, training_s),
        "first_batch_s": first_s,
    }


def measure_corpus(corpus: Corpus, budget: int, window: int, options: Options) -> list[Row]:
    """All kinds with one window, round by round."""
    kinds = options.kinds or KINDS
    results: dict[str, list[dict[str, float]]] = {kind: [] for kind in kinds}
    pace = pace_of(corpus.lengths, options.workers)
    for index in range(options.rounds):
        for kind in kinds:
            job = Job(
                kind=kind,
                lengths=corpus.lengths,
                budget=budget,
                window=window,
                workers=options.workers,
                seed=options.seed + index,
            )
            results[kind].append(_measured(job, pace))
    rows = []
    for kind in kinds:
        held = window_of(kind, window, len(corpus.lengths))
        rows += rows_of(CellKey(corpus.name, budget, held, 1, kind), results[kind])
    return rows


def _measured(job: Job, pace: Pace) -> dict[str, float]:
    cell = run_cell(
        lambda rank: run_epoch(job, pace), 1, timeout_s=TIMEOUT_S, environment=ENVIRONMENT
    )
    if cell.failure:
        show_line(f"FAILED {job.kind}: {cell.failure}")
        return {"failed": 1.0}
    return cell.answers[0]


def main(arguments: Sequence[str]) -> int:
    """Measure, show and write `overlap.json`."""
    options = parse(arguments, part="overlap", purpose=__doc__ or "", full=FULL, quick=QUICK)
    rows: list[Row] = []
    for name in options.corpora:
        corpus = load(name).take(options.samples, seed=options.seed)
        for budget in options.budgets:
            for window in options.windows:
                found = measure_corpus(corpus, budget, window, options)
                show(f"overlap: {name}, budget {budget:,}, window {window:,}", found, SHOWN)
                rows += found
    write(options.output / "overlap.json", rows, options.sizes())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
