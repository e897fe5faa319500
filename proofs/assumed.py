"""Which of the assumptions A1..A9 each check rests on, and that this is what was declared.

Rules kept here:
1. What a proof assumes is read off its certificates, which are checked and minimal. Beside that
   stands a table written by hand; a difference in either direction fails.
2. A proof that uses the invariant rests on all that the proofs of the used conjuncts rest on.
3. An assumption that no check rests on is only monitored, and the ledger says why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial

from dgap.protocol.table import TABLE
from dgap.spec.assumptions import ASSUMPTIONS, Assumption

from .asking import Claim
from .certificate import recorded
from .check import Check, Outcome, Reach, Verdict
from .invariant_undisturbed import UNDISTURBED
from .obligations_ranges import COUNTED
from .second_opinion import claims

OF_PROOFS = ("A2", "A7")
"""Every proof for all W: ranks are one sort, integers have no bound (by construction)."""
WITH_A1 = ("A8",)
"""Where the collectives keep A1, nobody else is in them (by construction)."""

DECLARED: Mapping[str, str] = {
    "collectives.again": "A6",
    "commute.loop": "A3",
    "commute.ranks": "A3",
    "commute.unseen": "A3",
    "deadlock.free": "A6",
    "decision.origin": "A1",
    "decision.total": "A1",
    "decision.verdicts": "A1",
    "failure.aligned": "A1",
    "groups.part": "A5",
    "invariant.aligned_trainers": "A4",
    "invariant.alignment": "A1 A6",
    "invariant.calm": "A1",
    "invariant.complete": "A1 A6",
    "invariant.ended": "A1 A6",
    "invariant.goes_on": "A1 A6",
    "invariant.idle": "A1",
    "invariant.losses": "A1 A3",
    "invariant.matching": "A1 A6",
    "invariant.passed": "A1 A6",
    "invariant.passes": "A1",
    "invariant.published": "A1 A6",
    "invariant.quota_progress": "A1",
    "invariant.restarts": "A1 A6",
    "invariant.round_progress": "A1 A3",
    "invariant.skew": "A1",
    "invariant.source": "A1 A3",
    "invariant.step_count": "A1",
    "invariant.trainer": "A4 A6",
    "invariant.types": "A3 A4",
    "invariant.window": "A6",
    "measure.loops": "A4",
    "measure.round": "A3",
    "measure.rounds": "A1",
    "ranges.counts": "A1 A3 A6 A7",
    "ranges.rows": "A1 A6 A7",
    "reception.idle": "A6",
    "refines.invariant": "A1 A4 A6",
    "refines.moves": "A4 A6",
    "step_count.least_offer": "A1",
    "step_count.policy": "A1",
    "step_count.real": "A1",
}
"""What the hypotheses of a proof assume, beside the invariant; a check not named here, nothing."""

_OTHER_READER = re.compile(r"(?:cvc5|seeds|certificate|planted\.\w+)\.(?P<id>.+)")
_CONJUNCT = re.compile(r"invariant\.(\w+) at ")
_BY_ACTION = "invariant."
"""How the ids of other readers begin that ask for the whole invariant after one action."""
_PROVED_BY: Mapping[str, str] = {
    **{each.name: "refines.invariant" for each in UNDISTURBED},
    **{each.name: "ranges.counts" for each in COUNTED},
}
"""The check of a conjunct that has none of its own."""


@cache
def used(id_: str) -> frozenset[str]:
    """What the certificates of a check assume themselves."""
    return frozenset(
        assumption
        for each in recorded(id_)
        for instance in each.instances
        for assumption in instance.assumptions
    )


@cache
def lemmas(id_: str) -> frozenset[str]:
    """The checks of the conjuncts that the certificates of a check name."""
    instances = (one.name for each in recorded(id_) for one in each.instances)
    names = {match[1] for name in instances if (match := _CONJUNCT.match(name))}
    return frozenset(_PROVED_BY.get(name, f"invariant.{name}") for name in names)


@cache
def rests_on(id_: str) -> frozenset[str]:
    """What a proof assumes itself and through the conjuncts that it uses, in the end."""
    seen: set[str] = set()
    waiting = [id_]
    while waiting:
        each = waiting.pop()
        if each not in seen:
            seen.add(each)
            waiting += lemmas(each)
    found = frozenset[str]().union(*(used(each) for each in seen))
    return found | frozenset(OF_PROOFS) | frozenset(WITH_A1 if "A1" in found else ())


def assumptions_of(check: Check) -> tuple[str, ...]:
    """The ids of the assumptions that a check rests on, in order."""
    match = _OTHER_READER.fullmatch(check.id)
    asked = match["id"] if match else check.id
    if recorded(asked):
        return tuple(sorted(rests_on(asked)))
    if match and asked.startswith(_BY_ACTION):
        conjuncts = [each.id for each in _claims() if each.id.startswith(_BY_ACTION)]
        return tuple(sorted(frozenset[str]().union(*map(rests_on, conjuncts))))
    return check.assumptions


@cache
def _claims() -> tuple[Claim, ...]:
    return tuple(claims(TABLE))


def undeclared(ids: Iterable[str], declared: Mapping[str, str]) -> Iterator[str]:
    """Where what a proof assumes is not what was declared, and declarations of no check."""
    known = set(ids)
    for id_ in sorted(known):
        said = frozenset(declared.get(id_, "").split())
        yield from (f"{id_} uses {each}, undeclared" for each in sorted(used(id_) - said))
        yield from (f"{id_} declares {each}, unused" for each in sorted(said - used(id_)))
        yield from (f"{id_} uses {each}, which is no check" for each in lemmas(id_) - known)
    yield from (f"there is no check {each}" for each in sorted(set(declared) - known))


def unused(checks: Sequence[Check], ledger: Sequence[Assumption]) -> Iterator[str]:
    """Assumptions that no check rests on and that are not only monitored, or the reverse."""
    found = {id_ for check in checks for id_ in assumptions_of(check)}
    for each in ledger:
        if each.id not in found and not each.only_monitored:
            yield f"no check rests on {each.id}; say why it is only monitored, or drop it"
        if each.id in found and each.only_monitored:
            yield f"{each.id} is said to be only monitored, but a check rests on it"
    yield from (f"{id_} is no assumption" for id_ in sorted(found - {each.id for each in ledger}))


def _outcome(defects: Iterable[str], detail: str) -> Outcome:
    found = tuple(defects)
    verdict = Verdict.REFUTED if found else Verdict.PROVED
    return Outcome(verdict=verdict, detail=found[0] if found else detail, trace=found)


def _as_declared() -> Outcome:
    ids = [each.id for each in _claims()]
    return _outcome(undeclared(ids, DECLARED), f"{len(ids)} checks")


def _ledger(others: Sequence[Check]) -> Outcome:
    return _outcome(unused(others, ASSUMPTIONS), f"{len(ASSUMPTIONS)} assumptions")


def assumption_checks(others: Sequence[Check]) -> tuple[Check, ...]:
    """That declarations and ledger agree with what the other checks rest on."""
    check = partial(Check, property="assumptions", reach=Reach.ALL_RANKS, expected=Verdict.PROVED)
    return (
        check(
            id="assumptions.declared",
            statement="each proof assumes what it declares: nothing more, by its certificates, "
            "and no less",
            scope="every check that is decided by obligations",
            run=_as_declared,
        ),
        check(
            id="assumptions.ledger",
            statement="every assumption of the ledger is needed by a check, or only monitored for "
            "a reason",
            scope="every check",
            run=partial(_ledger, others),
        ),
    )
