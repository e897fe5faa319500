"""What a loader takes from the training loop's own speed: a step that is bound to Python.

Rules kept here:
1. The step is a fixed amount of pure Python, the worst neighbour of threads in its process. Its
   speed alone is measured in the same process, right before and right after the epoch.
2. `share_of_speed` times the steps alone, not the wait for batches: a slow loader does not look
   gentle. `share_of_loop` counts the waits between steps as well: what a loader does inside
   `next()` is taken from the loop too, though no step sees it. Both are ratios to the steps alone.

The limit is 1: a loader that lives elsewhere. With workers on the same cores no kind reaches it;
`gmt`, which has nothing in the loop's process but the plain DataLoader, is the yardstick.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from statistics import mean
from time import perf_counter, thread_time

from .cells import run_cell
from .corpora import Corpus, load
from .kinds import DGAP_KINDS, ENVIRONMENT, Job, open_kind, window_of
from .options import Options, parse, quick_options
from .samples import LengthDataset
from .summary import CellKey, Row, rows_of, show, write
from .tables import show_line

KINDS = ("gmt", "reference", *DGAP_KINDS)
FULL = Options(
    samples=1024, rounds=3, worlds=(1,), workers=1, corpora=("lognormal_cv048", "tool_bfcl")
)
QUICK = quick_options(samples=256, worlds=(1,), workers=1, corpora=("lognormal_cv048",))
# Rounds of the loop in a step: some 40 ms, so that loading is far from being the bottleneck.
STEP_ROUNDS = 300_000
ALONE_STEPS = 8
TIMEOUT_S = 300.0
SHOWN = ("share_of_speed", "share_of_loop", "share_of_cpu", "step_alone_ms", "step_ms", "failed")


def python_step() -> int:
    """A fixed amount of work that holds the interpreter."""
    total = 0
    for index in range(STEP_ROUNDS):
        total ^= index * 3
    return total


def timed_step() -> tuple[float, float]:
    """(wall seconds, CPU seconds of this thread) of one step."""
    start_s, start_cpu_s = perf_counter(), thread_time()
    python_step()
    return perf_counter() - start_s, thread_time() - start_cpu_s


def run_epoch(job: Job) -> dict[str, float]:
    """The loop's speed with the loader at work over its speed alone."""
    alone = [timed_step() for _ in range(ALONE_STEPS)]
    beside: list[tuple[float, float]] = []
    first_s = last_s = 0.0
    for _ in open_kind(job, LengthDataset(job.lengths)):
        first_s = first_s or perf_counter()
        beside.append(timed_step())
        last_s = perf_counter()
    alone += [timed_step() for _ in range(ALONE_STEPS)]
    alone_s = mean(wall for wall, _ in alone)
    beside_s = mean(wall for wall, _ in beside)
    return {
        "share_of_speed": alone_s / beside_s,
        "share_of_loop": alone_s * len(beside) / (last_s - first_s),
        # Below 1 where others held the interpreter or the core while the step wanted to run.
        "share_of_cpu": sum(cpu for _, cpu in beside) / sum(wall for wall, _ in beside),
        "step_alone_ms": 1000 * alone_s,
        "step_ms": 1000 * beside_s,
    }


def measure_corpus(corpus: Corpus, budget: int, options: Options) -> list[Row]:
    """All kinds, round by round."""
    kinds = options.kinds or KINDS
    window = options.windows[0] if options.windows else None
    results: dict[str, list[dict[str, float]]] = {kind: [] for kind in kinds}
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
            results[kind].append(_measured(job))
    rows = []
    for kind in kinds:
        held = window_of(kind, window, len(corpus.lengths))
        rows += rows_of(CellKey(corpus.name, budget, held, 1, kind), results[kind])
    return rows


def _measured(job: Job) -> dict[str, float]:
    cell = run_cell(lambda rank: run_epoch(job), 1, timeout_s=TIMEOUT_S, environment=ENVIRONMENT)
    if cell.failure:
        show_line(f"FAILED {job.kind}: {cell.failure}")
        return {"failed": 1.0}
    return cell.answers[0]


def main(arguments: Sequence[str]) -> int:
    """Measure, show and write `interference.json`."""
    options = parse(arguments, part="interference", purpose=__doc__ or "", full=FULL, quick=QUICK)
    rows: list[Row] = []
    for name in options.corpora:
        corpus = load(name).take(options.samples, seed=options.seed)
        for budget in options.budgets:
            found = measure_corpus(corpus, budget, options)
            show(f"interference: {name}, budget {budget:,}", found, SHOWN)
            rows += found
    write(options.output / "interference.json", rows, options.sizes())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
