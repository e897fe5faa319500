"""That what runs is what is proved: the compiled step function against the table's Z3 terms.

Rules kept here:
1. `compiled.equals_terms` reads the text that production executes (`Machine.source`) as Python,
   and asks whether each branch is the row as the obligations read it, for all integers.
2. `compiled.runs_as_terms` (execution.py) executes that function on every small state, so that it
   depends on no reading of Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product

from dgap.protocol.machine import Machine
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import Settings

from .check import Check, Outcome, Reach, Verdict
from .execution import SMALL, CompileTable, runs_as_terms
from .row_terms import EVENT, LARGEST_WORLD, STATE, Meaning, Terms, places, settle, world_sizes
from .solver import Z3, every, implication
from .source_terms import Branch, Inputs, StepSource
from .terms import Reading, translate

ALL_SETTINGS = tuple(
    Settings(window=3 + quota, accumulation=unit, quota=quota, policy=policy, tail_stop=tail)
    for quota, policy, tail in product((0, 1), (0, 1), (0, 1))
    for unit in (1 + (quota + policy + tail) % 2,)
)
"""Every mode with every policy and tail; a setting is a constant in the text, and nothing else."""


def text_equals_terms(
    table: Table = TABLE,
    compile_table: CompileTable = Machine,
    all_settings: Sequence[Settings] = ALL_SETTINGS,
) -> Outcome:
    """PROVED if the text of every step function says what the terms say, for all integers."""
    count = 0
    for settings in all_settings:
        source = StepSource(compile_table(settings, table).source)
        expected = places(table)
        if set(source.rows) != set(expected):
            return _refuted(f"{settings}: functions for {sorted(source.rows)}")
        for place, rows in expected.items():
            for size in world_sizes(rows):
                terms = Terms(rows, settings, size)
                inputs = Inputs(state=STATE, event=EVENT, reports=terms.reports)
                branches = source.branches(source.rows[place], inputs)
                found = _ask(f"{source.rows[place]}, W={size}, {settings}", terms, branches)
                if found is not None:
                    return found
                count += len(branches)
        found = _report_equals_terms(table, settings, source)
        if found is not None:
            return found
        count += 1
    return Outcome(verdict=Verdict.PROVED, detail=f"{count} branches")


def _ask(place: str, terms: Terms, branches: Sequence[Branch]) -> Outcome | None:
    """None if each branch is its row."""
    if len(branches) != len(terms.meanings):
        return _refuted(f"{place}: {len(branches)} branches for {len(terms.meanings)} rows")
    for branch, meaning in zip(branches, terms.meanings, strict=True):
        if [kind for kind, _ in branch.effects] != [kind for kind, _ in meaning.effects]:
            return _refuted(f"{place}: row {meaning.row.name} asks {branch.effects}")
    goals = [_same(*pair) for pair in zip(branches, terms.meanings, strict=True)]
    return settle(place, terms.hypotheses, every(goals))


def _same(branch: Branch, meaning: Meaning) -> Z3:
    values = zip(branch.state, meaning.state, strict=True)
    arguments = zip(branch.effects, meaning.effects, strict=True)
    equal = [ours == theirs for ours, theirs in values]
    equal += [ours == theirs for (_, ours), (_, theirs) in arguments]
    return every((branch.guard == meaning.guard, implication(meaning.guard, every(equal))))


def _report_equals_terms(table: Table, settings: Settings, source: StepSource) -> Outcome | None:
    reading = Reading(name=Terms((), settings, 0).name)
    values = [translate(value, reading) for _, value in table.report]
    ours = source.report(STATE)
    equal = every(a == b for a, b in zip(ours, values, strict=True))
    return settle(f"report, {settings}", [], equal)


def _refuted(detail: str) -> Outcome:
    return Outcome(verdict=Verdict.REFUTED, detail=detail)


def composition_checks(table: Table = TABLE) -> tuple[Check, ...]:
    """What is compiled against what is proved."""
    check = partial(Check, property="code", reach=Reach.EXHAUSTIVE, expected=Verdict.PROVED)
    return (
        check(
            id="compiled.equals_terms",
            statement="the text of the step function that production runs is, branch by branch, "
            "the row that the obligations are about",
            scope=f"W=1..{LARGEST_WORLD}, all integers, {len(ALL_SETTINGS)} settings",
            run=lambda: text_equals_terms(table),
        ),
        check(
            id="compiled.runs_as_terms",
            statement="that function, executed, answers as the terms do",
            scope=f"W=1..2, all that is read 0..{SMALL}, sound reports, 2 settings",
            run=lambda: runs_as_terms(table),
        ),
    )
