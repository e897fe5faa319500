"""Which assumptions an exploration rests on follows from what may happen in it."""

from __future__ import annotations

from dataclasses import fields

from dgap.proofs.explored_under import NEEDS, explored_under, rows_of
from dgap.proofs.families import FAMILIES, Family
from dgap.proofs.wide_families import WIDE
from dgap.proofs.wide_family import TROUBLES
from dgap.spec.environment import MOVES, OCCASIONS


def family(name: str) -> Family:
    return next(each for each in FAMILIES if each.name == name)


def test_every_need_is_of_a_row_and_a_trouble_that_families_have() -> None:
    assert set(NEEDS) <= {row.name for row in (*OCCASIONS, *MOVES)}
    assert set(NEEDS.values()) <= {each.name for each in fields(Family)}
    assert set(TROUBLES) <= set(NEEDS.values())


def test_crashes_bring_the_assumption_on_crashes() -> None:
    assert "A2" in explored_under(family("crash"))
    assert "A2" not in explored_under(family("join"))
    assert {"A1", "A3", "A4", "A6", "A8"} <= set(explored_under(family("join")))


def test_wide_families_say_their_trouble_in_another_way() -> None:
    by_trouble = {each.trouble: rows_of(each) for each in WIDE}
    assert "crash" in by_trouble["crashes"]
    assert "crash" not in by_trouble[""]
    assert "leave" in by_trouble["stops"]
