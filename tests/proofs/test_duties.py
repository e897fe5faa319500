"""No obligation is idle: each refutes a mutant, or a reason stands beside it."""

from __future__ import annotations

import pytest

from dgap.proofs import duties
from dgap.proofs.check import Check, Verdict
from dgap.proofs.duties import ARGUED, REFUTES, duty_checks, refutes, unaccounted
from dgap.proofs.manifest import manifest
from dgap.proofs.obligations import by_id
from dgap.proofs.obligations_decision import decision_checks
from dgap.proofs.planted import step_count_above_least_offer
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table


def test_every_check_that_is_asked_of_tables_is_in_the_manifest() -> None:
    assert set(by_id(TABLE)) <= {check.id for check in manifest()}
    assert set(REFUTES) & set(ARGUED) == set()


def test_an_idle_check_a_needless_reason_and_a_stranger_are_found() -> None:
    assert unaccounted(["a", "b", "c"], ["a"], {"b": "m"}, {"c": "why"}) == []
    assert unaccounted(["a", "b"], ["a"], {}, {}) == ["b refutes no mutant"]
    assert unaccounted(["a", "b"], ["a"], {"b": "m"}, {"a": "why", "b": "why"}) == [
        "a needs no reason",
        "b needs no reason",
    ]
    assert unaccounted(["a"], ["a"], {"z": "m"}, {}) == ["there is no check z"]


def test_a_check_refutes_a_broken_table_and_not_the_protocol() -> None:
    def named(table: Table) -> Check:
        checks = decision_checks(table)
        return next(check for check in checks if check.id == "step_count.least_offer")

    broken = step_count_above_least_offer()
    assert refutes(named(broken), broken)
    assert not refutes(named(TABLE), TABLE)


def test_a_pair_that_does_not_hold_and_an_unknown_mutant_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pairs = {"step_count.positive": "read.held:dropped", "decision.total": "no such mutant"}
    monkeypatch.setattr(duties, "REFUTES", pairs)
    (check,) = duty_checks()
    outcome = check.run()
    assert outcome.verdict == Verdict.REFUTED
    assert "step_count.positive does not refute read.held:dropped" in outcome.trace
    assert "decision.total: there is no mutant no such mutant" in outcome.trace
