"""Certificates, checked again by two solvers that know no quantifiers.

Rules kept here:
1. Instances are built from the table and found by name; of a certificate only names are believed.
2. Z3 and cvc5 each decide in the quantifier-free logic that fits, and both must find the goal.
3. A certificate that is missing, belongs to no obligation, or names what does not exist fails.
4. Certificates are minimal: the control leaves one instance out, and then both must find a state
   in which the goal does not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table

from . import cvc5_solver
from .asking import Claim, Obligation
from .certificate import (
    FOLDER,
    Certificate,
    goal_of,
    named_obligations,
    recorded,
)
from .check import Check, Outcome, Reach, Verdict
from .hypothesis import Hypothesis
from .second_opinion import claims
from .solver import in_logic, logic_of, smt_text

Defect = tuple[Verdict, str]

SAMPLED_EVERY, SAMPLED_CHECKS = 12, 3
"""The control takes each certificate whose place in its check, and each check whose place among
the checks, is a multiple of these."""
GOOD_SHARE = 0.9
"""Of the sampled certificates so many must be refuted; where products occur a solver may not
decide."""


def verdicts(obligation: Obligation, chosen: Sequence[Hypothesis]) -> tuple[str, Defect, Defect]:
    """The logic, and what Z3 and cvc5 say of the goal there. Raises ValueError for a quantifier."""
    terms, goal = [each.term for each in chosen], obligation.term()
    logic = logic_of([*terms, goal])
    second = cvc5_solver.decide_ground(smt_text(terms, [goal]), logic)
    return logic, (in_logic(logic, terms, goal), ""), second


def defects(claim: Claim, certificates: Sequence[Certificate]) -> Iterator[Defect]:
    """What is wrong with the certificates of a check."""
    obligations = named_obligations(claim)
    given = {each.obligation: each for each in certificates}
    yield from ((Verdict.REFUTED, f"{name}: no obligation") for name in given.keys() - obligations)
    for name, obligation in obligations.items():
        if name not in given:
            yield Verdict.REFUTED, f"{name}: no certificate"
            continue
        for verdict, reason in _wrong(obligation, given[name]):
            yield verdict, f"{name}: {reason}"


def _wrong(obligation: Obligation, certificate: Certificate) -> Iterator[Defect]:
    instances = obligation.scene.instances
    if certificate.goal != goal_of(obligation):
        yield Verdict.REFUTED, f"its goal is {goal_of(obligation)}"
    missing = [each for each in certificate.instances if each not in instances]
    if missing:
        yield Verdict.REFUTED, f"no such instance: {missing[0].name} {missing[0].assumptions}"
        return
    chosen = [instances[each] for each in certificate.instances]
    logic, *said = verdicts(obligation, chosen)
    for tool, (verdict, reason) in zip(("Z3", "cvc5"), said, strict=True):
        if verdict != Verdict.PROVED:
            yield verdict, f"{tool} in {logic}: {reason or 'the goal does not follow'}"


def holds(claim: Claim, folder: Path = FOLDER) -> Outcome:
    """PROVED if each obligation has a certificate from which both solvers find its goal."""
    certificates = recorded(claim.id, folder)
    found = list(defects(claim, certificates))
    if not certificates:
        return Outcome(verdict=Verdict.REFUTED, detail="no certificates")
    if found:
        worst = max(found, key=lambda each: each[0] == Verdict.REFUTED)
        trace = tuple(reason for _, reason in found)
        return Outcome(verdict=worst[0], detail=worst[1], trace=trace)
    most = max(len(each.instances) for each in certificates)
    detail = f"{len(certificates)} certificates of at most {most} instances"
    return Outcome(verdict=Verdict.PROVED, detail=detail)


def weakened(claim: Claim, folder: Path = FOLDER) -> Iterator[tuple[str, Defect, Defect]]:
    """What both solvers say of sampled certificates of which one instance was left out."""
    obligations = named_obligations(claim)
    usable = [each for each in recorded(claim.id, folder) if each.instances]
    for place, each in enumerate(islice(usable, 0, None, SAMPLED_EVERY)):
        obligation = obligations[each.obligation]
        chosen = [obligation.scene.instances[one] for one in each.instances]
        del chosen[place % len(chosen)]
        _, first, second = verdicts(obligation, chosen)
        yield f"{claim.id}: {each.obligation}", first, second


def is_minimal(all_claims: Sequence[Claim], folder: Path = FOLDER) -> Outcome:
    """REFUTED, as it should be, if goals are refuted once an instance is left out.

    PROVED if one still follows: then its certificate is not minimal. UNKNOWN if too few are
    decided.
    """
    asked = [each for claim in all_claims for each in weakened(claim, folder)]
    still = [name for name, *said in asked if any(each[0] == Verdict.PROVED for each in said)]
    both = sum(all(each[0] == Verdict.REFUTED for each in said) for _, *said in asked)
    detail = f"{both} of {len(asked)} certificates without one instance are refuted by both"
    if still or not asked:
        return Outcome(verdict=Verdict.PROVED, detail=detail, trace=tuple(still))
    enough = both >= GOOD_SHARE * len(asked)
    return Outcome(verdict=Verdict.REFUTED if enough else Verdict.UNKNOWN, detail=detail)


def _superfluous(known: Sequence[str], folder: Path = FOLDER) -> Outcome:
    """PROVED if there are certificates of these checks and of no others."""
    ids = {path.stem for path in folder.glob("*.txt")}
    strangers = tuple(f"no check has certificates {each}" for each in sorted(ids - set(known)))
    missing = tuple(f"no certificates of {each}" for each in sorted(set(known) - ids))
    found = strangers + missing
    verdict = Verdict.REFUTED if found else Verdict.PROVED
    return Outcome(verdict=verdict, detail=f"{len(ids)} files", trace=found)


def recheck_checks(table: Table = TABLE) -> tuple[Check, ...]:
    """One check for each that is decided by obligations, and two for all together."""
    found = tuple(claims(table))

    def check(id: str, statement: str, expected: Verdict, run: Callable[[], Outcome]) -> Check:  # noqa: A002
        return Check(
            id=id,
            property="certificate",
            statement=statement,
            reach=Reach.ALL_RANKS,
            scope="any W, any counts, any settings",
            expected=expected,
            run=run,
        )

    return (
        *(
            check(
                f"certificate.{each.id}",
                f"Z3 and cvc5 without quantifiers find the goals from the named instances: "
                f"{each.statement}",
                Verdict.PROVED,
                partial(holds, each),
            )
            for each in found
        ),
        check(
            "certificates.complete",
            "every check that is decided by obligations has certificates, and no other",
            Verdict.PROVED,
            partial(_superfluous, [each.id for each in found]),
        ),
        check(
            "control.certificates",
            f"of each {SAMPLED_EVERY}th certificate one instance can be left out",
            Verdict.REFUTED,
            partial(is_minimal, found[::SAMPLED_CHECKS]),
        ),
    )
