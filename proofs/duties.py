"""What each obligation is there for: a mutant that it refutes, or the reason why there is none.

Rules kept here:
1. An obligation that refutes no mutant and for which no reason is given is to be removed.
2. Most are the first to kill some mutant, which the matrix shows. The others come later in its
   order; a mutant that each refutes is named here, and the check asks them of it.
3. A reason is given only where no mutant can help: the obligation does not read what they change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table

from .asking import Claim, discharge
from .check import Check, Outcome, Reach, Verdict
from .kill import is_touched, obligations_of
from .kill_matrix import recorded
from .mutants import mutants
from .obligations import by_id

REFUTES: Mapping[str, str] = {
    "age.bound": "summed.guard:dropped",
    "age.kept": "read.target:FILL→TALLY",
    "age.read": "read.guard:dropped",
    "announced.delivered": "deliver.delivered:dropped",
    "collectives.again": "turn.guard.0:==→!=",
    "commute.loop": "end.guard.7:0→-1",
    "commute.unseen": "idle.steps:dropped",
    "crash.accepted": "break_offer.target:FAILED→EMIT",
    "deadlock.free": "read.row:dropped",
    "decision.total": "verdict_stop.guard.6:any→all",
    "failure.aligned": "verdict_step.ask:TALLY→FAILED",
    "feasible.assignment": "summed.guard.2:>=→==",
    "feasible.batches": "deliver.guard.16:or→left",
    "feasible.groups": "summed.guard.20:==→<=",
    "identity.chains": "verdict_step.guard.6:0→-1",
    "invariant.aligned_trainers": "idle.guard.21:or→and",
    "invariant.calm": "verdict_step.guard.3:and→or",
    "invariant.complete": "report.dry:dropped",
    "invariant.goes_on": "verdict_step.ask:TALLY→FAILED",
    "invariant.losses": "verdict_restart.exhausted.0:0→1",
    "invariant.nothing_owed": "summed.target:EMIT→CLOSED",
    "invariant.own_report": "deliver.target:EMIT→OFFER",
    "invariant.passes": "read.target:FILL→TALLY",
    "invariant.passed": "break_offer.ask:ABANDON→TALLY",
    "invariant.position": "deliver.target:EMIT→OFFER",
    "invariant.quota": "fail_emitting.owed_samples:dropped",
    "invariant.quota_progress": "read.target:FILL→TALLY",
    "invariant.ready": "offer.guard.23:0→1",
    "invariant.restarts": "verdict_restart.passes:dropped",
    "invariant.round_progress": "verdict_step.rounds.2:1→2",
    "invariant.source": "verdict_fail.ask:FAILED→RESTART",
    "invariant.step_count": "verdict_step.guard.16:0→1",
    "invariant.trainer": "idle.steps.0:+→-",
    "measure.quota": "report.dry.3:and→left",
    "measure.rounds": "verdict_step.ask:TALLY→FAILED",
    "ranges.counts": "verdict_step.owed_steps.0:*→+",
    "ranges.rows": "offer.guard:dropped",
    "refines.invariant": "turn.target:FILL→CLOSED",
    "refines.moves": "turn.target:FILL→CLOSED",
    "step_count.least_offer": "verdict_step.guard.6:0→-1",
    "step_count.positive": "verdict_step.guard.6:0→-1",
    "step_count.real": "verdict_step.guard.6:0→-1",
    "step_count.unit": "verdict_step.guard.6:0→-1",
    "step_count.widest": "verdict_step.guard.6:0→-1",
    "table.total": "read.row:dropped",
    "table.exclusion": "end.guard.9:and→or",
}
"""Check and a mutant that it refutes, although an earlier check kills that mutant."""

_CONSEQUENCE = "follows from the invariant alone and says what the invariant is for"
_READERS = "what readers of a table rely on; no mutant renames, adds or reorders anything"
ARGUED: Mapping[str, str] = {
    "aligned.end": _CONSEQUENCE,
    "aligned.loops": _CONSEQUENCE,
    "collectives.counted": _CONSEQUENCE,
    "table.impossible": _CONSEQUENCE,
    "commute.ranks": "follows from who reads whose state, which no mutant of a row changes",
    "coverage.join": _CONSEQUENCE,
    "quota.exact": _CONSEQUENCE,
    "identity.moves": "about moves of samples; that rows are such moves is identity.chains",
    "identity.coverage": "about places of samples; that a rank has emptied them is coverage.join",
    "measure.loops": "about the training loop's own moves, which are no rows",
    "invariant.skew": "the collective's own promise (A1), and what pairs of ranks rest on",
    "table.shape": _READERS,
    "decision.agreement": _READERS,
}
"""Check and why no mutant can be refuted by it."""


def unaccounted(
    ids: Iterable[str],
    first_killers: Iterable[str],
    refutes: Mapping[str, str],
    argued: Mapping[str, str],
) -> list[str]:
    """Checks without a duty, with a duty and a reason, and names of no check."""
    known, first = set(ids), set(first_killers)
    found = [f"{id_} refutes no mutant" for id_ in sorted(known - first - {*refutes, *argued})]
    found += [f"{id_} needs no reason" for id_ in sorted(set(argued) & (first | set(refutes)))]
    found += [f"there is no check {id_}" for id_ in sorted({*refutes, *argued} - known)]
    return found


def refutes(check: Check, table: Table) -> bool:
    """Whether the check refutes the table; obligations about the changed row are asked first."""
    if not isinstance(check, Claim):
        return check.run().verdict == Verdict.REFUTED
    asked = sorted(obligations_of(check), key=lambda each: not is_touched(each, table))
    return any(discharge(each).verdict == Verdict.REFUTED for each in asked)


def _accounted() -> Outcome:
    defects = unaccounted(by_id(TABLE), recorded().killers.values(), REFUTES, ARGUED)
    tables = {mutant.id: mutant.table for mutant in mutants()}
    for id_, mutant in REFUTES.items():
        if mutant not in tables:
            defects.append(f"{id_}: there is no mutant {mutant}")
        elif not refutes(by_id(tables[mutant])[id_], tables[mutant]):
            defects.append(f"{id_} does not refute {mutant}")
    verdict = Verdict.REFUTED if defects else Verdict.PROVED
    detail = f"{len(by_id(TABLE))} checks, {len(REFUTES)} asked of a mutant, {len(ARGUED)} argued"
    reasons = tuple(f"{id_}: {why}" for id_, why in ARGUED.items())
    return Outcome(verdict=verdict, detail=detail, trace=tuple(defects) or reasons)


def duty_checks() -> tuple[Check, ...]:
    """Every obligation is there for something."""
    return (
        Check(
            id="mutants.duties",
            property="mutation",
            statement="every obligation refutes a mutant, or it is said why none can help",
            reach=Reach.ALL_RANKS,
            scope="every check that is asked of tables",
            expected=Verdict.PROVED,
            run=_accounted,
        ),
    )
