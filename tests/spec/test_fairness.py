"""The fairness is named, and the promises that need it are the liveness promises."""

from __future__ import annotations

from dgap.spec.fairness import MINIMAL_PROGRESS
from dgap.spec.properties import LIVENESS


def test_every_liveness_promise_needs_it_and_no_other_does() -> None:
    assert set(MINIMAL_PROGRESS.needed_by) == {each.id for each in LIVENESS}


def test_it_is_weak_fairness_of_the_whole() -> None:
    assert MINIMAL_PROGRESS.formula == "WF_vars(Next)"
