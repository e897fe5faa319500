"""What checks rest on is computed, and differs from what is declared in neither direction."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dgap.proofs import assumed
from dgap.proofs.assumed import (
    DECLARED,
    assumption_checks,
    assumptions_of,
    lemmas,
    rests_on,
    undeclared,
    unused,
    used,
)
from dgap.proofs.check import Check, Verdict
from dgap.proofs.manifest import manifest
from dgap.proofs.second_opinion import claims
from dgap.protocol.table import TABLE
from dgap.spec.assumptions import ASSUMPTIONS

IDS = [each.id for each in claims(TABLE)]
CHECKS = {check.id: check for check in manifest()}


def test_what_is_declared_is_what_the_certificates_use() -> None:
    assert list(undeclared(IDS, DECLARED)) == []


def test_an_assumption_that_is_used_must_be_declared() -> None:
    less = {id_: ids for id_, ids in DECLARED.items() if id_ != "invariant.skew"}
    assert list(undeclared(IDS, less)) == ["invariant.skew uses A1, undeclared"]


def test_an_assumption_that_is_declared_must_be_used() -> None:
    more = {**DECLARED, "coverage.join": "A5", "no.such": "A1"}
    found = list(undeclared(IDS, more))
    assert found == ["coverage.join declares A5, unused", "there is no check no.such"]


def test_a_proof_rests_on_what_its_lemmas_rest_on() -> None:
    assert used("coverage.join") == frozenset()
    assert "invariant.complete" in lemmas("coverage.join")
    assert used("invariant.complete") <= rests_on("coverage.join")
    assert {"A2", "A7", "A8"} <= rests_on("coverage.join")


def test_a_lemma_that_no_check_proves_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assumed, "lemmas", lambda id_: frozenset({"invariant.wish"}))
    assert "age.read uses invariant.wish, which is no check" in list(undeclared(IDS, DECLARED))


@pytest.mark.parametrize(
    ("id_", "as_id"),
    [
        ("cvc5.coverage.join", "coverage.join"),
        ("certificate.coverage.join", "coverage.join"),
        ("planted.finished_while_holding.invariant.complete", "invariant.complete"),
    ],
)
def test_whoever_asks_an_obligation_rests_on_what_it_rests_on(id_: str, as_id: str) -> None:
    assert assumptions_of(CHECKS[id_]) == assumptions_of(CHECKS[as_id]) != ()


def test_the_whole_invariant_after_one_action_rests_on_all_of_it() -> None:
    assert set(assumptions_of(CHECKS["cvc5.invariant.turn"])) == {
        "A1", "A2", "A3", "A4", "A6", "A7", "A8"
    }  # fmt: skip


def test_every_line_of_the_ledger_is_needed_or_says_why_it_is_only_monitored() -> None:
    assert list(unused(manifest(), ASSUMPTIONS)) == []
    groups = [check for check in manifest() if not check.id.endswith("groups.part")]
    assert any("no check rests on A5" in each for each in unused(groups, ASSUMPTIONS))
    needed = [replace(each, only_monitored="why") for each in ASSUMPTIONS[:1]]
    assert any("A1 is said to be only" in each for each in unused(manifest(), needed))
    assert any("A9 is no assumption" in each for each in unused([strange()], ASSUMPTIONS[:8]))


def strange() -> Check:
    return replace(CHECKS["table.shape"], assumptions=("A9",))


def test_both_checks_pass_and_can_fail() -> None:
    declared, ledger = assumption_checks(manifest())
    assert declared.run().verdict == ledger.run().verdict == Verdict.PROVED
    assert assumption_checks([strange()])[1].run().verdict == Verdict.REFUTED
