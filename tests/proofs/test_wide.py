"""The rows of the compiled explorer: wide families as recorded, planted bugs found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dgap.proofs import families
from dgap.proofs.check import Verdict
from dgap.proofs.exploration import CONTROLS
from dgap.proofs.families import expected_states
from dgap.proofs.schedule import broken_in_model
from dgap.proofs.wide import counted, holds_in, planted_breaks, wide_checks
from dgap.proofs.wide_families import WIDE
from dgap.spec.properties import PROPERTIES

SMALLEST = min(WIDE, key=lambda family: expected_states()[f"wide.{family.name}"])


def test_there_is_a_row_with_a_recorded_count_for_each_wide_family() -> None:
    recorded = {name for name in expected_states() if name.startswith("wide.")}
    rows = [check for check in wide_checks() if check.id.startswith("wide.")]
    assert {check.id for check in rows} == recorded
    assert all("windows" in check.scope and "queues" in check.scope for check in rows)


def test_every_property_is_counted_in_some_wide_family() -> None:
    ids = {each.id for each in PROPERTIES} | {"R1"}
    assert {id_ for family in WIDE for id_ in counted(family)} == ids


def test_the_smallest_wide_family_has_the_recorded_states_and_no_other_number_passes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outcome = holds_in(SMALLEST)
    assert outcome.verdict == Verdict.PROVED, outcome.detail
    assert outcome.states == expected_states()[f"wide.{SMALLEST.name}"]
    narrow = replace(SMALLEST, windows=SMALLEST.windows[:1], witnesses=(), most_samples=1)
    monkeypatch.setattr(families, "expected_states", lambda: {f"wide.{narrow.name}": 3})
    assert holds_in(narrow).verdict == Verdict.REFUTED


def test_a_witness_that_is_not_reached_leaves_the_row_unknown() -> None:
    narrow = replace(SMALLEST, windows=(1,), most_samples=1, witnesses=("the_ranks_are_refused",))
    assert holds_in(narrow).verdict == Verdict.UNKNOWN


@pytest.mark.parametrize(("build", "property_id", "what"), CONTROLS)
def test_a_planted_bug_is_found_by_its_property_and_can_be_run_again(
    build: object, property_id: str, what: str
) -> None:
    outcome = planted_breaks(build, property_id)  # type: ignore[arg-type]
    assert outcome.verdict == Verdict.REFUTED
    assert outcome.detail.startswith(f"{property_id} is broken after")
    assert outcome.schedule is not None
    assert property_id in broken_in_model(outcome.schedule)
