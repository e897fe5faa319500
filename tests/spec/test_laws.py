"""The laws say what their sentences say, and hold of the dumb twins."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from dgap.protocol.vocabulary import Settings
from dgap.spec.laws import LAWS, Law
from dgap.spec.oracle_expr import Reading, holds
from dgap.spec.oracle_grouping import cost_of_group, is_within_budget
from dgap.spec.oracle_weights import exact_weight
from dgap.spec.properties import PROPERTIES


def law(id_: str) -> Law:
    return next(each for each in LAWS if each.id == id_)


def at(**figures: int) -> Reading:
    return Reading(own={"group": figures, "setting": Settings(window=3)._asdict()})


def test_ids_are_unique_among_laws_and_properties() -> None:
    ids = [*(each.id for each in LAWS), *(each.id for each in PROPERTIES)]
    assert len(set(ids)) == len(ids)


def test_the_budget_binds_groups_of_two_or_more() -> None:
    for kind, costs, budget in product(
        ("padded", "packed"), ([3], [1, 2], [2, 2], [1, 1, 2]), range(1, 7)
    ):
        reading = at(size=len(costs), cost=cost_of_group(costs, kind), budget=budget)
        assert holds(law("S7").formula, reading) == is_within_budget(costs, budget, kind)


def test_the_exact_weight_is_lawful_and_another_is_not() -> None:
    for local, other, ranks, loss in product(range(4), range(4), (1, 3), (-5, 0, 7)):
        weight = exact_weight(local, local + other, ranks)
        figures = {
            "local_targets": local,
            "global_targets": local + other,
            "world_size": ranks,
            "local_loss": loss if local else 0,
        }
        assert holds(law("S8a").formula, at(**figures, **_parts(weight)))
        if local and loss:
            for wrong in (weight + 1, weight / 2):
                assert not holds(law("S8a").formula, at(**figures, **_parts(wrong)))


def _parts(weight: Fraction) -> dict[str, int]:
    return {"numerator": weight.numerator, "denominator": weight.denominator}


def test_a_sample_waits_no_longer_than_the_window_is_wide() -> None:
    waits = {
        late: holds(law("S12").formula, at(read_round=4, group_round=late)) for late in range(9)
    }
    assert [late for late, lawful in waits.items() if lawful] == [4, 5, 6]
