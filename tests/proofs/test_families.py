"""The families: data with bounds, each with its recorded number of states."""

from __future__ import annotations

import pytest

from dgap.proofs.check import Verdict
from dgap.proofs.families import (
    FAMILIES,
    STATE_LIMIT,
    Family,
    as_recorded,
    expected_states,
    explore_family,
    explored,
)
from dgap.protocol.vocabulary import Settings
from dgap.spec.properties import PROPERTIES
from dgap.spec.witnesses import WITNESSES

BY_NAME = {family.name: family for family in FAMILIES}
SMALL = ("unlike", "one-rank")


def test_names_are_unique_and_every_family_has_a_recorded_count() -> None:
    assert len(BY_NAME) == len(FAMILIES)
    assert {name for name in expected_states() if not name.startswith("wide.")} == set(BY_NAME)
    assert all(0 < expected_states()[name] < STATE_LIMIT for name in BY_NAME)


def test_only_the_recorded_count_passes() -> None:
    count = expected_states()["unlike"]
    assert as_recorded("unlike", count)[0] == Verdict.PROVED
    assert as_recorded("unlike", count + 1)[0] == Verdict.REFUTED
    assert as_recorded("no family", count)[0] == Verdict.REFUTED


def test_every_property_is_shown_in_some_family_by_its_witness() -> None:
    shown = {witness for family in FAMILIES for witness in family.witnesses}
    assert shown == {each.id for each in WITNESSES}
    assert {each.witness for each in PROPERTIES} <= shown


def test_both_modes_both_tails_both_policies_and_every_trouble_are_explored() -> None:
    settings = {each for family in FAMILIES for each in family.settings}
    assert {each.quota for each in settings} == {0, 1}
    assert {each.tail_stop for each in settings} == {0, 1}
    assert {each.policy for each in settings} == {0, 1}
    assert {each.accumulation for each in settings} == {1, 2}
    assert {family.world_size for family in FAMILIES} == {1, 2, 3}
    assert {family.queue_limit for family in FAMILIES} == {1, 2}
    assert all(
        any(getattr(family, trouble) for family in FAMILIES)
        for trouble in ("faults", "stops", "crashes", "unlike")
    )


def test_the_map_of_the_refinement_is_left_out_only_where_loops_leave_or_ranks_die() -> None:
    for family in FAMILIES:
        assert family.refinement == (not family.stops and not family.crashes)


def test_a_family_takes_every_combination_of_sources_and_shares() -> None:
    family = Family(
        name="x", scope="x", settings=(Settings(quota=1),), witnesses=(), most_share=1, faults=1
    )
    found = list(family.environments())
    assert len(found) == len(set(found)) == (3 * 2) ** 2
    assert {(at.source, at.share) for pair in found for at in pair} == {
        (source, share) for source in (0, 1, 2) for share in (0, 1)
    }
    assert all(at.faults_left == 1 for pair in found for at in pair)


def test_trouble_may_be_kept_to_the_first_ranks() -> None:
    family = BY_NAME["crash-three"]
    assert all(
        [at.crashes_left for at in environments] == [1, 0, 0]
        for environments in family.environments()
    )


@pytest.mark.parametrize("name", SMALL)
def test_a_small_family_has_the_recorded_number_of_states(name: str) -> None:
    found = explore_family(BY_NAME[name])
    assert sum(each.exploration.states for each in found) == expected_states()[name]
    assert all(each.exploration.finished for each in found)
    assert not any(each.exploration.broken for each in found)


def test_a_family_is_explored_once_in_a_process() -> None:
    assert explored(BY_NAME["unlike"]) is explored(BY_NAME["unlike"])
