"""The pure parts by the clock: a step of the table, the decision, the grouping of a window.

Rule kept here: CPU time of this thread, the best of several repeats, since these are functions of
their arguments and whatever takes longer was somebody else.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from time import thread_time

from dgap.protocol.codec import decode_reports, encode_report
from dgap.protocol.machine import Machine, initial_state
from dgap.protocol.vocabulary import Event, EventKind, State
from dgap.runtime import LoaderConfig
from dgap.runtime.chunks import Sample
from dgap.runtime.grouping import needed_group_count, partition
from dgap.runtime.plan import Work, announced_words, describe_steps, group_window
from dgap.runtime.trace import traced

from .corpora import Corpus, load
from .options import Options, parse, quick_options
from .summary import CellKey, Row, row_of, show, write

FULL = Options(rounds=5, budgets=(8192, 16384), windows=(1024, 4096), worlds=(2, 64, 512, 4096))
QUICK = quick_options(rounds=2, windows=(4096,), worlds=(2, 64))
STEP_REPEATS = 2000
SHOWN = (
    "needed_ms",
    "partition_ms",
    "plan_ms",
    "grouping_and_alignment_ms",
    "read_us",
    "read_untraced_us",
    "read_traced_us",
    "permits_us",
    "decode_and_decide_ms",
)


def best_s(action: Callable[[], object], repeats: int) -> float:
    """The shortest of `repeats` runs."""
    durations = []
    for _ in range(repeats):
        start_s = thread_time()
        action()
        durations.append(thread_time() - start_s)
    return min(durations)


def grouping_rows(corpus: Corpus, budget: int, window: int, options: Options) -> list[Row]:
    """A window as the engine treats it: how many groups it needs, its partition, its steps."""
    costs = corpus.take(window, seed=options.seed).lengths
    samples = [
        Sample(index=index, cost=cost, targets=cost, value=None) for index, cost in enumerate(costs)
    ]
    work = Work.of(LoaderConfig(token_budget=budget), epoch=0, world_size=2)
    needed = needed_group_count(costs, budget, "padded")

    def plan_round() -> None:
        plan = group_window(work, samples, step_count=needed, round_index=0)
        own = announced_words(work, plan, needed)
        describe_steps(work, plan, own=own, summed=own, first_step=0, round_index=0)

    needed_s = best_s(lambda: needed_group_count(costs, budget, "padded"), options.rounds)
    partition_s = best_s(
        lambda: partition(costs, budget=budget, kind="padded", step_count=needed + 1),
        options.rounds,
    )
    plan_s = best_s(plan_round, options.rounds)
    key = CellKey(corpus.name, budget, window, 1, "dgap")
    values = {
        "needed_ms": needed_s,
        "partition_ms": partition_s,
        "plan_ms": plan_s,
        "grouping_and_alignment_ms": needed_s + plan_s,
    }
    return [row_of(key, name, [1000 * value]) for name, value in values.items()]


def read_steps(machine: Machine, state: State, *, count: int) -> None:
    """`count` samples read into an empty window."""
    event = Event(EventKind.READ)
    for _ in range(count):
        state, _ = machine.step(state, event)


def trace_rows(options: Options) -> list[Row]:
    """A step of the machine that the engine is given without a trace folder, and with one.

    Without one it is the plain machine itself, so `read_untraced_us` is `read_us` once more.
    """
    config = LoaderConfig(token_budget=16384, window=STEP_REPEATS, first_window=STEP_REPEATS)
    plain = Machine(config.settings())
    state = initial_state(config.settings(), first_window=config.first_target)
    key = CellKey("-", 0, 0, 1, "dgap")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, chosen in (("read_untraced_us", None), ("read_traced_us", folder)):
            machine = traced(plain, chosen, state=state, epoch=0, rank=0, world_size=1)

            def read(machine: Machine = machine) -> None:
                read_steps(machine, state, count=STEP_REPEATS)

            seconds = best_s(read, options.rounds)
            rows.append(row_of(key, name, [1e6 * seconds / STEP_REPEATS]))
    return rows


def table_rows(options: Options) -> list[Row]:
    """One step of the table, one question to it, and the decision over W reports."""
    config = LoaderConfig(token_budget=16384, window=STEP_REPEATS, first_window=STEP_REPEATS)
    machine = Machine(config.settings())
    state = initial_state(config.settings(), first_window=config.first_target)
    key = CellKey("-", 0, 0, 1, "dgap")
    read_s = best_s(lambda: read_steps(machine, state, count=STEP_REPEATS), options.rounds)
    asked = Event(EventKind.TURN)
    permits_s = best_s(
        lambda: [machine.permits(state, asked) for _ in range(STEP_REPEATS)], options.rounds
    )
    rows = [
        row_of(key, "read_us", [1e6 * read_s / STEP_REPEATS]),
        row_of(key, "permits_us", [1e6 * permits_s / STEP_REPEATS]),
    ]
    state, _ = machine.step(state, Event(EventKind.READ))
    state, _ = machine.step(state, Event(EventKind.EXHAUST))
    state, _ = machine.step(state, Event(EventKind.OFFER, needed=1, units=1))
    for world in options.worlds:
        own = encode_report(machine.report(state))
        vector = [own] * world

        def decide(vector: Sequence[Sequence[int]] = vector) -> None:
            machine.step(state, Event(EventKind.GATHERED, reports=decode_reports(vector)))

        decide_s = best_s(decide, options.rounds)
        rows.append(row_of(key._replace(world=world), "decode_and_decide_ms", [1000 * decide_s]))
    return rows


def main(arguments: Sequence[str]) -> int:
    """Measure, show and write `kernel.json`."""
    options = parse(arguments, part="kernel", purpose=__doc__ or "", full=FULL, quick=QUICK)
    rows = table_rows(options) + trace_rows(options)
    for name in options.corpora:
        for budget in options.budgets:
            for window in options.windows:
                rows += grouping_rows(load(name), budget, window, options)
    show("pure parts", rows, SHOWN)
    write(options.output / "kernel.json", rows, options.sizes())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
