"""Only an aligned failure counts as a successful demonstration."""

from __future__ import annotations

import pytest

from examples.demo.fault import Outcome, judge

PEER = "PeerFailed"
OWN = "UnreadableConversation"


def test_own_exception_and_peer_failure_at_one_step_succeed() -> None:
    success, verdict = judge([Outcome(9, PEER), Outcome(9, OWN)])
    assert success
    assert "both ranks failed at the same step, after 9 steps each" in verdict


@pytest.mark.parametrize(
    "outcomes",
    [
        [Outcome(9, PEER), Outcome(8, OWN)],  # another step
        [Outcome(9, ""), Outcome(9, OWN)],  # the peer noticed nothing
        [Outcome(9, PEER), Outcome(9, "")],  # the fault was lost
        [Outcome(9, OWN), Outcome(9, PEER)],  # the wrong rank
    ],
)
def test_anything_else_fails(outcomes: list[Outcome]) -> None:
    success, verdict = judge(outcomes)
    assert not success
    assert verdict.startswith("not aligned")
