"""Two tools that read Python prove the contract on T, and refute a claim that is too strong.

The outputs are recorded from real runs, shortened.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib import metadata

import pytest

from dgap.proofs import source_contract
from dgap.proofs.check import Outcome, Verdict
from dgap.proofs.foreign_tools import MissingTool, UnreadableAnswer
from dgap.proofs.source_contract import (
    NARROW,
    TWO_RANKS,
    WIDE,
    Case,
    contract,
    crosshair,
    crosshair_module,
    esbmc,
    esbmc_program,
    read_crosshair,
    read_esbmc,
    sound,
    source_checks,
    too_strong,
)
from dgap.protocol.machine import Machine
from dgap.protocol.vocabulary import Event, EventKind, Phase, Policy, Report, State

ALONE = Case(1, 2, Policy.FILL)
PAIR = Case(2, 1, Policy.PAPER)

CONFIRMED = "claims.py:9: info: Confirmed over all paths.\n"
UNSURE = "claims.py:9: info: Not confirmed.\n"
WRONG = "claims.py:9: error: false when calling w1(2, 2) (which returns 2)\n"
CRASHED = "claims.py:9: error: NameError: name 'x' is not defined\n"


@pytest.mark.parametrize("tool", [crosshair, esbmc], ids=lambda tool: tool.__name__)
def test_both_tools_prove_the_contract_and_refute_what_is_too_strong(
    tool: Callable[..., Outcome],
) -> None:
    assert tool((PAIR,)).verdict == Verdict.PROVED
    refuted = tool((PAIR,), too_strong)
    assert refuted.verdict == Verdict.REFUTED
    assert refuted.trace


def test_an_accumulation_is_proved_in_the_step_function() -> None:
    assert crosshair((ALONE,)).detail == "1 functions, over all paths"


def test_what_crosshair_says_is_an_answer_only_if_every_function_has_one() -> None:
    assert read_crosshair(2 * CONFIRMED, 2).verdict == Verdict.PROVED
    refuted = read_crosshair(CONFIRMED + WRONG, 2)
    assert (refuted.verdict, refuted.detail) == (
        Verdict.REFUTED,
        "false when calling w1(2, 2) (which returns 2)",
    )
    for output in ("", CONFIRMED, 3 * CONFIRMED, CONFIRMED + UNSURE, CONFIRMED + CRASHED):
        with pytest.raises(UnreadableAnswer, match="did not finish"):
            read_crosshair(output, 2)


def test_what_esbmc_says_is_an_answer_only_if_it_finished() -> None:
    assert read_esbmc("** 0 of 4 properties failed, 4 passed\n\nVERIFICATION SUCCESSFUL\n")
    assert not read_esbmc("** 1 of 4 properties failed\n\nVERIFICATION FAILED\n")
    for output in ("", "VERIFICATION UNKNOWN\n", "\nVERIFICATION SUCCESSFUL\n"):
        with pytest.raises(UnreadableAnswer, match="did not finish"):
            read_esbmc(output)


def values(case: Case, reports: tuple[Report, ...]) -> dict[str, int]:
    names = ("offered", "needed", "units", "exhausted")
    return {
        f"{short}{rank}": getattr(report, name)
        for rank, report in enumerate(reports)
        for short, name in zip("ngue", names, strict=True)
    }


def true(text: str, given: dict[str, int]) -> bool:
    """Whether a clause holds for these values, read by its syntax tree."""

    def value(node: ast.expr) -> int:
        match node:
            case ast.Name(name):
                return given[name]
            case ast.UnaryOp(ast.USub(), body):
                return -value(body)
            case ast.Constant(int(number)):
                return number
            case ast.BinOp(left, operator, right):
                a, b = value(left), value(right)
                table = {ast.Add: a + b, ast.Sub: a - b, ast.Mult: a * b, ast.Mod: b and a % b}
                return table[type(operator)]
            case ast.BoolOp(ast.And(), parts):
                return int(all(value(part) for part in parts))
            case ast.BoolOp(ast.Or(), parts):
                return int(any(value(part) for part in parts))
            case ast.Compare(left, [operator], [right]):
                a, b = value(left), value(right)
                found = {ast.Lt: a < b, ast.LtE: a <= b, ast.Gt: a > b, ast.GtE: a >= b}
                return int({**found, ast.Eq: a == b}[type(operator)])
        raise AssertionError(ast.unparse(node))

    return bool(value(ast.parse(text, mode="eval").body))


def small_reports(case: Case) -> list[Report]:
    unit = case.accumulation
    return [
        Report(offered=n, needed=g, units=n // unit)
        for n in range(5)
        for g in range(1 if n else 0, -(-n // unit) + 1)
    ]


@pytest.mark.parametrize("case", [Case(2, unit, policy) for unit in (1, 2) for policy in Policy])
def test_sound_reports_are_those_that_ranks_send_and_the_contract_holds_of_them(
    case: Case,
) -> None:
    machine = Machine(case.settings)
    seen = 0
    for first in small_reports(case):
        for second in small_reports(case):
            given = values(case, (first, second))
            assert all(true(fact, given) for fact in list(sound(case))[:-1])
            if not first.offered and not second.offered:
                assert not true(list(sound(case))[-1], given)
                continue
            event = Event(EventKind.GATHERED, reports=(first, second))
            state, _ = machine.step(State(phase=Phase.OFFER), event)
            assert all(true(clause, given) for clause in contract(case, str(state.owed_steps)))
            assert not all(true(clause, given) for clause in contract(case, "0"))
            assert not all(true(clause, given) for clause in contract(case, "9"))
            seen += 1
    assert seen > 40


@pytest.mark.parametrize(
    "report",
    [Report(2, 0, 2), Report(2, 3, 2), Report(0, 1, 0), Report(2, 1, 1), Report(-1, 0, -1)],
)
def test_reports_that_no_rank_sends_are_not_sound(report: Report) -> None:
    given = values(PAIR, (report, Report(1, 1, 1)))
    assert not all(true(fact, given) for fact in sound(PAIR))


def test_the_step_function_of_production_is_what_crosshair_calls() -> None:
    module = crosshair_module(NARROW, contract)
    assert module.count("_machine.step(State(phase=1), event)") == len(NARROW)
    assert len({case.name for case in (*NARROW, *WIDE)}) == len(NARROW) + len(WIDE)


def test_the_program_for_esbmc_keeps_counts_below_the_limit() -> None:
    program = esbmc_program(TWO_RANKS[0], contract)
    assert program.count("__ESBMC_assume(n") >= 4
    assert str(2**62) in program
    assert program.count("\nassert ") == len(contract(TWO_RANKS[0], "t"))


def test_a_missing_tool_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(source_contract, "find_spec", lambda name: None)
    with pytest.raises(MissingTool, match=r"CrossHair .*dgap\[verify\]"):
        crosshair((ALONE,))
    monkeypatch.setattr(metadata, "files", nothing)
    with pytest.raises(MissingTool, match=r"ESBMC .*dgap\[verify\]"):
        esbmc((PAIR,))


def test_each_tool_has_a_control_among_the_checks() -> None:
    controls = [check.id for check in source_checks() if check.expected == Verdict.REFUTED]
    assert controls == ["control.source.crosshair", "control.source.esbmc"]
    assert len({check.id for check in source_checks()}) == 5
