"""Each planted bug is refuted by the obligation that the protocol passes."""

from __future__ import annotations

import pytest

from dgap.proofs.check import Check, Verdict
from dgap.proofs.obligations import by_id
from dgap.proofs.obligations_planted import planted_checks
from dgap.proofs.planted import PLANTED
from dgap.protocol.table import TABLE


@pytest.mark.parametrize("check", planted_checks(), ids=lambda each: each.id)
def test_a_planted_bug_is_refuted_with_a_trace(check: Check) -> None:
    assert check.expected == Verdict.REFUTED
    outcome = check.run()
    assert outcome.verdict == Verdict.REFUTED
    assert any(line.startswith("rank a: ") for line in outcome.trace)


def test_every_planted_bug_has_a_control_and_every_control_its_obligation() -> None:
    ids = [each.id for each in planted_checks()]
    assert {name.split(".")[1] for name in ids} == set(PLANTED)
    known = by_id(TABLE)
    assert all(name.split(".", 2)[2] in known for name in ids)
