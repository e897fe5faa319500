"""The compiled explorer: search.c with the exported table, built once in a process and run.

Rules kept here:
1. It decides nothing that is not in the answer of the program: a search that did not finish, a
   count that outgrew its cell, a missing compiler are "unknown" to whoever asks.
2. What is broken comes with the worlds of a shortest run to it; `walked` finds the same run in our
   other explorer, which shares no code with this one, and so confirms it.
3. The program lies on disk only while it is built or run.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from dgap.protocol.machine import initial_state
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import Settings, State
from dgap.spec.environment import Environment
from dgap.spec.properties import PROPERTIES
from dgap.spec.witnesses import WITNESSES

from .export_c import REFINEMENT_INDEX, model
from .foreign_tools import UnreadableAnswer, program
from .unfold import RANK_FIELDS
from .watch import REFINEMENT
from .world import Node, World

T = TypeVar("T")
HERE = Path(__file__).parent
SOURCES = ("search.c", "walk.h", "interned.h")
C_FLAGS = ("-std=c11", "-O1", "-w")
BUILD_LIMIT_S = 60.0
SEARCH_LIMIT_S = 140.0
"""Below the limit of a check, so that the program ends before its caller is ended."""

STATE_LIMIT = 20_000_000
"""Worlds of one root: below 1 GB of memory."""

Record = tuple[int, ...]
"""The fields of one rank, in the order of `RANK_FIELDS`."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """Worlds of one choice of settings: each of `roots` has an environment per rank."""

    settings: Settings
    roots: tuple[tuple[Environment, ...], ...]
    witnesses: tuple[str, ...] = ()
    first_window: int = 0
    reduced: bool = False
    refinement: bool = True
    state_limit: int = STATE_LIMIT


@dataclass(frozen=True, kw_only=True)
class Found:
    """What the program found in all worlds of a job.

    `depth` is the greatest distance from a root. `ends`: every move made PROGRESS larger, so that
    no run goes in circles; False decides nothing. `broken` has the worlds of a shortest run to
    what it breaks, a record per rank.
    """

    finished: bool
    states: int
    transitions: int
    at_rest: int
    depth: int
    ends: bool
    overflow: bool
    shown: frozenset[str]
    broken: Mapping[str, tuple[tuple[Record, ...], ...]] = field(default_factory=dict)


def search(jobs: Sequence[Job], *, table: Table = TABLE) -> tuple[Found, ...]:
    """What the program finds in each job. Raises MissingTool without a C compiler, ValueError for
    jobs that it cannot hold, UnreadableAnswer, subprocess.TimeoutExpired."""
    binary = build(table)
    with TemporaryDirectory() as folder:
        place = Path(folder, "search")
        place.write_bytes(binary)
        place.chmod(0o700)
        done = subprocess.run(
            [str(place)],
            input="".join(map(_written, jobs)),
            capture_output=True,
            text=True,
            timeout=SEARCH_LIMIT_S,
            check=False,
        )
    lines = done.stdout.splitlines()
    if done.returncode or len(lines) != len(jobs):
        raise UnreadableAnswer(f"the search ended with {done.returncode}: {done.stderr[-500:]}")
    return tuple(_read(line, job) for line, job in zip(lines, jobs, strict=True))


@cache
def build(table: Table) -> bytes:
    """The program for this table. Raises MissingTool, UnreadableAnswer."""
    compiler = program("gcc", "apt-get install gcc")
    with TemporaryDirectory() as folder:
        for name in SOURCES:
            Path(folder, name).write_text((HERE / name).read_text())
        Path(folder, "model.h").write_text(model(table))
        done = subprocess.run(
            [compiler, *C_FLAGS, "-o", "search", "search.c"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=BUILD_LIMIT_S,
            check=False,
        )
        if done.returncode:
            raise UnreadableAnswer(f"the search was not built:\n{done.stderr[-2000:]}")
        return Path(folder, "search").read_bytes()


def _written(job: Job) -> str:
    sizes = {len(root) for root in job.roots}
    if len(sizes) != 1:
        raise ValueError(f"the roots of a job have one number of ranks, not {sorted(sizes)}")
    if job.reduced and any(at.stops_left or at.crashes_left for root in job.roots for at in root):
        raise ValueError("reduced worlds have no early stops and no crashes")
    wanted = sum(1 << at for at, each in enumerate(WITNESSES) if each.id in job.witnesses)
    head = [*sizes, int(job.reduced), int(job.refinement), job.state_limit, wanted]
    lines = [" ".join(map(str, [*head, *map(int, job.settings), len(job.roots)]))]
    lines += [" ".join(map(str, map(int, record))) for record in _records(job)]
    return "\n".join(lines) + "\n"


def _records(job: Job) -> Iterable[Record]:
    for root in job.roots:
        for environment in root:
            before = initial_state(
                job.settings, first_window=job.first_window, quota_share=environment.share
            )
            yield (*before, *environment)


def _read(line: str, job: Job) -> Found:
    answer = json.loads(line)
    size = len(job.roots[0])
    names = {at: each.id for at, each in enumerate(PROPERTIES)} | {REFINEMENT_INDEX: REFINEMENT}
    broken = {}
    for index, *cells in answer.pop("broken"):
        broken[names[index]] = _grouped(_grouped(cells, len(RANK_FIELDS)), size)
    shown = answer.pop("shown")
    seen = frozenset(each.id for at, each in enumerate(WITNESSES) if shown >> at & 1)
    return Found(**answer, shown=seen, broken=broken)


def _grouped(items: Sequence[T], size: int) -> tuple[tuple[T, ...], ...]:
    return tuple(tuple(items[at : at + size]) for at in range(0, len(items), size))


def walked(
    job: Job, worlds: Sequence[Sequence[Record]], *, table: Table = TABLE
) -> tuple[World, tuple[Node, ...]]:
    """The same run in the other explorer. Raises ValueError where that has no such move."""
    size = len(worlds[0])
    world = World(job.settings, size, table=table)
    split = len(State._fields)
    starts = [Environment(*record[split:]) for record in worlds[0]]
    path = [world.root(starts, first_window=job.first_window)]
    for step, after in enumerate(worlds[1:], start=1):
        following = [
            node
            for node in world.successors(path[-1])
            if [world.flats[number] for number in node[:-1]] == list(map(tuple, after))
        ]
        if not following:
            raise ValueError(f"the other explorer has no move {step} of this run: {after}")
        path.append(following[0])
    return world, tuple(path)
