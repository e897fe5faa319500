"""States per second of our explorers beside TLC and rumur, on the same exported instance.

Measures, per explorer and as the median of the repeats: seconds to prepare (rumur and our compiled
explorer write and compile a C program), seconds to search (TLC's include its start), states/s of
the search, and states/s with preparation. All use one thread; the order changes with each repeat.
The one in Python is measured twice: counting alone, and with all properties watched as
`make verify` does; so does the compiled one, R1 on every transition included. The foreign ones
always check the invariants. Their states are those of ours, or the run fails.

    .venv/bin/python -m benchmarks.explorers [--instance NAME] [--repeats N]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter

from dgap.proofs.compiled import build, search
from dgap.proofs.compiled_family import jobs_of
from dgap.proofs.export import Instance, instance_of
from dgap.proofs.export_murphi import murphi
from dgap.proofs.export_tla import tla
from dgap.proofs.families import Family, explore_family
from dgap.proofs.foreign import INSTANCES, count_states
from dgap.proofs.foreign_tools import Answer, run_rumur, run_tlc
from dgap.protocol.table import TABLE
from dgap.protocol.vocabulary import Settings

from .tables import show_table

LARGE = Family(
    name="large",
    scope="W=2, 0..3 samples a rank, window 3, queue of 2, tail idle",
    settings=(Settings(window=3),),
    witnesses=(),
    most_samples=3,
    queue_limit=2,
)
LARGER = Family(
    name="larger",
    scope="W=2, 0..4 samples a rank, window 4, queue of 3, tail idle",
    settings=(Settings(window=4),),
    witnesses=(),
    most_samples=4,
    queue_limit=3,
)
FAMILIES = {family.name: family for family in (LARGE, LARGER, *INSTANCES)}
COLUMNS = (
    "explorer",
    "states",
    "prepare_s",
    "search_s",
    "states_per_s",
    "with_preparing",
    "ours_x",
)


@dataclass(frozen=True, kw_only=True)
class Speed:
    """The medians of one explorer."""

    states: int
    prepare_s: float
    search_s: float

    @property
    def search_rate(self) -> float:
        """States per second of the search alone."""
        return self.states / self.search_s

    @property
    def whole_rate(self) -> float:
        """States per second, preparation included."""
        return self.states / (self.prepare_s + self.search_s)


def explorers(family: Family) -> Mapping[str, Callable[[], Answer]]:
    """Each explorer by name, ready to run."""
    instance: Instance = instance_of(family)
    files, model = tla(instance), murphi(instance)
    return {
        "ours": lambda: timed(lambda: count_states(family)),
        "ours, watching": lambda: timed(lambda: watched_states(family)),
        "ours, compiled": lambda: compiled(family),
        "TLC": lambda: run_tlc(files, long=True),
        "rumur": lambda: run_rumur(model, long=True),
    }


def watched_states(family: Family) -> int:
    """The states of our explorer with all properties watched, refinement included."""
    return sum(each.exploration.states for each in explore_family(family))


def compiled(family: Family) -> Answer:
    """The compiled explorer, built anew."""
    build.cache_clear()
    started = perf_counter()
    build(TABLE)
    built = perf_counter()
    found = search(jobs_of(family))
    return Answer(
        states=sum(each.states for each in found),
        broken=min((name for each in found for name in each.broken), default=""),
        prepare_s=built - started,
        search_s=perf_counter() - built,
    )


def timed(count: Callable[[], int]) -> Answer:
    """The count as an answer, with the time it took."""
    started = perf_counter()
    states = count()
    return Answer(states=states, search_s=perf_counter() - started)


def measure(runs: Mapping[str, Callable[[], Answer]], repeats: int) -> dict[str, Speed]:
    """Medians over the repeats. Raises ValueError where explorers do not agree."""
    answers: dict[str, list[Answer]] = {name: [] for name in runs}
    names = list(runs)
    for repeat in range(repeats):
        turn = repeat % len(names)
        for name in names[turn:] + names[:turn]:
            answers[name].append(runs[name]())
    counts = {name: {(each.states, each.broken) for each in got} for name, got in answers.items()}
    if len(set.union(*counts.values())) != 1:
        raise ValueError(f"the explorers do not agree: {counts}")
    return {
        name: Speed(
            states=got[0].states,
            prepare_s=median(each.prepare_s for each in got),
            search_s=median(each.search_s for each in got),
        )
        for name, got in answers.items()
    }


def table_rows(speeds: Mapping[str, Speed], base: str = "ours") -> list[list[str]]:
    """A line per explorer; the last column is how many times faster `base` searches."""
    return [
        [
            name,
            f"{speed.states:,}",
            f"{speed.prepare_s:.2f}",
            f"{speed.search_s:.2f}",
            f"{speed.search_rate:,.0f}",
            f"{speed.whole_rate:,.0f}",
            f"{speeds[base].search_rate / speed.search_rate:.2f}",
        ]
        for name, speed in speeds.items()
    ]


def main(arguments: Sequence[str]) -> int:
    """See the top of this file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.explorers", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--instance", choices=sorted(FAMILIES), default=LARGE.name)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(arguments)
    family = FAMILIES[options.instance]
    speeds = measure(explorers(family), options.repeats)
    show_table(f"{family.scope}: median of {options.repeats}", COLUMNS, table_rows(speeds))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
