"""`python -m dgap.proofs explain ID`: what a promise says, why that is enough, how it is checked.

Rules kept here:
1. Statements, formulas, checks and mutants are read off specification, manifest and kill matrix;
   only the reasons (`WHY`) are written here, and every promise has one.
2. Nothing is solved or explored: what a check found is `python -m dgap.proofs --trace ID`.
3. Five parts, none empty: statement, why it is enough, encoding, cutoff, mutants.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from dgap.protocol.diagram import infix
from dgap.spec.laws import LAWS, Law
from dgap.spec.properties import PROPERTIES, Property
from dgap.spec.witnesses import WITNESSES

from .asking import Claim, ranks_named
from .check import Check, Reach, Verdict
from .duties import ARGUED, REFUTES
from .kill_matrix import KillMatrix
from .sequence import counted

WHY: Mapping[str, str] = {
    "S1": "A verdict that reads the gathered vector and shared settings alone is the same on all "
    "ranks that see the same vector (A1, A6). So ranks can part only by being in different rounds, "
    "and no rank gets more than one round ahead, since a gather needs everybody.",
    "S2": "Each step of training is a collective. Loops that are never more than one step apart, "
    "and equal at the end, enter the same collectives in the same order: none waits for a step "
    "that a peer does not take.",
    "S3": "A rank that offers n samples can fill min(n, T) steps with samples, one each at least. "
    "With T at most n it fills all of them, so a step without samples is taken only by a rank that "
    "has none left, and no batch is empty.",
    "S4": "Places that are disjoint, exhaustive and moved between one sample at a time leave no "
    "room for a loss or a copy: what is not delivered can be pointed at.",
    "S5": "A rank closes only when every report says that it offers nothing, and a rank that "
    "offers nothing has an empty window and an exhausted source. By S4 all its samples are then "
    "delivered. The bug of the original is a report that says so too early.",
    "S6": "A rank reads no more than it may still deliver, so its share is met and never passed; "
    "the shares of all ranks add up to the quota.",
    "S7": "A group that fits still fits when a sample is taken out. So a grouping that starts from "
    "groups under the budget, leaves some for later and splits others stays under it, and reaches "
    "min(n, T) groups. That the grouping of the runtime does only this is tested, not proved.",
    "S8": "The weight of a batch is W times its share of the step's targets; the sums travel with "
    "the round, so all ranks divide by the same number, and averaging gives the global mean. The "
    "expression that is proved is the one that the runtime compiles; it divides once, as floats.",
    "S9": "A rank reads only while its window has room, and emits only while its queue has.",
    "S10": "A failure travels in the report, and a verdict is the same for all: so all ranks fail "
    "in one round, after the same number of steps, and name the same rank.",
    "S11": "A state that says what each loop has received, the same on all ranks, tells a new "
    "run exactly which samples are still to come.",
    "S12": "A sample has at most B - 1 older ones in its window. Each round in which it waits "
    "places the oldest, and samples read later stand behind it: its turn comes within B - 1 "
    "rounds, and some run makes it wait so long.",
    "L1": "Wherever a world stands, some rank or loop can move, or all are done. With the queues "
    "and the loops in the model, a wait for room is a wait that the model knows.",
    "L2": "Every round but the last takes a sample from each rank that has any; a measure that "
    "falls with every move and never below zero leaves no endless run. So the weakest fairness is "
    "enough, minimal progress: as long as somebody can move, somebody moves.",
    "L3": "A dead rank breaks the collective that its peers are in or enter next (A2), and every "
    "live phase accepts that event: no survivor is left waiting.",
    "R1": "A machine in which all ranks step at once is small enough to be judged by eye. Each "
    "real move is one of its moves, or none, so what it cannot do, the protocol cannot.",
}

WIDTH = 100
PARTS = ("statement", "why it is enough", "encoding", "cutoff", "mutants")
"""Titles, each alone on its line with a colon; the checks stand under the cutoff."""

STATED: Mapping[str, str] = {
    "R1": "every move of a world is a move of the machine of spec/abstract.py, in which all ranks "
    "step at once, or changes nothing there",
}
"""Promises that are no formula over states."""

MISSING: Mapping[str, str] = {
    "S11": "does not exist yet: the runtime cannot save and restore, so there is nothing to state",
}
"""Promises that are still to be kept."""

_FOR_ALL = (
    "for all W: ranks are an uninterpreted sort, aggregates have a bound and a witness; no "
    "function leads into the sort, so the named ranks of an obligation (the acting rank, those "
    "of the conjunct, one witness for each aggregate) are all that a counterexample needs"
)
_FIGURES = (
    "costs, targets, weights and ages are integers without bound; the rules that make them "
    "(protocol/figures.py) become terms as the rows of the table do"
)
_EXPLORED = (
    "exhaustive: every interleaving of ranks, queues and loops, with every choice of arguments "
    "that the table takes, up to the bounds of each check"
)
RULES_OF = ("S7", "S8")
"""Promises about the rules of cost and weight, which have mutants of their own (mutants.rules)."""

SHOWN_MUTANTS = 5
_FAMILY_LETTER = re.compile(r"^([SLR]\d+)[a-z]?$")


def promise_of(name: str) -> str:
    """ "S1" for "S1" and "S1b"; nothing for what names no promise."""
    match = _FAMILY_LETTER.match(name)
    return match.group(1) if match and match.group(1) in WHY else ""


def is_promise(name: str) -> bool:
    """Whether `explain_promise` has something to say of it."""
    return name in {*WHY, *(each.id for each in PROPERTIES), *(each.id for each in LAWS)}


def explain_promise(name: str, checks: Sequence[Check], matrix: KillMatrix) -> tuple[str, ...]:
    """Statement, reason, encoding, cutoff, checks and mutants of a promise or one conjunct of it.

    Raises KeyError for an id that is none.
    """
    promise = promise_of(name)
    known: tuple[Property | Law, ...] = (*PROPERTIES, *LAWS)
    stated = [each for each in known if each.id == name or promise_of(each.id) == name]
    own = [each for each in checks if promise_of(each.property) == promise]
    if name != promise:  # one conjunct: the explorer's checks of it, and all proofs of the promise
        own = [each for each in own if each.property in (name, promise)]
    missing = MISSING.get(name)
    parts = (
        _statement(name, stated),
        _wrapped(WHY[promise]),
        _encoding(stated, own) if missing is None else ["none yet"],
        [*_cutoff(own), *_checks(own)] if missing is None else ["none yet"],
        _mutants(promise, own, matrix) if missing is None else ["none yet"],
    )
    lines = [name]
    for title, part in zip(PARTS, parts, strict=True):
        lines += ["", f"{title}:", *(f"  {line}".rstrip() for line in part)]
    return tuple(lines)


def _statement(name: str, stated: Sequence[Property | Law]) -> list[str]:
    lines = [line for each in stated for line in _stated(each)]
    return lines or _wrapped(f"{name} {MISSING[name]}" if name in MISSING else STATED[name])


def _stated(each: Property | Law) -> Iterator[str]:
    yield from _wrapped(f"{each.id}: {each.statement}")
    if isinstance(each, Law):
        yield f"  at every group, batch or sample: {infix(each.formula)}"
        return
    yield f"  {each.kind}, at every rank: {infix(each.formula)}"
    witness = next((one for one in WITNESSES if one.id == each.witness), None)
    if witness is not None:
        yield f"  not empty words: {witness.statement} (seen.{witness.id})"


def _encoding(stated: Sequence[Property | Law], checks: Sequence[Check]) -> list[str]:
    reaches = {each.reach for each in checks}
    texts = [_FIGURES] if any(isinstance(each, Law) for each in stated) else []
    texts += [_FOR_ALL] if Reach.ALL_RANKS in reaches else []
    texts += [_EXPLORED] if Reach.EXHAUSTIVE in reaches else []
    return [line for text in texts for line in _wrapped(text)]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH)


def _cutoff(checks: Sequence[Check]) -> Iterator[str]:
    claims = [each for each in checks if isinstance(each, Claim)]
    if claims:
        named = max(ranks_named(each.obligations()) for each in claims)
        ranks = "rank" if named == 1 else "ranks"
        yield f"for all W: {named} named {ranks} at most in one obligation, whatever W is"
    if any(each.reach == Reach.EXHAUSTIVE for each in checks):
        yield "exhaustive: the bounds beside each check"


def _checks(checks: Sequence[Check]) -> Iterator[str]:
    known = {each.statement for each in PROPERTIES}
    for each in checks:
        control = "control, must be refuted: " if each.expected == Verdict.REFUTED else ""
        bounds = f" {each.scope}" if each.reach == Reach.EXHAUSTIVE else ""
        said = "" if each.statement in known else f"{control}{each.statement}; "
        yield f"  {each.id}: {said}{each.reach}{bounds}"


def _mutants(promise: str, checks: Sequence[Check], matrix: KillMatrix) -> list[str]:
    ids = [each.id for each in checks]
    killed = [mutant for mutant, by in matrix.killers.items() if by in ids]
    count = counted(len(killed), "change") if killed else "no change"
    lines = [f"{count} of the table killed by these checks before any other"]
    lines += [f"  {mutant} by {matrix.killers[mutant]}" for mutant in killed[:SHOWN_MUTANTS]]
    if len(killed) > SHOWN_MUTANTS:
        lines.append("  ... all in proofs/kill_matrix.json")
    lines += [f"  {REFUTES[id_]} is refuted by {id_} too" for id_ in ids if id_ in REFUTES]
    lines += [f"  {id_} is asked of none: {ARGUED[id_]}" for id_ in ids if id_ in ARGUED]
    if promise in RULES_OF:
        lines.append("the rules of cost and weight have changes of their own: mutants.rules")
    elif not killed:
        lines.append("every change is killed by a check of another promise")
    return lines


def explain_check(check: Check) -> tuple[str, ...]:
    """What one check claims."""
    control = check.expected == Verdict.REFUTED
    return (
        f"{check.id}: {check.statement}",
        f"property {check.property}; {check.reach}: {check.scope}",
        "a control: it must be refuted" if control else "it must be proved",
    )
