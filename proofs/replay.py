"""Replays the traces of real runs: each line must be a step of the table, and ranks must agree.

    python -m dgap.proofs replay FOLDER/*.ndjson      files: the ranks of one run
    python -m dgap.proofs replay FOLDER               each folder below it: a run of its own

Rules kept here:
1. The step of a line is found by walking the rows (spec/oracle_step.py), not by the compiled
   machine that wrote it; so a replay is a second opinion on the compiler too.
2. The first line that no row explains is named by file and number, and so is the first gather
   whose vector is not the same on two ranks.
3. No trace, an empty one, one that ends before its epoch does and one whose peers' traces are
   missing all fail: what was not seen is not explained. Only a trace that may be cut off (`cut`,
   for ranks that were killed) may end early, also in the middle of a line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path

from dgap.protocol.table import TABLE
from dgap.protocol.trace import Start, Taken, read_start, read_taken
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import LIVE, Event, EventKind, Phase, Report, Settings, State
from dgap.spec.oracle_step import Walked, walk_report, walk_step

LEAVES_GATHER = (EventKind.GATHERED, EventKind.REFUSE)

LISTED_COUNT = 24
"""A summary of more traces counts them and lists none."""

KNOWN_STEPS = 1 << 16
"""Steps that are remembered: ranks and runs that are alike take the same ones again."""

Walk = Callable[[Settings, State, Event], Walked | None]


class Unexplained(ValueError):
    """A line of a trace that no row explains, or traces that do not belong together."""


@dataclass(frozen=True, kw_only=True)
class Gathered:
    """One gather as one rank left it. A refused vector is not written, so `reports` is empty."""

    place: str
    kind: EventKind
    reports: tuple[Report, ...]


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """One trace, every line explained."""

    name: str
    start: Start
    lines: int
    rows: tuple[str, ...]
    """The row of each line."""
    gathers: tuple[Gathered, ...]
    end: State


def replay(
    texts: Sequence[tuple[str, str]], table: Table = TABLE, *, cut: bool = False
) -> tuple[Replayed, ...]:
    """Replay the traces of one run, each a (name, text) pair, by themselves and with each other.

    `cut`: some ranks were killed, so a trace may end early. Raises Unexplained, naming the first
    line that the table does not explain.
    """
    if not texts:
        raise Unexplained("no trace was given")
    traces = tuple(replay_one(name, text, table, cut=cut) for name, text in texts)
    for epoch in sorted({trace.start.epoch for trace in traces}):
        _compare([trace for trace in traces if trace.start.epoch == epoch])
    return traces


def replay_files(
    paths: Sequence[Path], table: Table = TABLE, *, cut: bool = False
) -> tuple[Replayed, ...]:
    """As `replay`, of files and folders. Raises Unexplained for what cannot be read, too."""
    traces = [replay([_read(path) for path in run], table, cut=cut) for run in runs_of(paths)]
    if not traces:
        raise Unexplained("no trace was given")
    return tuple(trace for run in traces for trace in run)


def runs_of(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """The traces of each run: files that are named are of one; a folder holds one in each folder
    below it that has any. Raises Unexplained for a folder without a trace."""
    named = [path for path in paths if not path.is_dir()]
    if named:
        yield named
    for folder in (path for path in paths if path.is_dir()):
        found = sorted(folder.rglob("*.ndjson"), key=lambda path: (path.parent, path.name))
        if not found:
            raise Unexplained(f"{folder}: there is no trace in this folder")
        for _, run in groupby(found, key=lambda path: path.parent):
            yield list(run)


def _read(path: Path) -> tuple[str, str]:
    try:
        return str(path), path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise Unexplained(f"{path}: {error}") from error


@lru_cache(maxsize=8)
def known(table: Table) -> tuple[str, Walk]:
    """The table's digest, and `walk_step` of its rows that remembers what it found."""

    def walk(settings: Settings, state: State, event: Event) -> Walked | None:
        return walk_step(table.rows, settings, state, event)

    return table.digest(), lru_cache(maxsize=KNOWN_STEPS)(walk)


def replay_one(name: str, text: str, table: Table = TABLE, *, cut: bool = False) -> Replayed:
    """Replay the trace of one rank. Raises Unexplained."""
    *lines, unfinished = text.split("\n")
    if not lines:
        raise Unexplained(f"{name}: the trace is {'cut off in line 1' if text else 'empty'}")
    first, *others = lines
    try:
        start = read_start(first)
    except ValueError as error:
        raise Unexplained(f"{name}:1: {error}") from error
    digest, walk = known(table)
    if start.digest != digest:
        raise Unexplained(
            f"{name}:1: it ran the table {start.digest[:12]}, not {digest[:12]}; replay it "
            "with the version of dgap that wrote it"
        )
    if not 0 <= start.rank < start.world_size:
        raise Unexplained(f"{name}:1: rank {start.rank} among {start.world_size} ranks")
    state = start.state
    rows: list[str] = []
    gathers: list[Gathered] = []
    for number, line in enumerate(others, start=1):
        place = f"{name}:{number + 1}"
        taken = _taken(place, number, line)
        row, after = _explained(place, walk, start, state, taken)
        if taken.event.kind in LEAVES_GATHER:
            gathers.append(_gathered(place, table, start, state, taken))
        rows.append(row)
        state = after
    if unfinished and not cut:
        raise Unexplained(
            f"{name}:{len(lines) + 1}: the trace is cut off in the middle of this line; if the "
            "rank was killed, --cut accepts that"
        )
    if state.phase in LIVE and not cut:
        raise Unexplained(
            f"{name}: it ends after {len(rows)} steps in phase {Phase(state.phase).name}, before "
            "the epoch does; lines are missing, the rank is still running, or it was killed "
            "(--cut accepts that)"
        )
    return Replayed(
        name=name,
        start=start,
        lines=len(rows),
        rows=tuple(rows),
        gathers=tuple(gathers),
        end=state,
    )


