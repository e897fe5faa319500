"""A compiler that writes anything but the row is found, by its text and by running it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dgap.proofs.check import Outcome, Verdict
from dgap.proofs.composition import ALL_SETTINGS, composition_checks, text_equals_terms
from dgap.proofs.execution import runs_as_terms
from dgap.proofs.planted import with_row
from dgap.protocol.machine import Machine, compile_source
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import Effect, EffectKind, Phase, Report, Settings, State

SETTINGS = (Settings(window=3, accumulation=2, quota=1),)
JUDGES: tuple[Callable[..., Outcome], ...] = (text_equals_terms, runs_as_terms)
by_both = pytest.mark.parametrize("judge", JUDGES, ids=lambda judge: judge.__name__)


class Miscompiled(Machine):
    """A machine whose compiler wrote one text for another."""

    def __init__(self, settings: Settings, table: Table, old: str, new: str) -> None:
        super().__init__(settings, table)
        text = compile_source(table, settings)
        self.source = text.replace(old, new)
        assert self.source != text
        names = {"State": State, "Effect": Effect, "Report": Report, "make": tuple.__new__}
        namespace = names | {kind.name: kind for kind in EffectKind}
        define(self.source, namespace)
        self._rows = namespace["ROWS"]  # type: ignore[assignment]
        self._report = namespace["report"]  # type: ignore[assignment]


def define(source: str, namespace: dict[str, object]) -> None:
    """Runs the source, as the machine does."""
    import builtins

    getattr(builtins, "exec")(source, namespace)  # noqa: B009 (a planted fault of the compiler)


@by_both
def test_the_compiled_table_is_the_table_that_is_proved(judge: Callable[..., Outcome]) -> None:
    outcome = judge(all_settings=SETTINGS)
    assert outcome.verdict == Verdict.PROVED, outcome.detail
    assert int(outcome.detail.split()[0]) > 30


FAULTS = {
    "a guard": ("(state_rounds == 0)", "(state_rounds <= 0 or state_rounds > 1)"),
    "a comparison": ("(event_code >= 1)", "(event_code > 1)"),
    "an update": ("(state_steps + 1)", "(state_steps + 2)"),
    "a kept field": (" state_dropped, state_ended", " state_lost, state_ended"),
    "an aggregate": ("min((report[2]", "max((report[2]"),
    "a filter": (
        "report[2] for rank, report in enumerate(event_reports) if",
        "report[2] for rank, report in enumerate(event_reports) if True or",
    ),
    "an effect": ("(FAILED, ", "(STOPPED, "),
    "an argument": ("make(Effect, (FAILED, min(", "make(Effect, (FAILED, max("),
    "a phase": ("make(State, (4, ", "make(State, (5, "),
}


@pytest.mark.parametrize(
    ("judge", "fault"),
    [
        *((text_equals_terms, fault) for fault in FAULTS),
        *((runs_as_terms, fault) for fault in ("a guard", "a kept field", "an argument")),
    ],
)
def test_a_fault_of_the_compiler_is_found(judge: Callable[..., Outcome], fault: str) -> None:
    old, new = FAULTS[fault]
    outcome = judge(
        compile_table=lambda settings, table: Miscompiled(settings, table, old, new),
        all_settings=SETTINGS,
    )
    assert outcome.verdict == Verdict.REFUTED
    assert "Settings(" in outcome.detail


def test_another_row_is_another_text() -> None:
    other = with_row(TABLE, "turn", target=Phase.CLOSED)
    outcome = text_equals_terms(
        compile_table=lambda settings, table: Machine(settings, other), all_settings=SETTINGS
    )
    assert outcome.verdict == Verdict.REFUTED
    assert "emit_turn" in outcome.detail


def test_a_report_that_is_read_otherwise_is_found() -> None:
    outcome = text_equals_terms(
        compile_table=lambda settings, table: Miscompiled(
            settings, table, "Report(state_offered", "Report(state_needed"
        ),
        all_settings=SETTINGS,
    )
    assert outcome.verdict == Verdict.REFUTED
    assert outcome.detail.startswith("report, ")


def test_every_mode_policy_and_tail_is_compiled() -> None:
    assert {(each.quota, each.policy, each.tail_stop) for each in ALL_SETTINGS} == {
        (quota, policy, tail) for quota in (0, 1) for policy in (0, 1) for tail in (0, 1)
    }
    assert {each.accumulation for each in ALL_SETTINGS} == {1, 2}


def test_the_checks_are_in_the_manifest_by_name() -> None:
    names = [check.id for check in composition_checks()]
    assert names == ["compiled.equals_terms", "compiled.runs_as_terms"]
    assert all(check.expected == Verdict.PROVED for check in composition_checks())
