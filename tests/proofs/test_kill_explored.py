"""The explorer kills what breaks, and what is merely different last."""

from __future__ import annotations

import pytest

from dgap.proofs import kill_explored, planted
from dgap.proofs.families import FAMILIES, expected_states
from dgap.proofs.kill_explored import killed_by_exploration, small_families
from dgap.proofs.manifest import manifest
from dgap.protocol.expr import TRUE
from dgap.protocol.table import TABLE

SMALL = next(family for family in FAMILIES if family.name == "one-rank")


@pytest.fixture(autouse=True)
def one_family(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kill_explored, "small_families", lambda: (SMALL,))


def test_the_small_families_are_those_of_the_manifest_the_smallest_first() -> None:
    sizes = [expected_states()[family.name] for family in small_families()]
    assert sizes == sorted(sizes)
    assert len(sizes) > 5


def test_the_protocol_is_not_killed() -> None:
    assert killed_by_exploration(TABLE) == ""


def test_what_breaks_a_property_is_killed_by_it() -> None:
    broken = killed_by_exploration(planted.finished_while_holding())
    assert broken == "R1.one-rank"
    assert broken in {check.id for check in manifest()}


def test_what_only_has_other_states_is_killed_by_their_number() -> None:
    never = planted.with_row(TABLE, "fail_reading", guard=~TRUE)
    assert killed_by_exploration(never) == "all.one-rank"


def test_a_broken_property_that_is_no_row_of_its_family_kills_by_the_row_of_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unlike = next(family for family in FAMILIES if family.name == "unlike")
    monkeypatch.setattr(kill_explored, "small_families", lambda: (unlike,))
    killer = killed_by_exploration(planted.with_row(TABLE, "refuse", guard=~TRUE))
    assert killer == "all.unlike"
    assert killer in {check.id for check in manifest()}
