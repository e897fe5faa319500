"""The table: well-formed rows, exclusive guards, and a documentation page that is fresh."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from dgap.protocol.diagram import reference_page
from dgap.protocol.expr import Formula, Node, Term, walk
from dgap.protocol.machine import Machine, initial_state
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Row
from dgap.protocol.vocabulary import (
    LIVE,
    Effect,
    EffectKind,
    Event,
    EventKind,
    Phase,
    Report,
    Settings,
    State,
)
from tests.protocol.row_walk import names_in, small_box, steps_taken

ROOT = Path(__file__).resolve().parents[2]
ROW_IDS = [row.name for row in TABLE.rows]


def test_row_names_are_unique() -> None:
    assert len(set(ROW_IDS)) == len(ROW_IDS)


@pytest.mark.parametrize("row", TABLE.rows, ids=ROW_IDS)
def test_a_row_is_made_of_formulas_and_terms_over_known_names(row: Row) -> None:
    nodes: list[Node] = [row.guard, *(value for _, value in row.updates)]
    nodes += [ask.argument for ask in row.asks]
    assert isinstance(row.guard, Formula)
    assert all(isinstance(value, Term) for _, value in row.updates)
    assert {name for name, _ in row.updates} <= set(State._fields) - {"phase"}
    assert set(names_in(nodes, "state")) <= set(State._fields)
    assert set(names_in(nodes, "event")) <= set(Event._fields)
    assert set(names_in(nodes, "setting")) <= set(Settings._fields)
    assert set(names_in(nodes, "report")) <= {*Report._fields, "rank"}
    assert not names_in(nodes, "world")


@pytest.mark.parametrize("row", TABLE.rows, ids=ROW_IDS)
def test_a_row_starts_in_a_live_phase_and_updates_a_field_once(row: Row) -> None:
    assert row.phase in LIVE
    assert len({name for name, _ in row.updates}) == len(row.updates)


@pytest.mark.parametrize("row", TABLE.rows, ids=ROW_IDS)
def test_only_a_verdict_reads_the_reports(row: Row) -> None:
    nodes: list[Node] = [row.guard, *(value for _, value in row.updates)]
    nodes += [ask.argument for ask in row.asks]
    if row.event is not EventKind.GATHERED:
        assert not names_in(nodes, "report")


def test_every_event_and_every_effect_occurs() -> None:
    assert {row.event for row in TABLE.rows} == set(EventKind)
    assert {ask.kind for row in TABLE.rows for ask in row.asks} == set(EffectKind)
    assert {row.target for row in TABLE.rows} == set(Phase)


@pytest.mark.parametrize(("quota", "tail_stop"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_rows_of_one_phase_and_event_exclude_each_other(quota: int, tail_stop: int) -> None:
    settings = Settings(window=2, quota=quota, tail_stop=tail_stop)
    shared = {
        (one.phase, one.event)
        for one, other in combinations(TABLE.rows, 2)
        if (one.phase, one.event) == (other.phase, other.event)
    }
    assert (Phase.OFFER, EventKind.GATHERED) in shared
    for phase, kind in shared - {(Phase.OFFER, EventKind.GATHERED)}:
        for state, event in small_box(TABLE, phase, kind, limit=2):
            assert len(steps_taken(TABLE, settings, state, event)) <= 1


def test_a_report_has_the_fields_of_a_report_in_their_order_but_for_dry() -> None:
    assert sorted(name for name, _ in TABLE.report) == sorted(Report._fields)
    assert [name for name, _ in TABLE.report] == list(Report._fields)
    assert all(isinstance(part, Term | Formula) for _, v in TABLE.report for part in walk(v))


def test_the_page_of_the_table_is_fresh() -> None:
    page = (ROOT / "docs" / "protocol.md").read_text()
    remedy = "python -m dgap.protocol > docs/protocol.md"
    assert page == reference_page(TABLE), f"docs/protocol.md is stale; run: {remedy}"


def test_two_ranks_go_through_a_round_by_hand() -> None:
    machine = Machine(Settings(window=2))

    def run(state: State, *events: Event) -> tuple[State, list[Effect]]:
        effects: list[Effect] = []
        for event in events:
            state, new = machine.step(state, event)
            effects += new
        return state, effects

    read, exhaust = Event(EventKind.READ), Event(EventKind.EXHAUST)
    offer_two = Event(EventKind.OFFER, needed=1, units=2)
    full, asked = run(initial_state(machine.settings), read, read, offer_two)
    assert asked == [Effect(EffectKind.GATHER)]
    empty, _ = run(initial_state(machine.settings), exhaust, Event(EventKind.OFFER))
    vector = Event(EventKind.GATHERED, reports=(machine.report(full), machine.report(empty)))

    full, asked = run(full, vector, Event(EventKind.SUMMED, assigned=2))
    assert asked == [Effect(EffectKind.TALLY, 1)]
    full, asked = run(full, Event(EventKind.DELIVER, samples=2), Event(EventKind.TURN))
    assert asked == [Effect(EffectKind.BATCH)]
    empty, asked = run(
        empty, vector, Event(EventKind.SUMMED), Event(EventKind.IDLE), Event(EventKind.TURN)
    )
    assert asked == [Effect(EffectKind.TALLY, 1), Effect(EffectKind.IDLE_BATCH)]
    assert (full.steps, full.delivered, empty.steps, empty.delivered) == (1, 2, 1, 0)
