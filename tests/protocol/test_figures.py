"""The rules about figures, compiled, against the dumb readings of the specification."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product

from dgap.protocol.figures import (
    PACKED_COST,
    PADDED_COST,
    WEIGHT_DENOMINATOR,
    WEIGHT_NUMERATOR,
)
from dgap.protocol.machine import compile_figures
from dgap.protocol.vocabulary import Figures
from dgap.spec.oracle_grouping import cost_of_group
from dgap.spec.oracle_weights import exact_weight

SMALL = range(5)


def test_a_group_costs_what_the_dumb_twin_adds_up() -> None:
    rules = {"padded": compile_figures(PADDED_COST), "packed": compile_figures(PACKED_COST)}
    for size in range(1, 4):
        for costs in combinations_with_replacement(range(1, 5), size):
            figures = Figures(size=size, largest=max(costs), total=sum(costs))
            for kind, rule in rules.items():
                assert rule(figures) == cost_of_group(costs, kind)


def test_a_weight_is_the_exact_fraction_and_always_defined() -> None:
    numerator, denominator = compile_figures(WEIGHT_NUMERATOR), compile_figures(WEIGHT_DENOMINATOR)
    for local, other, ranks in product(SMALL, SMALL, range(1, 5)):
        figures = Figures(local_targets=local, global_targets=local + other, world_size=ranks)
        weight = Fraction(numerator(figures), denominator(figures))
        assert weight == exact_weight(local, local + other, ranks)
