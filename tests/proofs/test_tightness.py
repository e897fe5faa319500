"""The runs that meet a bound do so, and depend on what the bound depends on."""

from __future__ import annotations

import pytest

from dgap.proofs.check import Check, Verdict
from dgap.proofs.tightness import longest_wait, tightness_checks


@pytest.mark.parametrize("check", tightness_checks(), ids=lambda each: each.id)
def test_the_bound_is_met(check: Check) -> None:
    assert check.run().verdict == Verdict.PROVED


def test_the_longest_wait_grows_with_the_window() -> None:
    assert [longest_wait(window) for window in (1, 2, 5)] == [0, 1, 4]
