"""Named expressions are found by content, with the parameters that their value depends on."""

from __future__ import annotations

import pytest

from dgap.proofs.tla_names import Over, free_names, known_names, parameters_of
from dgap.protocol import conditions, decision
from dgap.protocol.expr import Every, Name, Node, has_aggregate
from dgap.protocol.vocabulary import reported, state
from dgap.spec import environment

KNOWN = known_names(frozenset())


@pytest.mark.parametrize(
    ("node", "over", "call"),
    [
        (conditions.ready, "reports", "ready(r)"),
        (conditions.ready, "ranks", "ready(r)"),
        (conditions.offer_is_sound, "reports", "offer_is_sound(r, needed, units)"),
        (conditions.quota, "reports", "quota"),
        (decision.STEP_COUNT, "reports", "STEP_COUNT(reports)"),
        (decision.OFFERS, "reports", "OFFERS(report)"),
        (environment.gather_complete, "ranks", "gather_complete(r)"),
        (environment.absent, "ranks", "absent(p)"),
        (environment.transport_broken, "ranks", "transport_broken"),
    ],
)
def test_a_named_expression_is_known_by_its_content(node: Node, over: Over, call: str) -> None:
    definition = KNOWN[(node, over)]
    assert definition.call(definition.parameters) == call


def test_what_ranges_over_ranks_is_not_known_over_reports() -> None:
    assert (environment.gather_complete, "reports") not in KNOWN
    assert (decision.STEP, "ranks") not in KNOWN


def test_a_name_that_is_taken_is_not_used() -> None:
    assert (conditions.ready, "reports") not in known_names(frozenset({"ready"}))


def test_plain_names_and_constants_get_no_definition() -> None:
    assert not [node for node, _ in KNOWN if isinstance(node, Name)]


def test_names_that_an_aggregate_ranges_over_are_not_free() -> None:
    node = Every(reported("offered") > state("held"))
    assert list(free_names(node)) == [state("held")]
    assert parameters_of(node, "reports") == ("r", "reports")
    assert parameters_of(node, "ranks") == ("r",)
    assert has_aggregate(node)
    assert not has_aggregate(state("held") > 0)
