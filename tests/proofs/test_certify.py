"""The instances that are found suffice, and none of them can be left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from dgap.proofs import certificate, certify
from dgap.proofs.actions import ACTOR
from dgap.proofs.asking import Claim, Obligation, parametric
from dgap.proofs.certify import NotFound, certificates_of, remove_all_but, rewrite
from dgap.proofs.parametric import Scene
from dgap.protocol.expr import Formula
from dgap.protocol.table import TABLE

HELD, READ, SOURCE = ACTOR["held"], ACTOR["read"], ACTOR["source"]


def claim(goal: Formula, *assumed: Formula) -> Claim:
    scene = Scene(TABLE, (), None, assumed=assumed)
    obligation = Obligation(name="one", scene=scene, goal=goal)
    return parametric("an.id", "S1", "a statement", lambda: [obligation])


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(certify, "recorded", lambda id_: certificate.recorded(id_, tmp_path))
    monkeypatch.setattr(certify, "path_of", lambda id_: certificate.path_of(id_, tmp_path))


def names(one: Claim) -> list[str]:
    (found,) = certificates_of(one)
    return [each.name for each in found.instances]


def test_only_what_is_needed_is_named() -> None:
    assert names(claim(HELD >= 2, HELD >= 2, READ >= 1)) == ["assumed: a.held >= 2"]
    assert names(claim(HELD * 0 >= 0, HELD >= 2)) == []


def test_an_assumption_is_named_only_where_the_goal_does_not_follow_without_it() -> None:
    assumed = (SOURCE >= 0, HELD >= SOURCE, HELD >= 0)
    assert names(claim(HELD >= 0, *assumed)) == ["assumed: a.held >= 0"]
    assert len(names(claim(HELD >= 0, *assumed[:2]))) == 2


def test_a_goal_that_does_not_follow_has_no_certificate() -> None:
    with pytest.raises(NotFound, match=r"an\.id: one"):
        certificates_of(claim(HELD >= 3, HELD >= 2))


def test_what_is_recorded_and_still_good_stays(tmp_path: Path) -> None:
    two_ways = claim(HELD >= 1, HELD >= 2, HELD >= 3)
    for kept in ("a.held >= 2", "a.held >= 3"):
        text = f"an.id: a statement\n\none\n  goal: a.held >= 1\n  assumed: {kept}\n"
        (tmp_path / "an.id.txt").write_text(text)
        assert names(two_ways) == [f"assumed: {kept}"]
        assert list(rewrite([two_ways], save=False)) == []


def test_certificates_are_written_only_when_asked_and_stale_ones_removed(tmp_path: Path) -> None:
    one = claim(HELD >= 1, HELD >= 2)
    assert list(rewrite([one], save=False)) == ["an.id"]
    assert not list(tmp_path.iterdir())
    assert list(rewrite([one], save=True)) == ["an.id"]
    assert list(rewrite([one], save=True)) == []
    remove_all_but([], tmp_path)
    assert not list(tmp_path.iterdir())
