"""Obligations: a scene and a goal, and how several of them make one check.

Rules kept here:
1. An obligation counts only if its hypotheses can hold together; the model is kept as witness.
2. A check is proved if all its obligations are, and it has at least one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from dgap.protocol.expr import Formula

from .check import Check, Outcome, Reach, Verdict
from .parametric import Scene
from .readable import describe
from .solver import Z3, Answer


@dataclass(frozen=True, kw_only=True)
class Obligation:
    """`goal` holds in the scene: before the action, or after it where `after` is set."""

    name: str
    scene: Scene
    goal: Formula
    after: bool = False

    def term(self) -> Z3:
        """The goal as a term; reading it may add aggregates to the scene."""
        return self._term

    @cached_property
    def _term(self) -> Z3:
        return self.scene.then(self.goal) if self.after else self.scene.now(self.goal)


Obligations = Callable[[], Iterable[Obligation]]


@dataclass(frozen=True, kw_only=True)
class Claim(Check):
    """A check that is decided by obligations, which other readers may discharge in their way."""

    obligations: Obligations


def discharge(obligation: Obligation) -> Answer:
    """Proved if the hypotheses can hold and imply the goal."""
    scene, goal = obligation.scene, obligation.term()
    witness = scene.theory.witness()
    if witness.verdict != Verdict.PROVED:
        return witness
    answer = scene.theory.implies(goal)
    return witness if answer.verdict == Verdict.PROVED else answer


def settle(obligations: Iterable[Obligation]) -> Outcome:
    """All obligations together: the first that is refuted, else the first unknown, else proved.

    Stops at the first that is refuted. The trace is its counterexample, which is a state that
    the invariant allows, reachable or not; or a witness that the first's hypotheses can hold.
    """
    asked: list[tuple[Obligation, Answer]] = []
    for obligation in obligations:
        asked.append((obligation, discharge(obligation)))
        if asked[-1][1].verdict == Verdict.REFUTED:
            break
    if not asked:
        return Outcome(verdict=Verdict.UNKNOWN, detail="no obligation was asked")
    named = max(_named(obligation.scene) for obligation, _ in asked)
    count = f"{len(asked)} obligation{'s' if len(asked) > 1 else ''}, {named} ranks named"
    failed = [pair for pair in asked if pair[1].verdict != Verdict.PROVED]
    if not failed:
        first, answer = asked[0]
        title = f"witness that the hypotheses of {first.name!r} can hold:"
        trace = (title, *_shown(first, answer))
        return Outcome(verdict=Verdict.PROVED, detail=count, trace=trace, cutoff=named)
    obligation, answer = max(failed, key=lambda pair: pair[1].verdict == Verdict.REFUTED)
    title = f"{obligation.name!r} {answer.reason or 'does not hold here:'}"
    return Outcome(
        verdict=answer.verdict,
        detail=f"{count}; {obligation.name}: {answer.reason or 'counterexample'}",
        trace=(title, *_shown(obligation, answer)),
        cutoff=named,
    )


def ranks_named(obligations: Iterable[Obligation]) -> int:
    """The cutoff: ranks that a counterexample to one of them needs at most. Solves nothing."""
    counts = []
    for obligation in obligations:
        obligation.term()
        counts.append(_named(obligation.scene))
    return max(counts, default=0)


def _named(scene: Scene) -> int:
    """The ranks that are spoken of, and a witness for each aggregate."""
    return len(scene.ranks) + len(scene.vector.aggregates)


def _shown(obligation: Obligation, answer: Answer) -> tuple[str, ...]:
    return () if answer.model is None else describe(obligation.scene, answer.model)


def parametric(id: str, promised: str, statement: str, obligations: Obligations) -> Claim:  # noqa: A002
    """A check for every number of ranks, sample count and setting."""
    return Claim(
        id=id,
        property=promised,
        statement=statement,
        reach=Reach.ALL_RANKS,
        scope="any W, any counts, any settings",
        expected=Verdict.PROVED,
        run=lambda: settle(obligations()),
        obligations=obligations,
    )
