"""Every promise is explained from the specification, the manifest and the kill matrix."""

from __future__ import annotations

import re

import pytest

from dgap.proofs.__main__ import main
from dgap.proofs.check import Check, Outcome, Reach, Verdict
from dgap.proofs.explain import WHY, explain_check, explain_promise, promise_of
from dgap.proofs.kill_matrix import KillMatrix
from dgap.spec.properties import PROPERTIES
from tests.architecture.source import ROOT

PROMISES = re.findall(r"^\| ([SLR]\d+) \|", (ROOT / "spec/README.md").read_text(), re.MULTILINE)


def check(id_: str, property_: str, reach: Reach, expected: Verdict = Verdict.PROVED) -> Check:
    return Check(
        id=id_,
        property=property_,
        statement=f"statement of {id_}",
        reach=reach,
        scope="the bounds",
        expected=expected,
        run=lambda: Outcome(verdict=Verdict.PROVED),
    )


CHECKS = (
    check("coverage.join", "S5", Reach.ALL_RANKS),
    check("control.lost", "S5", Reach.EXHAUSTIVE, Verdict.REFUTED),
    check("S1a.join", "S1a", Reach.EXHAUSTIVE),
    check("S1b.join", "S1b", Reach.EXHAUSTIVE),
    check("other", "L1", Reach.ALL_RANKS),
)
MATRIX = KillMatrix(digest="", killers={f"mutant {n}": "coverage.join" for n in range(7)})


def explained(name: str) -> str:
    return "\n".join(explain_promise(name, CHECKS, MATRIX))


def test_every_promise_of_the_specification_has_a_reason_and_no_other() -> None:
    assert sorted(PROMISES) == sorted(WHY)
    assert {promise_of(each.id) for each in PROPERTIES} <= set(WHY)


@pytest.mark.parametrize("name", [*WHY, *(each.id for each in PROPERTIES)])
def test_every_promise_is_explained(name: str) -> None:
    text = explained(name)
    assert text.startswith(name)
    assert "why it is enough: " in text
    assert all(each.statement in text for each in PROPERTIES if each.id == name)


def test_statement_witness_encoding_bounds_and_mutants_are_shown() -> None:
    text = explained("S5")
    for words in (
        "S5: join mode: at CLOSED",
        "not empty words: every rank has delivered samples and closed",
        "for all W: ranks are an uninterpreted sort",
        "exhaustive: every interleaving",
        "coverage.join: statement of coverage.join; proved for all W",
        "control.lost: control, must be refuted: statement of control.lost; exhaustive up to the",
        "first to kill: 7",
        "mutant 0 by coverage.join",
        "... all in proofs/kill_matrix.json",
    ):
        assert words in text
    assert "other" not in text.split("checks:")[1]


def test_a_conjunct_is_explained_alone_and_a_promise_with_all_its_conjuncts() -> None:
    assert "S1b.join" not in explained("S1a")
    assert "S1a.join" in explained("S1")
    assert "S1b.join" in explained("S1")


def test_what_is_checked_elsewhere_says_so() -> None:
    assert "tests on the running loader" in explained("S7")
    assert "uninterpreted" not in explained("S7")


def test_a_check_is_explained_by_its_own_words() -> None:
    assert explain_check(CHECKS[1])[-1] == "a control: it must be refuted"
    assert explain_check(CHECKS[0])[1] == "property S5; proved for all W: the bounds"


@pytest.mark.parametrize(
    ("name", "promise"),
    [("S1", "S1"), ("S12", "S12"), ("S3b", "S3"), ("R1", "R1"), ("S99", ""), ("S1.join", "")],
)
def test_a_promise_is_told_from_a_check(name: str, promise: str) -> None:
    assert promise_of(name) == promise


def test_the_command_explains_promises_of_the_real_manifest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["explain", "S5"]) == 0
    shown = capsys.readouterr().out
    assert "coverage.join" in shown
    assert "control.finished_while_holding" in shown