def _taken(place: str, number: int, line: str) -> Taken:
    try:
        taken = read_taken(line)
    except ValueError as error:
        raise Unexplained(f"{place}: {error}") from error
    if taken.line != number:
        raise Unexplained(f"{place}: it is line {taken.line} of the run where {number} should be")
    return taken


def _explained(
    place: str, walk: Walk, start: Start, state: State, taken: Taken
) -> tuple[str, State]:
    """The row of a line and the next state."""
    count = len(taken.event.reports)
    if taken.event.kind == EventKind.GATHERED and count != start.world_size:
        raise Unexplained(f"{place}: {count} reports among {start.world_size} ranks")
    where = f"{place}: {taken.event.kind.name} in phase {Phase(state.phase).name}"
    found = walk(start.settings, state, taken.event)
    if found is None:
        raise Unexplained(f"{where}: no row takes it; state {_shown(state)}, {taken.event}")
    pairs = zip(State._fields, state, found.state, strict=True)
    changes = {name: int(new) for name, old, new in pairs if new != old}
    if changes != dict(taken.changes):
        raise Unexplained(f"{where}: row {found.row} changes {changes}, not {dict(taken.changes)}")
    if found.effects != taken.effects:
        raise Unexplained(f"{where}: row {found.row} asks {found.effects}, not {taken.effects}")
    return found.row, found.state


def _gathered(place: str, table: Table, start: Start, state: State, taken: Taken) -> Gathered:
    """What a rank got from a gather; its own report in there must be what its state says."""
    reports = taken.event.reports
    if taken.event.kind == EventKind.GATHERED:
        own = walk_report(table.report, start.settings, state)
        if reports[start.rank] != own:
            raise Unexplained(
                f"{place}: rank {start.rank} would report {own}, not {reports[start.rank]}"
            )
    return Gathered(place=place, kind=taken.event.kind, reports=reports)


def _compare(traces: Sequence[Replayed]) -> None:
    """The ranks of one epoch: all there, started alike, and told the same in every gather."""
    first = traces[0]
    refused = all(EventKind.REFUSE in [each.kind for each in trace.gathers] for trace in traces)
    for trace in traces[1:]:
        # Ranks whose settings differ refuse each other; only such a run may have them.
        for field in ("world_size",) if refused else ("world_size", "settings"):
            ours, theirs = getattr(first.start, field), getattr(trace.start, field)
            if ours != theirs:
                raise Unexplained(f"{trace.name}:1: {field} {theirs}, but {ours} in {first.name}")
    ranks = sorted(trace.start.rank for trace in traces)
    if ranks != list(range(first.start.world_size)):
        raise Unexplained(
            f"epoch {first.start.epoch}: {first.start.world_size} ranks ran, and the traces given "
            f"are of ranks {ranks}"
        )
    fullest = max(traces, key=lambda trace: len(trace.gathers))
    for trace in traces:
        for ours, theirs in zip(trace.gathers, fullest.gathers, strict=False):
            if (ours.kind, ours.reports) != (theirs.kind, theirs.reports):
                raise Unexplained(
                    f"{ours.place}: rank {trace.start.rank} got {ours.kind.name} "
                    f"{_vector(ours)}, but {theirs.kind.name} {_vector(theirs)} at {theirs.place}"
                )


def _vector(gathered: Gathered) -> list[list[int]]:
    return [list(report) for report in gathered.reports]


def _shown(state: State) -> str:
    values = {name: int(value) for name, value in state._asdict().items() if value}
    return " ".join(f"{name}={value}" for name, value in values.items())


def summary(traces: Sequence[Replayed]) -> tuple[str, ...]:
    """One line per trace unless they are many, then one for all."""
    listed = traces if len(traces) <= LISTED_COUNT else ()
    lines = [
        f"{trace.name}: {trace.lines} steps of rank {trace.start.rank}, "
        f"{len(trace.gathers)} rounds, {trace.end.steps} batches, {Phase(trace.end.phase).name}"
        for trace in listed
    ]
    rows = {row for trace in traces for row in trace.rows}
    return (
        *lines,
        f"explained: {sum(trace.lines for trace in traces)} steps of {len(traces)} traces, "
        f"by {len(rows)} rows of the table",
    )
