"""Certificates as text: what is written is read, and each obligation has a name of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dgap.proofs.actions import ACTOR
from dgap.proofs.asking import Claim, Obligation, parametric
from dgap.proofs.certificate import (
    Certificate,
    goal_of,
    named_obligations,
    path_of,
    read,
    recorded,
    write,
)
from dgap.proofs.hypothesis import Instance
from dgap.proofs.obligations_invariant import invariant_checks
from dgap.proofs.parametric import Scene
from dgap.protocol.table import TABLE

HELD = ACTOR["held"]
WORDS = st.text("abc ,:()[]=.", min_size=1, max_size=12).map(lambda text: f"x{text}x")
IDS = st.lists(st.sampled_from(["A1", "A4", "A6"]), unique=True, max_size=2).map(sorted).map(tuple)
INSTANCES = st.lists(st.builds(Instance, name=WORDS, assumptions=IDS), max_size=3).map(tuple)
CERTIFICATES = st.lists(
    st.builds(Certificate, obligation=WORDS, goal=WORDS, instances=INSTANCES),
    min_size=1,
    max_size=5,
    unique_by=lambda each: each.obligation,
)


@given(CERTIFICATES)
def test_what_is_written_is_read(certificates: list[Certificate]) -> None:
    found = list(read(write("id: statement", certificates)))
    assert {each.obligation: each for each in found} == {e.obligation: e for e in certificates}


def test_obligations_with_the_same_goal_and_instances_stand_together() -> None:
    instances = (Instance(name="settings are sound", assumptions=("A6",)),)
    both = [Certificate(obligation=name, goal="g", instances=instances) for name in ("one", "two")]
    other = Certificate(obligation="other", goal="g", instances=())
    assert write("title", [both[0], other, both[1]]) == (
        "title\n\none\ntwo\n  goal: g\n  settings are sound {A6}\n\nother\n  goal: g\n"
    )


@pytest.mark.parametrize("text", ["title\n\nname\n", "title\n\n  goal: g\n", "t\n\nname\nname\n"])
def test_what_is_no_certificate_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no certificate starts like this"):
        list(read(text))


def claim(*names: str) -> Claim:
    def obligations() -> list[Obligation]:
        return [Obligation(name=n, scene=Scene(TABLE, (), None), goal=HELD >= 0) for n in names]

    return parametric("an.id", "S1", "a statement", obligations)


def test_obligations_of_one_name_are_numbered() -> None:
    assert list(named_obligations(claim("a", "b", "a", "a"))) == ["a", "b", "a (2)", "a (3)"]


def test_the_goal_of_a_conjunct_is_its_name() -> None:
    (skew,) = (each for each in invariant_checks() if each.id == "invariant.skew")
    assert isinstance(skew, Claim)
    goals = {goal_of(each) for each in skew.obligations()}
    assert "invariant.skew at a, b" in goals
    assert "invariant.skew at b, a, after the action" in goals
    assert goal_of(next(iter(claim("x").obligations()))) == "a.held >= 0"


def test_a_check_without_a_file_has_no_certificates(tmp_path: Path) -> None:
    assert recorded("an.id", tmp_path) == ()
    certificate = Certificate(obligation="a", goal="g", instances=())
    path_of("an.id", tmp_path).write_text(write("t", [certificate]))
    assert recorded("an.id", tmp_path) == (certificate,)
