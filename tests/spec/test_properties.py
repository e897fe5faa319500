"""The properties are named once, are data over known names, and none is without a witness."""

from __future__ import annotations

from pathlib import Path

import pytest

from dgap.protocol.expr import Formula, Name, walk
from dgap.protocol.vocabulary import Phase, Settings, State
from dgap.spec.environment import Environment, initial_environment
from dgap.spec.laws import LAWS
from dgap.spec.oracle_expr import Reading, holds
from dgap.spec.properties import LIVENESS, PROPERTIES, SAFETY, Property
from dgap.spec.witnesses import WITNESSES

ALL = (*PROPERTIES, *WITNESSES)
README = Path(__file__).resolve().parents[2] / "spec" / "README.md"


def broken(
    id_: str,
    *ranks: tuple[State, Environment],
    settings: Settings | None = None,
) -> bool:
    """Whether the property fails at some rank of a world."""
    formula = next(each.formula for each in ALL if each.id == id_)
    merged = [{**state._asdict(), **surroundings._asdict()} for state, surroundings in ranks]
    return not all(
        holds(
            formula,
            Reading(
                own={
                    "state": state._asdict(),
                    "world": surroundings._asdict(),
                    "setting": (settings or Settings(window=4))._asdict(),
                },
                ranks=merged,
            ),
        )
        for state, surroundings in ranks
    )


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.id)
def test_a_property_is_a_formula_over_known_names(each: Property) -> None:
    known = {
        "state": set(State._fields),
        "world": set(Environment._fields),
        "setting": set(Settings._fields),
        "report": {*State._fields, *Environment._fields},
    }
    names = [part for part in walk(each.formula) if isinstance(part, Name)]
    assert isinstance(each.formula, Formula)
    assert names
    assert all(name.name in known[name.scope] for name in names)
    assert each.statement


def test_ids_are_unique() -> None:
    assert len({each.id for each in ALL}) == len(ALL)


def test_every_property_has_a_witness_and_no_witness_has_one() -> None:
    known = {each.id for each in WITNESSES}
    assert all(each.witness in known for each in PROPERTIES)
    assert all(each.kind == "sometimes" and not each.witness for each in WITNESSES)


def test_the_page_names_every_id_and_says_what_is_not_covered() -> None:
    page = README.read_text()
    ids = (
        [f"S{n}" for n in range(1, 13)] + ["L1", "L2", "L3", "R1"] + [f"A{n}" for n in range(1, 10)]
    )
    assert all(f"| {id_} |" in page for id_ in ids)
    stated = {each.id.rstrip("abc") for each in (*SAFETY, *LIVENESS)}
    stated |= {each.id.rstrip("ab") for each in LAWS}
    assert stated == set(ids[:15]) - {"S11"}
    for id_ in ("S11",):
        assert "not covered" in next(line for line in page.splitlines() if f"| {id_} |" in line)


HERE = initial_environment(2)
FINE = (State(target=2), HERE)


@pytest.mark.parametrize(
    ("id_", "one", "other"),
    [
        ("S1a", (State(rounds=1, phase=Phase.CLOSED), HERE), (State(rounds=1), HERE)),
        ("S1a", (State(rounds=1, passes=1), HERE), (State(rounds=1), HERE)),
        ("S1b", (State(rounds=1, owed_steps=2), HERE), (State(rounds=1, owed_steps=1), HERE)),
        ("S1c", (State(rounds=2), HERE), FINE),
        ("S2a", (State(), HERE._replace(taken=2)), FINE),
        (
            "S2b",
            (State(), HERE._replace(finished=1, trained=1, taken=1)),
            (State(), HERE._replace(finished=1)),
        ),
        ("S3a", (State(phase=Phase.TALLY, offered=1, owed_steps=2), HERE), FINE),
        ("S3b", (State(phase=Phase.EMIT, owed_steps=1, held=1), HERE), FINE),
        ("S4a", (State(held=1), HERE), FINE),
        ("S4b", (State(delivered=1), HERE), FINE),
        ("S5", (State(phase=Phase.CLOSED, delivered=1), HERE), FINE),
        ("S9", (State(held=2), HERE), FINE),
        ("S9", (State(), HERE._replace(queued=2)), FINE),
        ("S10", (State(phase=Phase.FAILED, failed=1), HERE), FINE),
        ("L1", FINE, FINE),
        ("L2", (State(rounds=4), HERE), FINE),
        ("L3", (State(), HERE._replace(crashed=1)), FINE),
    ],
)
def test_a_world_that_breaks_a_property_is_seen(
    id_: str, one: tuple[State, Environment], other: tuple[State, Environment]
) -> None:
    assert broken(id_, one, other)


def test_a_quota_that_is_missed_or_exceeded_is_seen() -> None:
    closed = State(phase=Phase.CLOSED, delivered=1)
    for share in (0, 2):
        rank = (closed, initial_environment(2, share=share))
        assert broken("S6", rank, settings=Settings(quota=1))
    assert not broken("S6", (closed, initial_environment(2, share=1)), settings=Settings(quota=1))


def test_a_finished_world_breaks_nothing() -> None:
    closed = State(
        phase=Phase.CLOSED, rounds=2, target=2, read=1, exhausted=1, steps=1, delivered=1
    )
    environment = initial_environment(1)._replace(
        unread=0,
        drawn=1,
        gathers=2,
        sums=1,
        sums_left=1,
        taken=1,
        trained=1,
        received=1,
        finished=1,
    )
    rank = (closed, environment)
    assert [each.id for each in PROPERTIES if broken(each.id, rank, rank)] == []
