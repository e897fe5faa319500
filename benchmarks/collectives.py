"""What one exchange of metadata costs: measured for W = 2..16 processes, modelled beyond.

Rules kept here:
1. Measured: dgap's own transport (one gather of a report, one sum of per-step totals), and what
   the reference sends each round (one gather of 2 + 2 B words), both over Gloo on this machine.
2. Modelled: `exchange_model_s` with LATENCY_S and BYTES_PER_S as stated; the algorithms are Gloo's
   (ring gather: W - 1 hops; ring sum: 2 (W - 1) hops of 1/W of the bytes). The model says what the
   messages cost on an idle network; stragglers are not in it.
3. Both are given for one round, and over the steps of a round: what a training step pays.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter

import torch
import torch.distributed as dist

from dgap.protocol.codec import REPORT_SIZE
from dgap.runtime.plan import TOTALS
from dgap.runtime.torch_transport import open_transport

from .cells import run_cell
from .corpora import load
from .options import Options, parse, quick_options
from .simulation import simulate
from .summary import CellKey, Row, row_of, show, write
from .tables import show_line

FULL = Options(
    samples=4096,
    rounds=1,
    worlds=(2, 4, 8, 16),
    corpora=("chat_chitchat_chunks",),
    windows=(256, 1024, 4096),
)
QUICK = quick_options(
    samples=1024, worlds=(2, 4), corpora=("chat_chitchat_chunks",), windows=(256,)
)
REPEATS = 60
WARM_UP_REPEATS = 10
TIMEOUT_S = 120.0
MODEL_WORLDS = tuple(2**k for k in range(1, 13))
# One way through the kernel's TCP stacks inside a data centre, and a 10 Gbit/s share of a link.
LATENCY_S = 25e-6
BYTES_PER_S = 1.25e9
WORD_BYTES = 8
SHOWN = ("exchange_ms", "exchange_model_ms", "bytes", "steps_a_round", "per_step_ms")


def ring_gather_s(world: int, size_bytes: int) -> float:
    """Each rank passes on W - 1 messages of `size_bytes`."""
    return (world - 1) * (LATENCY_S + size_bytes / BYTES_PER_S)


def ring_sum_s(world: int, size_bytes: int) -> float:
    """Reduce-scatter and all-gather: 2 (W - 1) messages of 1/W of the bytes."""
    return 2 * (world - 1) * (LATENCY_S + size_bytes / world / BYTES_PER_S)


def exchange_model_s(kind: str, world: int, window: int, steps: int) -> float:
    """One round of a kind. Raises ValueError for another kind than dgap and reference."""
    if kind == "dgap":
        return ring_gather_s(world, WORD_BYTES * REPORT_SIZE) + ring_sum_s(
            world, WORD_BYTES * total_words(steps)
        )
    if kind == "reference":
        return ring_gather_s(world, WORD_BYTES * (2 + 2 * window))
    raise ValueError(f"no model for {kind!r}")


def total_words(steps: int) -> int:
    """Words of the sum: the totals of each step, and whether a rank lacks an idle batch."""
    return len(TOTALS) * steps + 1


def message_bytes(kind: str, window: int, steps: int) -> int:
    """What one rank contributes to a round."""
    words = REPORT_SIZE + total_words(steps) if kind == "dgap" else 2 + 2 * window
    return WORD_BYTES * words


def _median_s(exchange: Callable[[], object]) -> float:
    durations = []
    for _ in range(WARM_UP_REPEATS + REPEATS):
        start_s = perf_counter()
        exchange()
        durations.append(perf_counter() - start_s)
    return median(durations[WARM_UP_REPEATS:])


def measure_rank(world: int, window: int, steps: int) -> dict[str, float]:
    """Seconds of one exchange of each kind, on this rank."""
    warnings.simplefilter("ignore", FutureWarning)
    transport = open_transport(None, timeout_s=TIMEOUT_S)
    report, totals = [1] * REPORT_SIZE, [1] * total_words(steps)

    def dgap_round() -> None:
        transport.gather(report)
        transport.total(totals)

    own = torch.zeros(2 + 2 * window, dtype=torch.int64)
    everyone = torch.zeros(world * len(own), dtype=torch.int64)
    group = dist.new_group(backend="gloo")
    measured = {
        "dgap": _median_s(dgap_round),
        "reference": _median_s(lambda: dist.all_gather_into_tensor(everyone, own, group=group)),
    }
    transport.close()
    return measured


def steps_in_a_round(window: int, samples: int, corpus: str, seed: int) -> int:
    """T of dgap's rounds with this window: the mean over an epoch of two ranks, of four windows at
    least."""
    lengths = load(corpus).take(max(samples, 8 * window), seed=seed).lengths
    simulated = simulate(
        lengths, world_size=2, seed=seed, token_budget=16384, window=window, first_window=window
    )
    return max(1, round(len(simulated.ranks[0]) / max(1, simulated.rounds - 1)))


def measured_rows(corpus: str, window: int, steps: int, options: Options) -> list[Row]:
    """Real processes of this machine."""
    rows = []
    for world in options.worlds:
        cell = run_cell(
            lambda rank, world=world: measure_rank(world, window, steps),  # type: ignore[misc]
            world,
            timeout_s=TIMEOUT_S,
        )
        if cell.failure:
            show_line(f"FAILED world {world}: {cell.failure}")
            continue
        for kind in ("dgap", "reference"):
            key = CellKey(corpus, 16384, window, world, kind)
            values_ms = [1000 * answer[kind] for answer in cell.answers]
            rows.append(row_of(key, "exchange_ms", values_ms))
            rows.append(row_of(key, "per_step_ms", [median(values_ms) / steps]))
    return rows


def modelled_rows(corpus: str, window: int, steps: int) -> list[Row]:
    """The latency model up to W = 4,096."""
    rows = []
    for world in MODEL_WORLDS:
        for kind in ("dgap", "reference"):
            key = CellKey(corpus, 16384, window, world, kind)
            cost_s = exchange_model_s(kind, world, window, steps)
            rows.append(row_of(key, "exchange_model_ms", [1000 * cost_s]))
            rows.append(row_of(key, "bytes", [message_bytes(kind, window, steps)]))
            rows.append(row_of(key, "steps_a_round", [steps]))
    return rows


def main(arguments: Sequence[str]) -> int:
    """Measure, model, show and write `collectives.json`."""
    options = parse(arguments, part="collectives", purpose=__doc__ or "", full=FULL, quick=QUICK)
    rows: list[Row] = []
    for corpus in options.corpora:
        for window in options.windows:
            steps = steps_in_a_round(window, options.samples, corpus, options.seed)
            found = modelled_rows(corpus, window, steps)
            found += measured_rows(corpus, window, steps, options)
            show(f"one exchange of metadata: {corpus}, window {window:,}", found, SHOWN)
            rows += found
    write(options.output / "collectives.json", rows, options.sizes())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
