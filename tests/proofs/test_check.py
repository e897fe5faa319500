"""A check is a value with three possible answers."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from dgap.proofs.check import Check, Outcome, Reach, Verdict


def test_there_are_three_answers_and_two_reaches() -> None:
    assert [str(verdict) for verdict in Verdict] == ["proved", "refuted", "unknown"]
    assert [str(reach) for reach in Reach] == ["proved for all W", "exhaustive up to"]


def test_a_check_runs_when_asked_and_is_frozen() -> None:
    check = Check(
        id="a",
        property="S1",
        statement="says something",
        reach=Reach.EXHAUSTIVE,
        scope="W=2",
        expected=Verdict.PROVED,
        run=lambda: Outcome(verdict=Verdict.PROVED, states=3, depth=2),
    )
    assert (check.run().states, check.run().depth, check.run().trace) == (3, 2, ())
    with pytest.raises(FrozenInstanceError):
        check.id = "b"  # type: ignore[misc]
