"""Liveness holds under the fairness that is named, and the unfair run is found without it."""

from __future__ import annotations

import pytest

from dgap.proofs.check import Check
from dgap.proofs.export import instance_of
from dgap.proofs.export_tla import FAIR, tla
from dgap.proofs.fairness import FAMILY, explored, fairness_checks, temporal
from dgap.spec.fairness import MINIMAL_PROGRESS


@pytest.mark.parametrize("check", fairness_checks(), ids=lambda each: each.id)
def test_each_check_gives_what_is_expected(check: Check) -> None:
    assert check.run().verdict == check.expected


def test_the_unfair_run_is_shown() -> None:
    assert explored(fair=False).trace
    assert explored(fair=True).states == explored(fair=False).states


def test_the_module_states_the_fairness_by_name_and_the_question_asks_for_it() -> None:
    files = tla(instance_of(FAMILY))
    assert f"Fairness, {MINIMAL_PROGRESS.name}" in files.module
    assert f"{FAIR} == Spec /\\ {MINIMAL_PROGRESS.formula}" in files.module
    asked = temporal(files, FAIR).config
    assert "SPECIFICATION FairSpec" in asked
    assert asked.endswith("PROPERTY Ends\n")
    assert "INVARIANTS" not in asked
