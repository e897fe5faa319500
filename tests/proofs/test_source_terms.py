"""The text of a step function is read as Python runs it, and what it may not hold is refused."""

from __future__ import annotations

import random

import pytest

from dgap.proofs.check import Verdict
from dgap.proofs.solver import Theory, number
from dgap.proofs.source_terms import Branch, Inputs, StepSource
from dgap.protocol.expr import Const, Greatest, Least, Total
from dgap.protocol.machine import Machine, python
from dgap.protocol.table import TABLE
from dgap.protocol.vocabulary import Event, EventKind, Phase, Report, Settings, State, reported

SETTINGS = Settings(window=3)
MACHINE = Machine(SETTINGS)
SOURCE = StepSource(MACHINE.source)


def inputs(state: State, event: Event) -> Inputs:
    return Inputs(
        state=[number(int(value)) for value in state],
        event=[number(int(value)) for value in event[:-1]],
        reports=[[number(int(value)) for value in report] for report in event.reports],
    )


def is_true(term: object) -> bool:
    return Theory([]).implies(term).verdict == Verdict.PROVED


def taken(branches: tuple[Branch, ...]) -> Branch | None:
    return next((branch for branch in branches if is_true(branch.guard)), None)


def random_call(rng: random.Random) -> tuple[str, State, Event]:
    (phase, kind), name = rng.choice(sorted(SOURCE.rows.items()))
    state = State(*(rng.randint(0, 2) for _ in State._fields))._replace(phase=phase)
    reports = [
        Report(*(rng.randint(0, 3) for _ in range(3)), *(int(rng.random() < 0.2) for _ in range(4)))
        for _ in range(rng.randint(1, 3) if kind == EventKind.GATHERED else 0)
    ]
    code, needed, units, assigned, samples = (rng.randint(0, 2) for _ in range(5))
    event = Event(EventKind(kind), code, needed, units, assigned, samples, tuple(reports))
    return name, state, event


def test_what_is_read_is_what_python_runs() -> None:
    rng = random.Random("what is read")
    for _ in range(60):
        name, state, event = random_call(rng)
        branch = taken(SOURCE.branches(name, inputs(state, event)))
        result = MACHINE.attempt(state, event)
        assert (branch is None) == (result is None)
        if branch is not None and result is not None:
            after, effects = result
            assert all(is_true(a == int(b)) for a, b in zip(branch.state, after, strict=True))
            assert [kind for kind, _ in branch.effects] == [effect.kind.name for effect in effects]
            pairs = zip(branch.effects, effects, strict=True)
            assert all(is_true(term == int(effect.argument)) for (_, term), effect in pairs)


def test_a_report_is_read_off_the_state() -> None:
    state = State(phase=Phase.OFFER, offered=2, needed=1, units=2, exhausted=1)
    report = SOURCE.report([number(int(value)) for value in state])
    values = zip(report, MACHINE.report(state), strict=True)
    assert all(is_true(term == int(value)) for term, value in values)


def test_every_place_of_the_table_has_its_function() -> None:
    assert set(SOURCE.rows) == {(row.phase, row.event) for row in TABLE.rows}


AGGREGATES = {
    "least": Least(reported("offered"), reported("needed") > 0, Const(9)),
    "greatest": Greatest(reported("offered") - 3, reported("needed") > 0, Const(-9)),
    "total": Total(reported("offered"), reported("needed") > 0),
    "first": Least(reported("rank"), reported("offered") > 1, Const(7)),
}


@pytest.mark.parametrize("name", AGGREGATES)
def test_an_aggregate_is_what_python_makes_of_it(name: str) -> None:
    text = python(AGGREGATES[name], SETTINGS)
    source = MACHINE.source.replace("(state_rounds == 0)", f"({text} == event_code)")
    assert source != MACHINE.source
    reader = StepSource(source)
    rng = random.Random(name)
    for _ in range(12):
        rows = [
            Report(offered=rng.randint(0, 3), needed=rng.randint(0, 1))
            for _ in range(rng.randint(0, 3))
        ]
        chosen = [(at, row.offered, row.needed) for at, row in enumerate(rows)]
        expected = {
            "least": min((o for _, o, n in chosen if n), default=9),
            "greatest": max((o - 3 for _, o, n in chosen if n), default=-9),
            "total": sum(o for _, o, n in chosen if n),
            "first": min((at for at, o, _ in chosen if o > 1), default=7),
        }[name]
        for code in (expected, expected + 1):
            event = Event(EventKind.REFUSE, code=code, reports=tuple(rows))
            (branch,) = reader.branches("offer_refuse", inputs(State(phase=1), event))
            assert is_true(branch.guard) == (code == expected)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return None", "return 0"),
        ("= state\n", "= other\n"),
        ("make(State, (", "make(Effect, ("),
        ("(state_rounds + 1)", "(state_rounds // 1)"),
        ("(state_rounds == 0)", "(0 == state_rounds == 0)"),
        ("(state_rounds == 0)", "bool(state_rounds)"),
        ("for rank, report in enumerate(event_reports)", "for rank, report in event_reports"),
        (", default=0", ""),
        ("def offer_refuse(state, event)", "def offer_refuse(event, state)"),
        ("    if (state_rounds == 0)", "    state_rounds = 0\n    if (state_rounds == 0)"),
        ("ROWS = ", "OTHER = "),
        ("Report(state_offered", "Repeat(state_offered"),
    ],
)
def test_what_the_compiler_does_not_write_is_refused(old: str, new: str) -> None:
    source = MACHINE.source.replace(old, new)
    assert source != MACHINE.source
    event = Event(EventKind.GATHERED, reports=(Report(),))
    with pytest.raises((TypeError, KeyError)):
        read_all(source, event)


def read_all(source: str, event: Event) -> None:
    reader = StepSource(source)
    for name in reader.rows.values():
        reader.branches(name, inputs(State(), event))
    reader.report([number(0)] * len(State._fields))
