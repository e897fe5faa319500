"""Every small change to a rule is accounted for, and an unseen one would be named."""

from __future__ import annotations

from dgap.proofs.check import Verdict
from dgap.proofs.obligations_groups import PROTOCOL
from dgap.proofs.rule_mutants import account, changed_rules, rule_mutant_checks


def test_every_changed_rule_is_accounted_for() -> None:
    (check,) = rule_mutant_checks()
    outcome = check.run()
    assert outcome.verdict == Verdict.PROVED
    assert outcome.detail == "10 changed rules: 7 refuted, 3 the same"


def test_each_rule_that_has_an_operator_is_changed() -> None:
    changed = {id_.partition(".")[0] for id_, _ in changed_rules()}
    assert changed == {"padded", "numerator", "denominator"}


def test_what_changes_nothing_is_the_same_and_no_change_at_all_is_refuted() -> None:
    assert account({"nothing": PROTOCOL}).detail == "1 changed rules: 0 refuted, 1 the same"
    assert account({}).verdict == Verdict.REFUTED
