"""The compiled step function, executed on every small state, against the rows as terms.

Rules kept here:
1. The function is called by Python itself, so nothing here depends on a reading of its text.
2. All answers of one place of the table go to the solver in one question: is any of them another
   than the terms'?
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product

from dgap.protocol.expr import Name, Node, walk
from dgap.protocol.machine import Machine
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Row, Table
from dgap.protocol.vocabulary import Effect, Event, EventKind, Phase, Report, Settings, State

from .check import Outcome, Verdict
from .row_terms import Meaning, Terms, places, settle, world_sizes
from .solver import Z3, choose, constant, every, negation, some

SMALL = 2
"""Fields and arguments are 0..SMALL where a function is executed on all of them."""

TWO_SETTINGS = (Settings(window=2), Settings(window=3, accumulation=2, quota=1, tail_stop=1))
NEVER = negation(every(()))
_NAMES = State._fields

CompileTable = Callable[[Settings, Table], Machine]


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
            for size in world_sizes(rows)[:2]:
                box = Box(rows, settings, size)
                calls = list(box.calls(Phase(place[0]), EventKind(place[1])))
                another = some(box.another(machine, state, event) for state, event in calls)
                name = f"{rows[0].name}, W={size}, {settings}"
                found = settle(name, box.hypotheses, negation(another))
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
        # The same few terms occur in thousands of questions.
        self._is = cache(lambda at, value: self._given[at] == value)
        self._answers = cache(self._answer)
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
        given = [self._is(at, int(value)) for at, value in enumerate(values)]
        result = machine.attempt(state, event)
        meanings = self._terms.meanings
        if result is None:
            return every((*given, some(meaning.guard for meaning in meanings)))
        after, effects = result
        kept = {*_NAMES} - {*self._changed}
        if any(getattr(after, name) != getattr(state, name) for name in kept):
            return every(given)
        changed = tuple(int(getattr(after, name)) for name in self._changed)
        return every((*given, negation(self._answers(changed, effects))))

    def _answer(self, changed: tuple[int, ...], effects: tuple[Effect, ...]) -> Z3:
        """That the terms answer so."""
        same = NEVER
        for meaning in reversed(self._terms.meanings):
            same = choose(meaning.guard, self._equal(meaning, changed, effects), same)
        return same

    def _equal(self, meaning: Meaning, changed: Sequence[int], effects: Sequence[Effect]) -> Z3:
        if [kind for kind, _ in meaning.effects] != [effect.kind.name for effect in effects]:
            return NEVER
        terms = dict(zip(_NAMES, meaning.state, strict=True))
        equal = [terms[name] == new for name, new in zip(self._changed, changed, strict=True)]
        pairs = zip(meaning.effects, effects, strict=True)
        return every((*equal, *(term == int(effect.argument) for (_, term), effect in pairs)))


def _reports() -> Iterator[Report]:
    for offered, needed in ((0, 0), (1, 1), (2, 1), (2, 2)):
        for exhausted in (0, 1):
            yield Report(offered, needed, offered, exhausted)
        yield Report(offered, needed, offered, failed=1)
        yield Report(offered, needed, offered, stopped=1)
        yield Report(offered, needed, offered, dry=1)
