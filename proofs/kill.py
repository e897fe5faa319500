"""Which check kills a mutant: the first, in a fixed order, that refutes the changed table.

Rules kept here:
1. A killer is a row of the manifest, asked of the mutant as it is asked of the protocol. Only a
   refutation kills: what is unknown, late or cannot be asked of a table does not.
2. The cheap come first: what is read off the table, when its events are taken, the invariant
   after the changed row, the other obligations that the change touches, the explorer's families.
3. Equivalence is asked before what is dear: a mutant that does the same has no killer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from dgap.protocol.expr import Formula, Name, walk
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Row, Table
from dgap.protocol.vocabulary import EffectKind

from .asking import Claim, Obligation, discharge
from .check import Verdict
from .equivalence import equivalence
from .invariant_world import invariant
from .kill_explored import killed_by_exploration
from .mutants import Mutant
from .obligations import CHEAP, OTHERS, Builder
from .obligations_decision import decision_checks
from .obligations_effects import effect_checks
from .obligations_invariant import action_scenes, concerned
from .parametric import Conjunct, Scene
from .solver import Z3, Theory, every, holds
from .terms import Rank

EQUIVALENT = "equivalent"
SURVIVES = "survives"

TIMEOUT_MS = 4_000
"""Refutations are found in milliseconds; a mutant is not worth waiting for longer."""


def killer(mutant: Mutant) -> str:
    """The id of the first check that refutes the mutant, EQUIVALENT, or SURVIVES."""
    table = mutant.table
    updates_stay = all(
        _same_updates(old, new) for old, new in zip(TABLE.rows, table.rows, strict=False)
    )
    return (
        killed_on_sight(table)
        or killed_by_claim(table, CHEAP)
        or (EQUIVALENT if updates_stay and is_equivalent(table) else "")
        or killed_by_invariant(table)
        or killed_by_claim(table, OTHERS)
        or (EQUIVALENT if not updates_stay and is_equivalent(table) else "")
        or killed_by_exploration(table)
        or SURVIVES
    )


def _same_updates(old: Row, new: Row) -> bool:
    return (old.updates, old.asks) == (new.updates, new.asks)


def killed_on_sight(table: Table) -> str:
    """The first check that reads the table alone and refutes it, or nothing."""
    for check in (*decision_checks(table), *effect_checks(table)):
        if not isinstance(check, Claim) and check.run().verdict == Verdict.REFUTED:
            return check.id
    return ""


def touched(table: Table) -> tuple[str, ...]:
    """The rows whose obligations a change concerns: those changed, or all that read a report."""
    if table.report != TABLE.report:
        reads = {row.name for row in table.rows if row.asks and row.asks[0].kind in _READERS}
        return tuple(row.name for row in table.rows if row.name in reads)
    known = set(TABLE.rows)
    return tuple(row.name for row in table.rows if row not in known)


_READERS = (
    EffectKind.GATHER,
    EffectKind.TALLY,
    EffectKind.RESTART,
    EffectKind.CLOSE,
    EffectKind.STOPPED,
    EffectKind.FAILED,
)


def killed_by_invariant(table: Table) -> str:
    """The first conjunct that a touched row does not preserve, or nothing."""
    broken = [
        place
        for name in touched(table)
        if (place := _first_broken(table, action_scenes(table)[name])) is not None
    ]
    return f"invariant.{invariant(table)[min(broken)].name}" if broken else ""


def _first_broken(table: Table, scene: Scene) -> int | None:
    """The place in the invariant of the first conjunct that the scene's action breaks."""
    changed = _changed_fields(scene)
    asked = [
        (place, scene.then(formula))
        for place, formula, fields in _formulas(invariant(table), scene.ranks)
        if fields & changed
    ]
    theory = scene.theory
    theory.limit(TIMEOUT_MS)
    at = first_refuted(theory, [goal for _, goal in asked])
    if at is not None:
        return asked[at][0]
    # a row that can never apply proves nothing: then the first conjunct already fails
    return 0 if theory.witness().verdict == Verdict.REFUTED else None


