"""Every obligation has its second opinions, and they can disagree."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dgap.proofs import cvc5_solver
from dgap.proofs.asking import Claim, Obligation
from dgap.proofs.check import Check, Verdict
from dgap.proofs.manifest import manifest
from dgap.proofs.obligations_invariant import invariant_checks
from dgap.proofs.obligations_planted import planted_checks
from dgap.proofs.planted import with_row
from dgap.proofs.second_opinion import (
    Question,
    agree,
    by_cvc5,
    by_seeds,
    groups,
    second_opinion_checks,
)
from dgap.proofs.solver import constant
from dgap.protocol.expr import TRUE, Const
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table

FEW = ("turn", "step_count.positive", "coverage.join")
X = constant("x")


def few(table: Table = TABLE) -> list[Check]:
    return [check for check in second_opinion_checks(table) if check.id.endswith(FEW)]


@pytest.mark.parametrize("check", few(), ids=lambda each: each.id)
def test_both_opinions_agree(check: Check) -> None:
    assert check.run().verdict == Verdict.PROVED


@pytest.mark.parametrize(
    "check",
    few(with_row(TABLE, "turn", guard=TRUE))[:1] + few(with_row(TABLE, "turn", guard=TRUE))[3:4],
    ids=lambda each: each.id,
)
def test_a_broken_table_is_refuted_by_both(check: Check) -> None:
    assert check.id.endswith("invariant.turn")
    assert check.run().verdict == Verdict.REFUTED


def test_every_obligation_of_every_claim_is_in_a_group() -> None:
    planted = {check.id for check in planted_checks()}
    expected = sum(
        1
        for check in manifest()
        if isinstance(check, Claim) and check.id not in planted
        for _ in check.obligations()
    )
    assert sum(len(list(group())) for _, _, group in groups(TABLE)) == expected


def test_the_conjuncts_at_the_start_share_one_question() -> None:
    (start,) = (group for id_, _, group in groups(TABLE) if id_ == "invariant.initial_state")
    found = list(start())
    assert len({id(each.scene) for each in found}) == 1
    claims = [check for check in invariant_checks() if isinstance(check, Claim)]
    asked = [o for claim in claims for o in claim.obligations() if o.name == "initial state"]
    assert [each.goal for each in found] == [each.goal for each in asked]
    assert all(each.scene.assumed == asked[0].scene.assumed for each in asked)


def test_no_obligation_is_no_agreement() -> None:
    assert agree(by_seeds, lambda: ()).verdict == Verdict.UNKNOWN


def test_an_opinion_that_is_missing_makes_the_check_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cvc5_solver, "_ask", lambda *_: "unknown: no such tool")
    (check,) = (each for each in few() if each.id == "cvc5.step_count.positive")
    outcome = check.run()
    assert outcome.verdict == Verdict.UNKNOWN
    assert "no such tool" in outcome.detail


@pytest.mark.parametrize("decide", [by_cvc5, by_seeds])
def test_a_goal_that_does_not_follow_is_refuted(decide: object) -> None:
    assert callable(decide)
    assert decide(Question(hypotheses=[X >= 1], goals=[X >= 1]))[0] == Verdict.PROVED
    assert decide(Question(hypotheses=[X >= 1], goals=[X >= 1, X >= 2]))[0] == Verdict.REFUTED


def test_one_goal_of_a_group_that_fails_fails_the_group() -> None:
    (good,) = (group for id_, _, group in groups(TABLE) if id_ == "coverage.join")

    def bad() -> list[Obligation]:
        first, *rest = good()
        return [first, *(replace(each, goal=Const(0).equals(1)) for each in rest)]

    assert agree(by_seeds, bad).verdict == Verdict.REFUTED
