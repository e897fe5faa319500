"""Runs count what passed; whatever did not pass is told apart and never counted."""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Event

import pytest

from dgap.proofs.check import Check, Outcome, Reach, Verdict
from dgap.proofs.run import Result, Standing, passed, run_check, run_checks, summary

PROVED = Outcome(verdict=Verdict.PROVED)
REFUTED = Outcome(verdict=Verdict.REFUTED, trace=("rank a: OFFER",))
UNKNOWN = Outcome(verdict=Verdict.UNKNOWN)


def check(name: str, run: Callable[[], Outcome], expected: Verdict = Verdict.PROVED) -> Check:
    return Check(
        id=name,
        property="S1",
        statement="a statement",
        reach=Reach.ALL_RANKS,
        scope="any",
        expected=expected,
        run=run,
    )


def raises() -> Outcome:
    raise RuntimeError("no such tool")


def dies() -> Outcome:
    os._exit(3)


def never_ends() -> Outcome:
    Event().wait()
    return PROVED


@pytest.mark.parametrize(
    ("outcome", "expected", "standing", "verdict"),
    [
        (PROVED, Verdict.PROVED, Standing.VERIFIED, "proved"),
        (REFUTED, Verdict.PROVED, Standing.REFUTED, "refuted"),
        (UNKNOWN, Verdict.PROVED, Standing.UNKNOWN, "unknown"),
        (REFUTED, Verdict.REFUTED, Standing.VERIFIED, "refuted as expected"),
        (PROVED, Verdict.REFUTED, Standing.REFUTED, "proved, not refuted"),
        (UNKNOWN, Verdict.REFUTED, Standing.UNKNOWN, "unknown, not refuted"),
        (None, Verdict.PROVED, Standing.SKIPPED, "skipped"),
    ],
)
def test_a_result_counts_only_if_its_verdict_is_the_expected_one(
    outcome: Outcome | None, expected: Verdict, standing: Standing, verdict: str
) -> None:
    result = Result(check=check("a", lambda: PROVED, expected), outcome=outcome)
    assert (result.standing, result.verdict) == (standing, verdict)
    assert passed([result]) == (standing == Standing.VERIFIED)


def test_a_run_without_checks_has_not_passed() -> None:
    assert list(run_checks([])) == []
    assert not passed([])
    assert summary([], 0.2) == "verified: 0 checks, 0 refuted, 0 unknown, 0 skipped, 0 s"


def test_the_last_line_counts_each_standing() -> None:
    results = [run_check(check("a", lambda: PROVED)), run_check(check("b", lambda: REFUTED))]
    results += [run_check(check("c", raises)), Result(check=check("d", dies), outcome=None)]
    assert summary(results, 12.6) == "verified: 1 checks, 1 refuted, 1 unknown, 1 skipped, 13 s"


def test_a_check_that_raises_is_unknown_and_shows_its_traceback() -> None:
    result = run_check(check("a", raises))
    assert result.standing == Standing.UNKNOWN
    assert result.outcome is not None
    assert "no such tool" in result.outcome.detail
    assert any("raises" in line for line in result.outcome.trace)


def test_every_check_has_one_result_whatever_the_others_do() -> None:
    checks = [check(f"good{n}", lambda: PROVED) for n in range(5)]
    checks.insert(1, check("dies", dies))
    checks.insert(3, check("raises", raises))
    results = {each.check.id: each for each in run_checks(checks)}
    assert results.keys() == {each.id for each in checks}
    assert results["dies"].standing == Standing.UNKNOWN
    assert results["raises"].standing == Standing.UNKNOWN
    assert all(results[f"good{n}"].standing == Standing.VERIFIED for n in range(5))


def test_a_check_that_takes_too_long_is_unknown_and_the_rest_go_on() -> None:
    checks = [check("late", never_ends), check("a", lambda: PROVED), check("b", lambda: PROVED)]
    results = {
        each.check.id: each for each in run_checks(checks, worker_count=1, check_limit_s=0.3)
    }
    assert results["late"].standing == Standing.UNKNOWN
    assert results["late"].outcome is not None
    assert "0.3 s" in results["late"].outcome.detail
    assert results["b"].standing == Standing.VERIFIED


def test_what_a_run_has_no_time_for_is_skipped() -> None:
    checks = [check("late", never_ends), check("a", lambda: PROVED)]
    results = list(run_checks(checks, worker_count=1, run_limit_s=0.3))
    assert [each.standing for each in results] == [Standing.SKIPPED] * 2


def test_a_bounded_check_says_its_bounds() -> None:
    bounded = Check(
        id="a",
        property="L1",
        statement="a statement",
        reach=Reach.EXHAUSTIVE,
        scope="W=2",
        expected=Verdict.PROVED,
        run=lambda: PROVED,
    )
    assert Result(check=bounded, outcome=PROVED).reach == "exhaustive up to W=2"
    assert Result(check=check("b", dies), outcome=None).reach == "proved for all W"
