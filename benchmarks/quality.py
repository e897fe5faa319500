"""How good the batches are, by simulation: padding, fill, steps and imbalance over windows.

Rules kept here:
1. dgap's numbers come from its real engines (`simulation`), the reference's from its real collate
   loop (`reference_grouping`), both over the same lengths; `gmt` sees all samples at once.
2. dgap is also held against the exact optimum (`optimum`) for the very samples and step counts of
   its own rounds: measure `padding_optimum` beside `padding`, on the rounds that were compared.

Measures named `long_...` are those of the loader with nothing set but the budget, and of gmt, over
an epoch of LONG_EPOCH_WINDOWS windows a rank: in a shorter one the first, small windows weigh more
than they do in training. Where a corpus has fewer samples than asked for, they are drawn from it
with replacement.

Beside the reference at the same window: `way_to_gmt` is how far of the way from the reference's
steps to those of gmt dgap goes, `padding_over_reference` the difference of the two paddings (below
0: dgap pads less, in fewer steps), `metadata_share` dgap's bytes a rank and round over its bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from dgap.runtime import Step

from .corpora import Corpus, load
from .kinds import DGAP_KINDS, Job, dgap
from .kinds.dgap import settings_of
from .kinds.gmt import plan
from .measure import StepRecord, batch_measures, limit_measures
from .optimum import least_padded_total
from .options import Options, parse, quick_options
from .reference_grouping import reference_epoch
from .simulation import Simulated, simulate
from .summary import CellKey, Row, rows_of, show, write
from .tables import show_line

WINDOWS = (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
# The reference's collate loop takes quadratic time in its window: a few tell enough.
REFERENCE_WINDOWS = (64, 256, 1024, 4096)
FULL = Options(samples=8192, rounds=1, worlds=(2, 8), budgets=(8192, 16384), windows=WINDOWS)
QUICK = quick_options(samples=800, worlds=(2,), budgets=(16384,), windows=(64, 256, 1024))
# What the ramp of growing windows costs is spread over so many full ones.
LONG_EPOCH_WINDOWS = 8
# The exact optimum of a larger window takes seconds, and the largest are the easiest.
OPTIMUM_WINDOW_LIMIT = 4096
OPTIMUM_GROUPINGS = 3
SHOWN = (
    "padding",
    "padding_optimum",
    "padding_over_optimum",
    "fill",
    "steps",
    "imbalance",
    "idle_share",
    "over_budget",
    "coverage",
)
COMPARED = (
    "steps_over_gmt",
    "fill_over_gmt",
    "way_to_gmt",
    "padding_over_reference",
    "rounds",
    "rounds_over_reference",
    "metadata_bytes",
    "metadata_share",
)

LONG = tuple(
    f"long_{name}" for name in (*SHOWN, "steps_over_gmt", "fill_over_gmt", "metadata_bytes")
)


def gmt_records(
    lengths: Sequence[int], budget: int, world: int, seed: int
) -> list[list[StepRecord]]:
    """The offline oracle's steps by rank."""
    ranks: list[list[StepRecord]] = [[] for _ in range(world)]
    for step in plan(lengths, budget=budget, world_size=world, seed=seed):
        for rank, batch in enumerate(step):
            padded = len(batch) * max(lengths[index] for index in batch)
            ranks[rank].append(StepRecord(indices=tuple(batch), padded_tokens=padded, idle=False))
    return ranks


def dgap_measures(simulated: Simulated, lengths: Sequence[int], budget: int) -> dict[str, float]:
    """What the batches are like, and what the ranks told each other."""
    return batch_measures(simulated.records(), lengths, budget) | {
        "rounds": float(simulated.rounds),
        "metadata_bytes": float(simulated.metadata_bytes),
    }


def rounds_of(steps: Sequence[Step]) -> Iterator[list[Step]]:
    """The real steps of a rank, round by round, the largest rounds first."""
    rounds: dict[int, list[Step]] = {}
    for step in steps:
        if not step.idle:
            rounds.setdefault(step.round, []).append(step)
    yield from sorted(rounds.values(), key=lambda held: -sum(step.samples for step in held))


def optimum_measures(simulated: Simulated, lengths: Sequence[int], budget: int) -> dict[str, float]:
    """Padding of some rounds beside the least that the same samples and step counts allow."""
    padded = least = tokens = 0
    for steps in list(rounds_of(simulated.ranks[0]))[:OPTIMUM_GROUPINGS]:
        costs = [lengths[index] for step in steps for index in step.sample_indices]
        least += least_padded_total(costs, budget, len(steps))
        padded += sum(step.padded_tokens for step in steps)
        tokens += sum(costs)
    measures = {"padding_compared": 1 - tokens / padded, "padding_optimum": 1 - tokens / least}
    if least > tokens:
        measures["padding_over_optimum"] = (padded - tokens) / (least - tokens)
    return measures


