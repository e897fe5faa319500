"""A row as terms means what walking it finds, in worlds of named ranks and no others."""

from __future__ import annotations

import pytest

from dgap.proofs.check import Verdict
from dgap.proofs.row_terms import EVENT, STATE, Terms, places, settle, world_sizes
from dgap.proofs.solver import constant, every, number, truth
from dgap.protocol.table import TABLE
from dgap.protocol.vocabulary import Event, EventKind, Phase, Report, Settings, State
from dgap.spec.oracle_step import walk_step

SETTINGS = Settings(window=4)
VERDICTS = places(TABLE)[Phase.OFFER, EventKind.GATHERED]
VECTORS = [
    (Report(offered=3, needed=2, units=3), Report(offered=2, needed=2, units=2, exhausted=1)),
    (Report(exhausted=1), Report(exhausted=1)),
    (Report(offered=3, needed=1, units=3), Report(failed=2)),
    (Report(offered=3, needed=1, units=3, stopped=1), Report(), Report(stopped=1)),
    (Report(offered=1, needed=1, units=1), Report(), Report(dry=1)),
]


@pytest.mark.parametrize("vector", VECTORS, ids=len)
def test_the_terms_of_a_verdict_are_what_walking_the_rows_finds(vector: tuple[Report, ...]) -> None:
    state = State(phase=Phase.OFFER, target=2, held=1)
    walked = walk_step(TABLE.rows, SETTINGS, state, Event(EventKind.GATHERED, reports=vector))
    assert walked is not None
    terms = Terms(VERDICTS, SETTINGS, len(vector))
    given = [name == int(value) for name, value in zip(STATE, state, strict=True)]
    for row, report in zip(terms.reports, vector, strict=True):
        given += [name == value for name, value in zip(row, report, strict=True)]
    facts = [*terms.hypotheses, *given]
    for meaning in terms.meanings:
        applies = meaning.row.name == walked.row
        assert settle("guard", facts, meaning.guard == truth(applies)) is None
        if applies:
            ((kind, argument),) = meaning.effects
            assert kind == walked.effects[0].kind.name
            values = zip(meaning.state, walked.state, strict=True)
            equal = [term == int(value) for term, value in values]
            equal.append(argument == walked.effects[0].argument)
            assert settle("values", facts, every(equal)) is None


def test_every_row_has_its_place_and_only_verdicts_read_reports() -> None:
    assert sum(map(len, places(TABLE).values())) == len(TABLE.rows)
    sizes = {len(world_sizes(rows)) for rows in places(TABLE).values()}
    assert sizes == {1, 3}
    assert list(world_sizes(VERDICTS)) == [1, 2, 3]
    assert len(EVENT) == len(Event._fields) - 1


def test_what_is_not_proved_says_why() -> None:
    x = constant("x")
    assert settle("x", [x > 1], x > 0) is None
    refuted = settle("x", [x > 0], x > 1)
    assert refuted is not None
    assert (refuted.verdict, refuted.trace) == (Verdict.REFUTED, ("[x = 1]",))
    empty = settle("x", [x > number(1), x < number(1)], x > 0)
    assert empty is not None
    assert "contradict" in empty.detail
