"""End to end on one GPU, for a machine that has one: under ten minutes, one JSON file.

    python -m benchmarks.gpu --output FOLDER

One rank, true lengths cut at the budget, a transformer of some 90 million parameters in bfloat16,
pinned memory. The GPU is fast enough here for a loader to be what training waits for. Kinds whose
packages are missing are left out. A run that would go beyond --seconds is not begun.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

import torch

from .corpora import Corpus, load
from .end_to_end import BASES, RATIO_MEASURES, SHOWN, train_once
from .kinds import KINDS, Job, window_of
from .model import ModelSize
from .summary import CellKey, Row, ratio_rows, rows_of, show, write
from .tables import show_line
from .training import Training

CORPORA = ("lognormal_cv048", "bimodal_cv080", "chat_chitchat_chunks", "tool_bfcl")
BUDGET = 16384
MODEL = ModelSize(vocabulary_size=8192, width=768, layers=12, heads=12)
PACKAGES = {"reference": "odb", "lhotse": "lhotse"}


def known_kinds() -> tuple[str, ...]:
    """The kinds whose packages are installed."""
    return tuple(kind for kind in KINDS if find_spec(PACKAGES.get(kind, "torch")) is not None)


def measure_corpus(corpus: Corpus, training: Training, *, rounds: int, until_s: float) -> list[Row]:
    """All kinds, round by round, as long as there is time."""
    results: dict[str, list[dict[str, float]]] = {kind: [] for kind in known_kinds()}
    for index in range(rounds):
        for kind, found in results.items():
            if perf_counter() < until_s:
                job = Job(
                    kind=kind,
                    lengths=corpus.lengths,
                    budget=BUDGET,
                    workers=4,
                    seed=index,
                    pin_memory=True,
                )
                found.append(train_once(job, training))
    keys = {
        kind: CellKey(corpus.name, BUDGET, window_of(kind, None, len(corpus.lengths)), 1, kind)
        for kind, found in results.items()
        if found
    }
    rows = [row for kind, key in keys.items() for row in rows_of(key, results[kind])]
    for kind, key in keys.items():
        for base in BASES:
            if kind.startswith("dgap") and base in keys:
                pairs = zip(results[kind], results[base], strict=False)
                rows += ratio_rows(key, keys[base], pairs, RATIO_MEASURES)
    return rows


def main(arguments: Sequence[str]) -> int:
    """Measure, show and write `gpu.json`; exit status 2 without a GPU."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=480.0)
    parser.add_argument("--output", type=Path, default=Path("runs/bench"))
    parser.add_argument("--corpora", nargs="+", default=CORPORA)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    chosen = parser.parse_args(arguments)
    # Counting devices asks the driver alone: the ranks are forked, and each opens the GPU itself.
    if chosen.device == "cuda" and torch.cuda.device_count() == 0:
        show_line("no GPU here")
        return 2
    small = ModelSize(width=64, layers=1, heads=2)
    training = Training(
        model=MODEL if chosen.device == "cuda" else small,
        device=chosen.device,
        autocast=chosen.device == "cuda",
    )
    until_s = perf_counter() + chosen.seconds
    rows: list[Row] = []
    for name in chosen.corpora:
        corpus = load(name).take(chosen.samples, seed=0)
        found = measure_corpus(corpus, training, rounds=chosen.rounds, until_s=until_s)
        show(f"one GPU: {name}", found, SHOWN)
        rows += found
        # After each corpus: what was measured is kept if the machine goes away.
        sizes = {"samples": chosen.samples, "rounds": chosen.rounds, "budget": BUDGET}
        write(chosen.output / "gpu.json", rows, sizes)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
