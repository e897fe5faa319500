"""Training with each kind of loader: samples and targets a second, and the held-out loss.

Rules kept here:
1. A small transformer on CPU ranks over the corpora's lengths divided by 16, with the budget
   divided alike; every round has another order of the samples.
2. Kind `limit` is what the compute of this run allows: the rate of `gmt` in the same round if its
   batches had no padding and its ranks equal work. It stands beside samples/s and targets/s.
3. Fewer and larger steps learn less at an equal rate, so all kinds follow the square root rule for
   the targets of a step (`training.learning_rate`). The noise of the held-out loss is the spread of
   `fixed` over the rounds.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

from .cells import run_cell
from .corpora import Corpus, load
from .kinds import ENVIRONMENT, KINDS, Job, window_of
from .measure import batch_measures
from .model import ModelSize
from .options import Options, parse, quick_options
from .summary import CellKey, Row, ratio_rows, rows_of, show, write
from .tables import show_line
from .training import Training, TrainRecord, train

LENGTH_DIVISOR = 16
# Of fewer samples dgap sees nothing but the first, small windows.
FULL = Options(
    samples=1024,
    rounds=2,
    worlds=(2,),
    workers=1,
    corpora=("lognormal_cv029", "lognormal_cv048", "bimodal_cv080", "lognormal_cv100"),
)
QUICK = quick_options(samples=64, worlds=(2,), workers=1, corpora=("bimodal_cv080",))
TIMEOUT_S = 600.0
BASES = ("limit", "gmt", "reference", "fixed", "sorted_window", "lhotse")
SHOWN = (
    "samples_per_s",
    "targets_per_s",
    "heldout_loss",
    "steps",
    "padding",
    "imbalance",
    "idle_share",
    "failed",
)
RATIO_MEASURES = ("samples_per_s", "targets_per_s", "heldout_loss")


def train_measures(
    records: Sequence[TrainRecord], lengths: Sequence[int], budget: int
) -> dict[str, float]:
    """Rates by the slowest rank's clock over all ranks' samples and targets; and the batches."""
    seconds = max(record.seconds for record in records)
    batches = batch_measures([record.steps for record in records], lengths, budget)
    delivered = sum(
        len(step.indices) for record in records for step in record.steps if not step.idle
    )
    return {
        "samples_per_s": delivered / seconds,
        "targets_per_s": sum(record.targets for record in records) / seconds,
        "heldout_loss": records[0].heldout_loss,
        "seconds": seconds,
    } | batches


def train_once(job: Job, training: Training) -> dict[str, float]:
    """One run of one kind; `failed` alone where it did not end."""
    cell = run_cell(
        lambda rank: train(replace(job, rank=rank), training),
        job.world_size,
        timeout_s=TIMEOUT_S,
        environment=ENVIRONMENT,
    )
    if cell.failure:
        show_line(f"FAILED {job.kind}: {cell.failure}")
        return {"failed": 1.0}
    return train_measures(cell.answers, job.lengths, job.budget)


def limit_of(gmt: dict[str, float]) -> dict[str, float]:
    """The rates of a run of `gmt` without its padding and its imbalance; none if it failed."""
    if "padding" not in gmt:
        return {}
    gain = gmt["imbalance"] / (1 - gmt["padding"])
    return {name: gmt[name] * gain for name in ("samples_per_s", "targets_per_s")}


def measure_corpus(
    corpus: Corpus, job: Job, training: Training, options: Options, *, budget: int
) -> list[Row]:
    """All kinds on one corpus, round by round. `budget` is the one that is written down."""
    kinds = options.kinds or KINDS
    results: dict[str, list[dict[str, float]]] = {kind: [] for kind in kinds}
    for index in range(options.rounds):
        for kind in kinds:
            chosen = replace(job, kind=kind, seed=options.seed + index)
            results[kind].append(train_once(chosen, training))
    if "gmt" in results:
        results["limit"] = [limit_of(measures) for measures in results["gmt"]]
    keys = {
        kind: CellKey(
            corpus.name,
            budget,
            0 if kind == "limit" else window_of(kind, job.window, len(job.lengths)),
            job.world_size,
            kind,
        )
        for kind in results
    }
    rows = [row for kind in results for row in rows_of(keys[kind], results[kind])]
    for kind in kinds:
        for base in BASES:
            if kind.startswith("dgap") and base in keys:
                pairs = zip(results[kind], results[base], strict=True)
                rows += ratio_rows(keys[kind], keys[base], pairs, RATIO_MEASURES)
    return rows


def main(arguments: Sequence[str]) -> int:
    """Train, show and write `end_to_end.json`."""
    options = parse(arguments, part="end_to_end", purpose=__doc__ or "", full=FULL, quick=QUICK)
    rows: list[Row] = []
    for name in options.corpora:
        for world in options.worlds:
            for budget in options.budgets:
                count = options.samples // world * world
                corpus = load(name).take(count, seed=options.seed).scaled(LENGTH_DIVISOR)
                job = Job(
                    kind="",
                    lengths=corpus.lengths,
                    budget=budget // LENGTH_DIVISOR,
                    window=options.windows[0] if options.windows else None,
                    world_size=world,
                    workers=options.workers,
                )
                training = Training(model=ModelSize())
                found = measure_corpus(corpus, job, training, options, budget=budget)
                show(f"end to end: {name}, {world} ranks", found, SHOWN)
                rows += found
    write(options.output / "end_to_end.json", rows, options.sizes())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
