"""Certificates are checked again: what is missing, superfluous or too little fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from dgap.proofs.certificate import Certificate, path_of, recorded, write
from dgap.proofs.check import Verdict
from dgap.proofs.hypothesis import Instance
from dgap.proofs.recheck import defects, holds, is_minimal, recheck_checks
from dgap.proofs.second_opinion import claims
from dgap.proofs.solver import constant, for_all, in_logic, logic_of
from dgap.protocol.table import TABLE

CLAIM = next(each for each in claims(TABLE) if each.id == "coverage.join")
X, Y = constant("x"), constant("y")
Change = Callable[[Sequence[Certificate]], Sequence[Certificate]]


def with_instances(certificates: Sequence[Certificate], *instances: Instance) -> list[Certificate]:
    return [replace(certificates[0], instances=instances), *certificates[1:]]


STRANGER = Instance(name="invariant.wish at a")
CHANGES: dict[str, tuple[Change, str]] = {
    "missing": (lambda all_: all_[1:], "no certificate"),
    "of nothing": (lambda all_: [*all_, replace(all_[0], obligation="x")], "no obligation"),
    "superfluous": (
        lambda all_: with_instances(all_, *all_[0].instances, STRANGER),
        "no such instance: invariant.wish",
    ),
    "too little": (
        lambda all_: with_instances(all_, *all_[0].instances[1:]),
        "Z3 in QF_UFLIA: the goal does not follow",
    ),
    "relabelled": (
        lambda all_: with_instances(
            all_, replace(all_[0].instances[0], assumptions=("A9",)), *all_[0].instances[1:]
        ),
        "no such instance",
    ),
    "another goal": (lambda all_: [replace(all_[0], goal="a.held == 0"), *all_[1:]], "its goal is"),
}


def test_the_committed_certificates_hold() -> None:
    outcome = holds(CLAIM)
    assert outcome.verdict == Verdict.PROVED
    assert "2 certificates" in outcome.detail


@pytest.mark.parametrize(("change", "reason"), CHANGES.values(), ids=CHANGES)
def test_a_wrong_certificate_fails(change: Change, reason: str, tmp_path: Path) -> None:
    changed = change(recorded(CLAIM.id))
    path_of(CLAIM.id, tmp_path).write_text(write("t", changed))
    outcome = holds(CLAIM, tmp_path)
    assert outcome.verdict == Verdict.REFUTED
    assert any(reason in line for line in outcome.trace)


def test_a_check_without_certificates_fails(tmp_path: Path) -> None:
    assert holds(CLAIM, tmp_path).verdict == Verdict.REFUTED


def test_both_solvers_miss_an_instance_that_is_left_out() -> None:
    short = with_instances(recorded(CLAIM.id), *recorded(CLAIM.id)[0].instances[1:])
    assert {reason.split(": ")[1][:4] for _, reason in defects(CLAIM, short)} == {"Z3 i", "cvc5"}


def test_the_control_is_refuted_and_a_certificate_that_says_too_much_is_found(
    tmp_path: Path,
) -> None:
    assert is_minimal([CLAIM]).verdict == Verdict.REFUTED
    first, *rest = recorded(CLAIM.id)
    extra = Instance(name="invariant.owed at a")
    twice = replace(first, instances=(extra, *first.instances))
    path_of(CLAIM.id, tmp_path).write_text(write("t", [twice, *rest]))
    assert holds(CLAIM, tmp_path).verdict == Verdict.PROVED
    assert is_minimal([CLAIM], tmp_path).verdict == Verdict.PROVED


def test_the_logic_fits_and_has_no_quantifiers() -> None:
    assert logic_of([X + 2 * Y >= 0]) == "QF_UFLIA"
    assert logic_of([X * Y >= 0, X >= 0]) == "QF_UFNIA"
    with pytest.raises(ValueError, match="quantifier"):
        logic_of([X >= 0, for_all([Y], Y >= X)])
    assert in_logic("QF_UFLIA", [X >= 1], X >= 0) == Verdict.PROVED
    assert in_logic("QF_UFLIA", [X >= 1], X >= 2) == Verdict.REFUTED


def test_every_check_that_is_decided_by_obligations_has_its_certificates_checked() -> None:
    known = {check.id: check for check in recheck_checks()}
    assert {f"certificate.{each.id}" for each in claims(TABLE)} <= set(known)
    assert known["certificates.complete"].run().verdict == Verdict.PROVED
    assert known["control.certificates"].expected == Verdict.REFUTED
