"""Foreign explorers agree with ours, find planted bugs, and are never passed over in silence.

These run the real tools on the smallest worlds; `make verify` runs them on all instances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from dgap.proofs import foreign
from dgap.proofs.check import Outcome, Verdict
from dgap.proofs.exploration import CONTROLS
from dgap.proofs.export import Instance
from dgap.proofs.families import Family
from dgap.proofs.foreign import (
    INSTANCES,
    TOOLS,
    agrees,
    count_states,
    finds,
    foreign_checks,
    foreign_entries,
)
from dgap.proofs.foreign_tools import STANDS_STILL, Answer, MissingTool
from dgap.proofs.planted import finished_while_holding
from dgap.proofs.run import Result
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import Settings
from dgap.spec.properties import Property

TINY = Family(
    name="tiny",
    scope="W=2, 0..1 samples a rank, window 1, a fault on rank 0",
    settings=(Settings(),),
    witnesses=(),
    most_samples=1,
    faults=1,
    troubled_ranks=1,
)


def answer_with(monkeypatch: pytest.MonkeyPatch, answer: Answer) -> None:
    def run(instance: Instance, table: Table, properties: Sequence[Property]) -> Answer:
        return answer

    monkeypatch.setattr(foreign, "TOOLS", {"tool": run})


@pytest.mark.parametrize("tool", TOOLS)
def test_the_tool_counts_the_states_that_our_explorer_counts(tool: str) -> None:
    outcome = agrees(tool, TINY)
    assert outcome.verdict == Verdict.PROVED, outcome.detail
    assert outcome.states == count_states(TINY) > 500


@pytest.mark.parametrize("tool", TOOLS)
def test_the_tool_finds_the_lost_samples_of_the_reference(tool: str) -> None:
    outcome = finds(tool, finished_while_holding, "S5")
    assert outcome.verdict == Verdict.REFUTED, outcome.detail


def test_another_number_of_states_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    answer_with(monkeypatch, Answer(states=7))
    outcome = agrees("tool", TINY)
    assert outcome.verdict == Verdict.REFUTED
    assert outcome.detail.startswith("tool finds 7 states, the explorer ")


def test_a_planted_bug_is_found_only_by_its_own_property(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer_with(monkeypatch, Answer(states=9, broken=STANDS_STILL))
    assert finds("tool", finished_while_holding, "L1").verdict == Verdict.REFUTED
    assert finds("tool", finished_while_holding, "S5").verdict == Verdict.PROVED


def test_a_missing_tool_was_not_run_and_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(instance: Instance, table: Table, properties: Sequence[Property]) -> Answer:
        raise MissingTool("tool is not installed: install it")

    monkeypatch.setattr(foreign, "TOOLS", {"tool": missing})
    for outcome in (agrees("tool", TINY), finds("tool", finished_while_holding, "S5")):
        assert outcome.verdict == Verdict.UNKNOWN
        assert outcome.detail == "not run: tool is not installed: install it"


def test_the_report_names_tool_instance_and_states_of_what_was_verified() -> None:
    counted, planted = foreign_checks()[0], foreign_checks()[len(INSTANCES)]
    good = Outcome(verdict=Verdict.PROVED, states=7)
    results = [
        Result(check=counted, outcome=good),
        Result(check=counted, outcome=Outcome(verdict=Verdict.UNKNOWN)),
        Result(check=counted, outcome=None),
        Result(check=planted, outcome=Outcome(verdict=Verdict.REFUTED, states=3)),
        Result(check=replace(counted, id="all.join"), outcome=good),
    ]
    expected = {"tool": "tlc", "instance": "join-idle", "states": 7}
    assert foreign_entries(results) == [expected]


def test_each_tool_has_every_instance_and_every_planted_bug() -> None:
    ids = {check.id for check in foreign_checks()}
    for tool in TOOLS:
        assert {f"foreign.{tool}.{family.name}" for family in INSTANCES} <= ids
        assert {f"foreign.{tool}.planted.{build.__name__}" for build, _, _ in CONTROLS} <= ids
    assert len(ids) == len(TOOLS) * (len(INSTANCES) + len(CONTROLS)) == len(foreign_checks())


def test_the_instances_cover_both_tails_both_modes_three_ranks_and_trouble() -> None:
    settings = [family.settings[0] for family in INSTANCES]
    assert {each.tail_stop for each in settings} == {0, 1}
    assert {each.quota for each in settings} == {0, 1}
    assert {each.policy for each in settings} == {0, 1}
    assert {family.world_size for family in INSTANCES} == {2, 3}
    assert any(family.faults and family.stops and family.crashes for family in INSTANCES)
