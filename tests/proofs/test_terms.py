"""The solver reads the table as the compiled machine runs it."""

from __future__ import annotations

import random

import pytest

from dgap.proofs.check import Verdict
from dgap.proofs.solver import RANK, Z3, Theory, constant, number, some
from dgap.proofs.terms import Agreed, Rank, Reading, Said, Vector, of_rank, said, translate
from dgap.protocol.expr import Const, Every, Least, Name, Node, Total
from dgap.protocol.machine import Machine
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Row
from dgap.protocol.vocabulary import Event, EventKind, Report, Settings, State, reported


def concrete(
    state: State, event: Event, settings: Settings
) -> tuple[Reading, Vector, list[Z3], list[Z3]]:
    """A reading with these very values; ranks, and the facts that fix the vector."""
    ranks = [constant(f"rank{index}", RANK) for index in range(len(event.reports))]
    facts = [
        said(field, number(1), rank) == (index if field == "rank" else getattr(report, field))
        for index, (rank, report) in enumerate(zip(ranks, event.reports, strict=True))
        for field in (*Report._fields, "rank")
    ]
    vector = Vector("w", lambda field, rank: said(field, number(1), rank))
    values = {"state": state, "event": event, "setting": settings}

    def name(node: Name) -> Z3:
        return number(int(getattr(values[node.scope], node.name)))

    return Reading(name=name, vector=vector), vector, ranks, facts


def solver_says(row: Row, state: State, event: Event, settings: Settings) -> State | None:
    """The next state that the solver derives from a row, or None where the guard fails."""
    reading, vector, ranks, facts = concrete(state, event, settings)
    guard = translate(row.guard, reading)
    updates = {name: translate(value, reading) for name, value in row.updates}
    witnesses = [
        some(aggregate.witness == rank for rank in ranks)
        for aggregate in vector.aggregates.values()
    ]
    theory = Theory([*facts, *vector.axioms(ranks), *witnesses])
    assert theory.witness().verdict == Verdict.PROVED
    if theory.implies(guard).verdict == Verdict.REFUTED:
        return None
    machine, _ = Machine(settings).step(state, event)
    after = machine._asdict()
    for name, value in updates.items():
        assert theory.implies(value == after[name]).verdict == Verdict.PROVED, (row.name, name)
    return state._replace(phase=row.target, **{name: after[name] for name in updates})


def random_case(rng: random.Random, row: Row) -> tuple[State, Event, Settings]:
    """Small values everywhere; not every state is reachable, and none needs to be."""
    settings = Settings(
        window=rng.randint(2, 4),
        accumulation=rng.randint(1, 2),
        quota=rng.randint(0, 1),
        policy=rng.randint(0, 1),
        tail_stop=rng.randint(0, 1),
    )
    state = State(*(rng.randint(0, 2) for _ in State._fields))._replace(phase=row.phase)
    code, needed, units, assigned, samples = (rng.randint(0, 2) for _ in range(5))
    reports = []
    for _ in range(rng.randint(1, 3) if row.event == EventKind.GATHERED else 0):
        flags = [int(rng.random() < 0.15) for _ in range(4)]
        reports.append(Report(rng.randint(0, 3), rng.randint(0, 3), rng.randint(0, 3), *flags))
    event = Event(row.event, code, needed, units, assigned, samples, tuple(reports))
    return state, event, settings


@pytest.mark.parametrize("row", TABLE.rows, ids=lambda row: row.name)
def test_the_solver_and_the_machine_agree_on_every_row(row: Row) -> None:
    rng = random.Random(row.name)
    for _ in range(12):
        state, event, settings = random_case(rng, row)
        result = Machine(settings).attempt(state, event)
        derived = solver_says(row, state, event, settings)
        if derived is not None:
            assert result is not None
            assert derived == result[0]
        elif result is not None:  # another row for the same phase and event applied
            assert sum((r.phase, r.event) == (row.phase, row.event) for r in TABLE.rows) > 1


def reading_of(values: dict[str, int]) -> Reading:
    return Reading(name=lambda name: number(values[name.name]))


def test_a_sum_over_ranks_has_no_reading() -> None:
    with pytest.raises(TypeError, match="Total"):
        translate(Total(reported("offered"), reported("offered") > 0), reading_of({}))


@pytest.mark.parametrize("node", [reported("offered"), Every(reported("offered") > 0)], ids=str)
def test_a_report_needs_a_vector(node: Node) -> None:
    with pytest.raises(TypeError, match=r"vector|outside"):
        translate(node, reading_of({}))


def test_an_aggregate_that_comes_after_the_axioms_is_refused() -> None:
    vector = Vector("late", lambda field, rank: said(field, number(1), rank))
    reading = Reading(name=lambda name: number(0), vector=vector)
    least = Least(reported("offered"), reported("offered") > 0, Const(0))
    assert translate(least, reading) is translate(least, reading)
    vector.axioms([])
    with pytest.raises(ValueError, match="before the theory"):
        translate(Every(reported("offered") > 0), reading)


def test_agreed_figures_and_reports_are_functions_of_the_number() -> None:
    empty = reading_of({})
    same = translate(Agreed("kind_at", Const(2)), empty)
    assert str(same) == "kind_at(2)"
    assert str(translate(Said("offered", "a", Const(3)), empty)) == "said_offered(3, a)"
    assert str(translate(Said("rank", "a", Const(3)), empty)) == "index(a)"
    assert Rank("a")["held"] == Name("world", "a.held")
    assert str(of_rank("held", constant("a", RANK))) == "held(a)"