def _changed_fields(scene: Scene) -> frozenset[str]:
    """The fields that the action of a scene may change; the others stay as the invariant says."""
    action = scene.action
    if action is None:
        return frozenset()
    stays = "phase" if action.row and action.row.phase == action.row.target else ""
    return frozenset(name for name, _ in action.updates if name != stays)


@cache
def _formulas(
    conjuncts: tuple[Conjunct, ...], ranks: tuple[Rank, ...]
) -> tuple[tuple[int, Formula, frozenset[str]], ...]:
    """The place of each conjunct, the conjunct at the ranks concerned, the fields that it reads."""
    return tuple(
        (place, formula, frozenset(_fields(formula)))
        for place, conjunct in enumerate(conjuncts)
        for formula in concerned(conjunct, ranks)
    )


def _fields(formula: Formula) -> Iterator[str]:
    names = (node.name for node in walk(formula) if isinstance(node, Name))
    return (name.rpartition(".")[2] for name in names)


def first_refuted(theory: Theory, goals: Sequence[Z3]) -> int | None:
    """The place of the first goal that is refuted, whichever the solver finds at first.

    Where all goals together are unknown they are asked one by one.
    """
    found: int | None = None
    while found != 0:
        before = goals if found is None else goals[:found]
        answer = theory.implies(every(before))
        if answer.verdict == Verdict.PROVED:
            return found
        failing = (at for at, goal in enumerate(before) if not holds(answer.model, goal))
        at = next(failing, None) if answer.model is not None else None
        if at is None:
            return next((n for n, goal in enumerate(before) if _refuted(theory, goal)), found)
        found = at
    return found


def _refuted(theory: Theory, goal: Z3) -> bool:
    return theory.implies(goal).verdict == Verdict.REFUTED


Key = tuple[object, ...]


def killed_by_claim(table: Table, builders: Sequence[Builder]) -> str:
    """The first check with an obligation that the change touches and that is refuted."""
    for build in builders:
        for check in build(table):
            if isinstance(check, Claim) and _refutes(check, table):
                return check.id
    return ""


def _refutes(claim: Claim, table: Table) -> bool:
    for obligation in obligations_of(claim):
        if _key(obligation) not in _asked_of_protocol()[claim.id] or is_touched(obligation, table):
            obligation.term()  # reads the aggregates of the goal before the theory is closed
            obligation.scene.theory.limit(TIMEOUT_MS)
            if discharge(obligation).verdict == Verdict.REFUTED:
                return True
    return False


def obligations_of(claim: Claim) -> Iterator[Obligation]:
    """The claim's obligations, as far as they can be asked of its table.

    Some look for the row of the verdict STEP, or for a field that a row sets. Where a mutant has
    none the claim cannot be asked, and does not kill it.
    """
    try:
        yield from claim.obligations()
    except (IndexError, KeyError, ValueError):
        return


def is_touched(obligation: Obligation, table: Table) -> bool:
    """Whether the obligation is about a row that the change concerns."""
    action = obligation.scene.action
    return action is not None and action.name in touched(table)


def _key(obligation: Obligation) -> Key:
    scene = obligation.scene
    return (obligation.name, obligation.goal, obligation.after, scene.action, scene.assumed)


@cache
def _asked_of_protocol() -> Mapping[str, frozenset[Key]]:
    """The obligations of the protocol itself: those that a mutant shares hold."""
    checks = (check for build in (*CHEAP, *OTHERS) for check in build(TABLE))
    return {
        check.id: frozenset(_key(each) for each in check.obligations())
        for check in checks
        if isinstance(check, Claim)
    }


def is_equivalent(table: Table) -> bool:
    """Whether the mutant provably does what the protocol does, wherever the protocol gets."""
    obligations = equivalence(table)
    for obligation in obligations:
        goal = obligation.term()
        obligation.scene.theory.limit(TIMEOUT_MS)
        if obligation.scene.theory.implies(goal).verdict != Verdict.PROVED:
            return False
    return bool(obligations)
