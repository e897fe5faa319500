"""That what runs is what is proved: the compiled step function against the table's Z3 terms.

Rules kept here:
1. `compiled.equals_terms` reads the text that production executes (`Machine.source`) as Python,
   and asks whether each branch is the row as the obligations read it, for all integers.
2. `compiled.runs_as_terms` executes that function on every small state, and asks whether any of
   its answers is another than the terms', so that it depends on no reading of Python.
3. Terms are built by the same `translate` that the obligations use, vector and witnesses included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

from dgap.protocol.expr import Name, Node, walk
from dgap.protocol.machine import Machine
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Row, Table
from dgap.protocol.vocabulary import Effect, Event, EventKind, Phase, Report, Settings, State

from .check import Check, Outcome, Reach, Verdict
from .solver import (
    RANK,
    Z3,
    Theory,
    choose,
    constant,
    every,
    implication,
    negation,
    number,
    some,
)
from .source_terms import Branch, Inputs, StepSource
from .terms import Reading, Vector, said, translate

LARGEST_WORLD = 3
SMALL = 2
"""Fields and arguments are 0..SMALL where a function is executed on all of them."""

ALL_SETTINGS = tuple(
    Settings(window=3 + quota, accumulation=unit, quota=quota, policy=policy, tail_stop=tail)
    for quota, policy, tail in product((0, 1), (0, 1), (0, 1))
    for unit in (1 + (quota + policy + tail) % 2,)
)
"""Every mode with every policy and tail; a setting is a constant in the text, and nothing else."""
TWO_SETTINGS = (Settings(window=2), Settings(window=3, accumulation=2, quota=1, tail_stop=1))
_NAMES = State._fields
_STATE = tuple(constant(f"state_{name}") for name in State._fields)
_EVENT = tuple(constant(f"event_{name}") for name in Event._fields[:-1])

Place = tuple[int, int]
CompileTable = Callable[[Settings, Table], Machine]


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """A row as the obligations read it: guard, next state, effects."""

    row: Row
    guard: Z3
    state: tuple[Z3, ...]
    effects: tuple[tuple[str, Z3], ...]


class Terms:
    """The rows of one place (phase, event) as terms, under fixed settings and world size."""

    def __init__(self, rows: Sequence[Row], settings: Settings, world_size: int) -> None:
        self._settings = settings
        ranks = [constant(f"rank{index}", RANK) for index in range(world_size)]
        vector = Vector("v", lambda field, rank: said(field, number(1), rank))
        reading = Reading(name=self.name, vector=vector)
        self.reports = [[said(name, number(1), rank) for name in Report._fields] for rank in ranks]
        self.meanings = tuple(_meaning(row, reading) for row in rows)
        witnesses = [
            some(each.witness == rank for rank in ranks) for each in vector.aggregates.values()
        ]
        indices = [said("rank", number(1), rank) == at for at, rank in enumerate(ranks)]
        self.hypotheses = [*vector.axioms(ranks), *witnesses, *indices]

    def name(self, name: Name) -> Z3:
        """A setting as its value, any other name as an unknown."""
        if name.scope == "setting":
            return number(int(getattr(self._settings, name.name)))
        return constant(f"{name.scope}_{name.name}")


def _meaning(row: Row, reading: Reading) -> Meaning:
    new = {name: translate(value, reading) for name, value in row.updates}
    new["phase"] = number(int(row.target))
    return Meaning(
        row=row,
        guard=translate(row.guard, reading),
        state=tuple(new.get(n, old) for n, old in zip(State._fields, _STATE, strict=True)),
        effects=tuple((ask.kind.name, translate(ask.argument, reading)) for ask in row.asks),
    )


def places(table: Table) -> dict[Place, tuple[Row, ...]]:
    """The rows of the table by phase and event."""
    found: dict[Place, tuple[Row, ...]] = {}
    for row in table.rows:
        place = (int(row.phase), int(row.event))
        found[place] = (*found.get(place, ()), row)
    return found


def _world_sizes(rows: Sequence[Row]) -> range:
    return range(1, LARGEST_WORLD + 1) if rows[0].event == EventKind.GATHERED else range(1)


# By the text ------------------------------------------------------------------------------


def text_equals_terms(
    table: Table = TABLE,
    compile_table: CompileTable = Machine,
    all_settings: Sequence[Settings] = ALL_SETTINGS,
) -> Outcome:
    """PROVED if the text of every step function says what the terms say, for all integers."""
    count = 0
    for settings in all_settings:
        source = StepSource(compile_table(settings, table).source)
        expected = places(table)
        if set(source.rows) != set(expected):
            return _refuted(f"{settings}: functions for {sorted(source.rows)}")
        for place, rows in expected.items():
            for size in _world_sizes(rows):
                terms = Terms(rows, settings, size)
                inputs = Inputs(state=_STATE, event=_EVENT, reports=terms.reports)
                branches = source.branches(source.rows[place], inputs)
                found = _ask(f"{source.rows[place]}, W={size}, {settings}", terms, branches)
                if found is not None:
                    return found
                count += len(branches)
        found = _report_equals_terms(table, settings, source)
        if found is not None:
            return found
        count += 1
    return Outcome(verdict=Verdict.PROVED, detail=f"{count} branches")


def _ask(place: str, terms: Terms, branches: Sequence[Branch]) -> Outcome | None:
    """None if each branch is its row."""
    if len(branches) != len(terms.meanings):
        return _refuted(f"{place}: {len(branches)} branches for {len(terms.meanings)} rows")
    for branch, meaning in zip(branches, terms.meanings, strict=True):
        if [kind for kind, _ in branch.effects] != [kind for kind, _ in meaning.effects]:
            return _refuted(f"{place}: row {meaning.row.name} asks {branch.effects}")
    goals = [_same(*pair) for pair in zip(branches, terms.meanings, strict=True)]
    return _settle(place, terms.hypotheses, every(goals))


def _same(branch: Branch, meaning: Meaning) -> Z3:
    values = zip(branch.state, meaning.state, strict=True)
    arguments = zip(branch.effects, meaning.effects, strict=True)
    equal = [ours == theirs for ours, theirs in values]
    equal += [ours == theirs for (_, ours), (_, theirs) in arguments]
    return every((branch.guard == meaning.guard, implication(meaning.guard, every(equal))))


def _report_equals_terms(table: Table, settings: Settings, source: StepSource) -> Outcome | None:
    reading = Reading(name=Terms((), settings, 0).name)
    values = [translate(value, reading) for _, value in table.report]
    ours = source.report(_STATE)
    equal = every(a == b for a, b in zip(ours, values, strict=True))
    return _settle(f"report, {settings}", [], equal)


def _settle(place: str, hypotheses: Sequence[Z3], goal: Z3) -> Outcome | None:
    theory = Theory(hypotheses)
    for answer in (theory.witness(), theory.implies(goal)):
        if answer.verdict != Verdict.PROVED:
            trace = tuple(str(answer.model).splitlines()) if answer.model is not None else ()
            return Outcome(verdict=answer.verdict, detail=f"{place} {answer.reason}", trace=trace)
    return None


def _refuted(detail: str) -> Outcome:
    return Outcome(verdict=Verdict.REFUTED, detail=detail)


# By running it ----------------------------------------------------------------------------


def runs_as_terms(
    table: Table = TABLE,
    compile_table: CompileTable = Machine,
    all_settings: Sequence[Settings] = TWO_SETTINGS,
) -> Outcome:
    """PROVED if the function, executed on every small state and event, answers as the terms do."""
    count = 0
    for settings in all_settings:
        machine = compile_table(settings, table)
        for place, rows in places(table).items():
            for size in _world_sizes(rows)[:2]:
                box = Box(rows, settings, size)
                calls = list(box.calls(Phase(place[0]), EventKind(place[1])))
                another = some(box.another(machine, state, event) for state, event in calls)
                name = f"{rows[0].name}, W={size}, {settings}"
                found = _settle(name, box.hypotheses, negation(another))
                if found is not None:
                    return found
                count += len(calls)
    return Outcome(verdict=Verdict.PROVED, detail=f"{count} calls", states=count)


class Box:
    """All small inputs of one place of the table. Only fields that its rows read are varied, and
    only those that they change are compared by terms; the others must come out as they went in."""

    def __init__(self, rows: Sequence[Row], settings: Settings, world_size: int) -> None:
        self._terms = Terms(rows, settings, world_size)
        nodes: list[Node] = [row.guard for row in rows]
        nodes += [value for row in rows for _, value in row.updates]
        names = {part for node in nodes for part in walk(node) if isinstance(part, Name)}
        # A verdict's guards read the reports alone; its updates are seen at W=1.
        varied = {name.name for name in names if name.scope == "state"}
        self._fields = sorted(varied) if world_size < 2 else []
        self._arguments = sorted({name.name for name in names if name.scope == "event"})
        self._changed = sorted({name for row in rows for name, _ in row.updates} | {"phase"})
        self._given = [constant(f"state_{name}") for name in self._fields]
        self._given += [constant(f"event_{name}") for name in self._arguments]
        self._given += [value for report in self._terms.reports for value in report]
        self._size = world_size
        # What is not read is 100, 101, ...: a field that comes out as another one shows.
        self._rest = {name: 100 + at for at, name in enumerate(_NAMES) if name not in self._fields}
        fixed = [constant(f"state_{name}") == value for name, value in self._rest.items()]
        self.hypotheses = [*self._terms.hypotheses, *fixed[1:]]  # the phase is the place's

    def calls(self, phase: Phase, kind: EventKind) -> Iterator[tuple[State, Event]]:
        """Every state and event in the box; reports are such as ranks send."""
        count = len(self._fields) + len(self._arguments)
        top = SMALL if count < 7 and self._size == 0 else 1  # 3**9 states of a row are too many
        for values in product(range(top + 1), repeat=count):
            fields = dict(zip(self._fields, values, strict=False))
            state = State(**self._rest | {"phase": phase} | fields)
            chosen = dict(zip(self._arguments, values[len(fields) :], strict=True))
            for vector in product(_reports(), repeat=self._size):
                yield state, Event(kind, **chosen, reports=vector)

    def another(self, machine: Machine, state: State, event: Event) -> Z3:
        """That the inputs are these, and the terms' answer is another than the function's."""
        values = [getattr(state, name) for name in self._fields]
        values += [getattr(event, name) for name in self._arguments]
        values += [value for report in event.reports for value in report]
        given = [name == int(value) for name, value in zip(self._given, values, strict=True)]
        result = machine.attempt(state, event)
        meanings = self._terms.meanings
        if result is None:
            return every((*given, some(meaning.guard for meaning in meanings)))
        after, effects = result
        same = negation(every(()))
        if all(getattr(after, n) == getattr(state, n) for n in {*_NAMES} - {*self._changed}):
            for meaning in reversed(meanings):
                same = choose(meaning.guard, self._equal(meaning, after, effects), same)
        return every((*given, negation(same)))

    def _equal(self, meaning: Meaning, after: State, effects: Sequence[Effect]) -> Z3:
        if [kind for kind, _ in meaning.effects] != [effect.kind.name for effect in effects]:
            return negation(every(()))
        terms = dict(zip(_NAMES, meaning.state, strict=True))
        equal = [terms[name] == int(getattr(after, name)) for name in self._changed]
        pairs = zip(meaning.effects, effects, strict=True)
        return every((*equal, *(term == int(effect.argument) for (_, term), effect in pairs)))


def _reports() -> Iterator[Report]:
    for offered, needed in ((0, 0), (1, 1), (2, 1), (2, 2)):
        for exhausted in (0, 1):
            yield Report(offered, needed, offered, exhausted)
        yield Report(offered, needed, offered, failed=1)
        yield Report(offered, needed, offered, stopped=1)
        yield Report(offered, needed, offered, dry=1)


def composition_checks(table: Table = TABLE) -> tuple[Check, ...]:
    """What is compiled against what is proved."""
    check = partial(Check, property="code", reach=Reach.EXHAUSTIVE, expected=Verdict.PROVED)
    return (
        check(
            id="compiled.equals_terms",
            statement="the text of the step function that production runs is, branch by branch, "
            "the row that the obligations are about",
            scope=f"W=1..{LARGEST_WORLD}, all integers, {len(ALL_SETTINGS)} settings",
            run=lambda: text_equals_terms(table),
        ),
        check(
            id="compiled.runs_as_terms",
            statement="that function, executed, answers as the terms do",
            scope=f"W=1..2, all that is read 0..{SMALL}, sound reports, 2 settings",
            run=lambda: runs_as_terms(table),
        ),
    )