def measure_corpus(corpus: Corpus, world: int, budget: int, options: Options) -> list[Row]:
    """All kinds and windows on one corpus."""
    lengths = corpus.take(options.samples // world * world, seed=options.seed).lengths

    def key(kind: str, window: int) -> CellKey:
        return CellKey(corpus.name, budget, window, world, kind)

    oracle = batch_measures(gmt_records(lengths, budget, world, options.seed), lengths, budget)
    rows = rows_of(key("limit", 0), [limit_measures(lengths, budget, world)])
    rows += rows_of(key("gmt", len(lengths)), [oracle])
    for window in options.windows:
        reference: dict[str, float] = {}
        if window in REFERENCE_WINDOWS:
            reference = reference_measures(lengths, world, budget, window)
        for kind in options.kinds or DGAP_KINDS:
            job = Job(kind=kind, lengths=lengths, budget=budget, window=window, seed=options.seed)
            measures = simulated_measures(job, world, oracle)
            rows += rows_of(key(kind, window), [measures | beside(reference, measures, oracle)])
        if reference:
            rows += rows_of(key("reference", window), [reference])
    return rows


def measure_defaults(corpus: Corpus, world: int, budget: int, options: Options) -> list[Row]:
    """The loader with nothing set but the budget over a long epoch, and gmt over the same one."""
    windows = 1 if options.quick else LONG_EPOCH_WINDOWS
    lengths = corpus.take(windows * dgap.DEFAULT_WINDOW * world, seed=options.seed).lengths
    oracle = batch_measures(gmt_records(lengths, budget, world, options.seed), lengths, budget)
    job = Job(kind="dgap", lengths=lengths, budget=budget, seed=options.seed)
    measures = simulated_measures(job, world, oracle)
    gmt_key = CellKey(corpus.name, budget, len(lengths), world, "gmt")
    dgap_key = gmt_key._replace(kind="dgap", window=dgap.DEFAULT_WINDOW)
    rows = rows_of(gmt_key, [oracle]) + rows_of(dgap_key, [measures])
    return [row._replace(measure=f"long_{row.measure}") for row in rows]


def simulated_measures(job: Job, world: int, oracle: dict[str, float]) -> dict[str, float]:
    """One epoch of dgap's engines, beside the exact optimum and beside gmt's steps and fill."""
    simulated = simulate(job.lengths, world_size=world, **settings_of(job))
    measures = dgap_measures(simulated, job.lengths, job.budget)
    if (job.window or dgap.DEFAULT_WINDOW) <= OPTIMUM_WINDOW_LIMIT:
        measures |= optimum_measures(simulated, job.lengths, job.budget)
    measures["steps_over_gmt"] = measures["steps"] / oracle["steps"]
    measures["fill_over_gmt"] = measures["fill"] / oracle["fill"]
    return measures


def beside(
    reference: dict[str, float], measures: dict[str, float], oracle: dict[str, float]
) -> dict[str, float]:
    """dgap against the reference at the same window; nothing where that did not run or end."""
    if "steps" not in reference:
        return {}
    found = {
        "padding_over_reference": measures["padding"] - reference["padding"],
        "rounds_over_reference": measures["rounds"] / reference["rounds"],
        "metadata_share": (measures["metadata_bytes"] / measures["rounds"])
        / (reference["metadata_bytes"] / reference["rounds"]),
    }
    way = reference["steps"] - oracle["steps"]
    if way > 0:
        found["way_to_gmt"] = (reference["steps"] - measures["steps"]) / way
    return found


def reference_measures(
    lengths: Sequence[int], world: int, budget: int, window: int
) -> dict[str, float]:
    """The reference's batches with this window; `failed` alone where it does not end."""
    job = Job(
        kind="reference", lengths=tuple(lengths), budget=budget, window=window, world_size=world
    )
    epoch = reference_epoch(job)
    if epoch.failure:
        show_line(f"FAILED reference, window {window}, world {world}: {epoch.failure}")
        return {"failed": 1.0}
    return batch_measures(epoch.ranks, lengths, budget) | {
        "rounds": float(epoch.rounds),
        "metadata_bytes": float(epoch.metadata_bytes),
    }


def compared(rows: Sequence[Row]) -> list[Row]:
    """The rows of dgap's own kinds."""
    return [row for row in rows if row.kind.startswith("dgap")]


def main(arguments: Sequence[str]) -> int:
    """Simulate, show and write `quality.json`."""
    options = parse(arguments, part="quality", purpose=__doc__ or "", full=FULL, quick=QUICK)
    rows: list[Row] = []
    for name in options.corpora:
        for world in options.worlds:
            for budget in options.budgets:
                found = measure_corpus(load(name), world, budget, options)
                long = measure_defaults(load(name), world, budget, options)
                where = f"{name}, {world} ranks, budget {budget:,}"
                show(f"quality: {where}", found, SHOWN)
                show(f"against gmt and the reference: {where}", compared(found), COMPARED)
                show(f"defaults, long epoch: {where}", long, LONG)
                rows += found + long
    write(options.output / "quality.json", rows, options.sizes())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
