"""Second opinions: every parametric obligation once more, by cvc5 and by Z3 with other seeds.

Rules kept here:
1. The obligations are those of the manifest; a new one has its second opinions at once.
2. Obligations with the same hypotheses are one question: all goals together. That is as much, and
   hypotheses are read once.
3. No answer is no agreement: a time-out, an error and a missing tool make the check unknown.

What is shared by both opinions is the translation of the table into terms (terms.py); the
explorer, which does not use it, is the opinion on that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table

from . import cvc5_solver
from .asking import Claim, Obligation
from .check import Check, Outcome, Reach, Verdict
from .obligations import CHEAP, OTHERS, Builder
from .obligations_groups import group_checks
from .obligations_invariant import invariant_checks
from .solver import Z3, smt_text, with_seed

SEEDS = (7, 2026)

_BUILDERS: tuple[Builder, ...] = (*CHEAP, *OTHERS, lambda _: group_checks())

Group = Callable[[], Iterable[Obligation]]
Decide = Callable[["Question"], tuple[Verdict, str]]


@dataclass(frozen=True, kw_only=True)
class Question:
    """Whether the goals follow from the hypotheses, which several obligations share."""

    hypotheses: Sequence[Z3]
    goals: Sequence[Z3]


def questions(obligations: Iterable[Obligation]) -> Iterator[Question]:
    """One question for all obligations of one scene."""
    by_scene: dict[int, list[Obligation]] = {}
    for each in obligations:
        by_scene.setdefault(id(each.scene), []).append(each)
    for group in by_scene.values():
        goals = [each.term() for each in group]  # before the theory: goals may add aggregates
        hypotheses = [each.term for each in group[0].scene.hypotheses]
        yield Question(hypotheses=hypotheses, goals=goals)


def by_cvc5(question: Question) -> tuple[Verdict, str]:
    """What cvc5 says, asked in SMT-LIB."""
    return cvc5_solver.decide(smt_text(question.hypotheses, question.goals))


def by_seeds(question: Question) -> tuple[Verdict, str]:
    """What Z3 says from other starting points: proved only if it is each time."""
    for seed in SEEDS:
        answer = with_seed(question.hypotheses, question.goals, seed)
        if answer.verdict != Verdict.PROVED:
            return answer.verdict, f"seed {seed}: {answer.reason}"
    return Verdict.PROVED, ""


def agree(decide: Decide, group: Group) -> Outcome:
    """All obligations of a group, decided in another way."""
    count = 0
    for question in questions(group()):
        verdict, reason = decide(question)
        if verdict != Verdict.PROVED:
            return Outcome(verdict=verdict, detail=reason or "a goal does not follow")
        count += len(question.goals)
    if not count:
        return Outcome(verdict=Verdict.UNKNOWN, detail="no obligation was asked")
    return Outcome(verdict=Verdict.PROVED, detail=f"{count} goals")


def claims(table: Table) -> Iterator[Claim]:
    """Every check that is decided by obligations, planted bugs apart."""
    yield from _claims(table, (invariant_checks, *_BUILDERS))


def _claims(table: Table, builders: Sequence[Builder]) -> Iterator[Claim]:
    for build in builders:
        yield from (check for check in build(table) if isinstance(check, Claim))


def groups(table: Table) -> Iterator[tuple[str, str, Group]]:
    """Id, statement and obligations of what is decided together.

    The conjuncts of the invariant are grouped by the action after which they hold.
    """
    yield from _conjuncts_by_action(table)
    for claim in _claims(table, _BUILDERS):
        yield claim.id, claim.statement, claim.obligations


def _conjuncts_by_action(table: Table) -> Iterator[tuple[str, str, Group]]:
    conjuncts = list(_claims(table, (invariant_checks,)))

    def after(action: str) -> Iterator[Obligation]:
        found = (each for claim in conjuncts for each in claim.obligations() if each.name == action)
        first: Obligation | None = None
        for each in found:
            first = first or each
            # at the start each conjunct has a scene of its own, with the same hypotheses
            same = (each.scene.action, each.scene.assumed) == (None, first.scene.assumed)
            yield replace(each, scene=first.scene) if same else each

    names = dict.fromkeys(each.name for claim in conjuncts[:1] for each in claim.obligations())
    for name in names:
        statement = f"every conjunct of the invariant holds after: {name}"
        yield f"invariant.{name.replace(' ', '_')}", statement, partial(after, name)


def second_opinion_checks(table: Table = TABLE) -> tuple[Check, ...]:
    """For each group one check by cvc5, and one by Z3 with other seeds."""
    tools: tuple[tuple[str, str, Decide], ...] = (
        ("cvc5", "cvc5 agrees", by_cvc5),
        ("seeds", "Z3 agrees from other seeds", by_seeds),
    )
    return tuple(
        Check(
            id=f"{tool}.{id_}",
            property="second opinion",
            statement=f"{words}: {statement}",
            reach=Reach.ALL_RANKS,
            scope="any W, any counts, any settings",
            expected=Verdict.PROVED,
            run=partial(agree, decide, group),
        )
        for tool, words, decide in tools
        for id_, statement, group in groups(table)
    )
