"""The laws of groups and weights: proved of the rules, refuted of wrong ones."""

from __future__ import annotations

import pytest

from dgap.proofs.asking import discharge
from dgap.proofs.check import Check, Verdict
from dgap.proofs.obligations_groups import PROTOCOL, Group, Rules, about, group_checks, with_figures
from dgap.protocol.expr import Const
from dgap.protocol.vocabulary import figure


@pytest.mark.parametrize("check", group_checks(), ids=lambda each: each.id)
def test_it_holds_of_the_rules(check: Check) -> None:
    assert check.run().verdict == Verdict.PROVED


@pytest.mark.parametrize(
    "rules",
    [
        Rules(padded=figure("size")),
        Rules(padded=figure("total")),
        Rules(packed=figure("size") * figure("largest")),
        Rules(numerator=figure("local_targets")),
        Rules(numerator=figure("world_size")),
        Rules(denominator=figure("global_targets")),
        Rules(denominator=Const(1)),
    ],
    ids=lambda rules: str(
        [name for name in vars(rules) if vars(rules)[name] != vars(PROTOCOL)[name]]
    ),
)
def test_a_wrong_rule_is_refuted(rules: Rules) -> None:
    assert any(discharge(each).verdict == Verdict.REFUTED for each in about(rules))


def test_a_rule_is_read_at_the_figures_of_a_group() -> None:
    group = Group("whole")
    assert group.cost(PROTOCOL.padded) == group["size"] * group["largest"]
    assert with_figures(figure("total"), {}) == figure("total")
