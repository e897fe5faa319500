"""What the invariant implies for rounds and for the end: feasibility, alignment, coverage, quota.

Rules kept here:
1. These are consequences: the invariant is assumed, and nothing is assumed beside it.
2. Where something must exist (an assignment, a batch size), the value is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from dgap.protocol.expr import Formula, Name, Node, Term, conjoin, implies, lesser, rebuild
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Row, Table
from dgap.protocol.vocabulary import EffectKind, EventKind, Phase, argument, state

from .actions import ACTOR, takes_part
from .agreed import final_at, verdict_at
from .asking import Obligation, Obligations, parametric
from .check import Check
from .invariant_rank import JOIN, QUOTA, A, is_in, zero
from .invariant_world import invariant
from .obligations_decision import B
from .obligations_invariant import action_scenes
from .parametric import Scene
from .terms import Agreed, Rank


def with_arguments(formula: Formula, values: Mapping[str, Term]) -> Formula:
    """The formula with arguments of the event replaced by terms."""

    def change(node: Node) -> Node:
        if isinstance(node, Name) and node.scope == "event":
            return values.get(node.name, node)
        return rebuild(node, change)

    changed = change(formula)
    if not isinstance(changed, Formula):
        raise TypeError(f"{formula} did not stay a formula")
    return changed


def rows_for(table: Table, event: EventKind) -> tuple[Row, ...]:
    """The rows that answer an event, in any phase."""
    return tuple(row for row in table.rows if row.event == event)


def at_rest(table: Table, *assumed: Formula) -> Scene:
    """A reachable state in which nothing happens just now."""
    return Scene(table, invariant(table), None, assumed=assumed)


Goal = Callable[[Table], Iterator[Obligation]]

GROUPS = lesser(state("offered"), state("owed_steps"))
"""min(n, T)."""

ASSIGNED: Mapping[str, Term] = {"assigned": state("offered")}
"""A rank may always assign all it offers: no window is forced to carry samples over."""

LAST_BATCH: Mapping[str, Term] = {
    "samples": state("owed_samples") - state("owed_groups") + 1,
}
"""A batch size that leaves one sample to each later group."""


def _assignment(table: Table) -> Iterator[Obligation]:
    scene = at_rest(table, is_in(ACTOR, Phase.TALLY))
    for row in rows_for(table, EventKind.SUMMED):
        goal = with_arguments(row.guard, ASSIGNED)
        yield Obligation(name=f"{row.name}: all of it", scene=scene, goal=goal)


def _groups(table: Table) -> Iterator[Obligation]:
    for row in rows_for(table, EventKind.SUMMED):
        scene = action_scenes(table)[row.name]
        changed = _changed(row)
        groups, samples = changed["owed_groups"], changed["owed_samples"]
        fits = state("owed_steps") >= state("needed") * A
        goals = {
            "exactly min(n, T) groups": groups.equals(GROUPS),
            "one sample for each group at least": samples >= groups,
            "T groups without accumulation": implies(
                A.equals(1) & (state("offered") >= 1), groups.equals(state("owed_steps"))
            ),
            "nothing carried over when all fits": implies(fits, changed["held"].equals(0)),
        }
        for name, goal in goals.items():
            yield Obligation(name=name, scene=scene, goal=goal)


def _changed(row: Row) -> dict[str, Term]:
    """What the row makes of each field it updates."""
    return dict(row.updates)


def _batches(table: Table) -> Iterator[Obligation]:
    owing = at_rest(table, is_in(ACTOR, Phase.EMIT), ACTOR["owed_groups"] >= 1)
    for row in rows_for(table, EventKind.DELIVER):
        goal = with_arguments(row.guard, LAST_BATCH)
        yield Obligation(name="some batch may be delivered", scene=owing, goal=goal)
        scene, changed = action_scenes(table)[row.name], _changed(row)
        goals = {
            "no batch is empty": argument("samples") >= 1,
            "one group less": changed["owed_groups"].equals(state("owed_groups") - 1),
            "the last batch takes what is left": implies(
                changed["owed_groups"].equals(0), changed["owed_samples"].equals(0)
            ),
        }
        for name, goal in goals.items():
            yield Obligation(name=name, scene=scene, goal=goal)


def ends_by_verdict(rank: Rank) -> Formula:
    """The rank is at rest because of a verdict, not of a broken collective."""
    return is_in(rank, Phase.CLOSED, Phase.FAILED) & final_at(rank["left"])


def _closing(table: Table) -> Iterator[Obligation]:
    scene = at_rest(table, ends_by_verdict(ACTOR), ends_by_verdict(B))
    both_go_on = zero(ACTOR, "ended") & zero(B, "ended")
    goals = {
        "they left the same gather": ACTOR["left"].equals(B["left"]),
        "with the same verdict": verdict_at(ACTOR["left"]).equals(verdict_at(B["left"])),
        "after the same steps": implies(both_go_on, ACTOR["steps"].equals(B["steps"])),
        "after the same rounds": ACTOR["rounds"].equals(B["rounds"]),
    }
    for name, goal in goals.items():
        yield Obligation(name=name, scene=scene, goal=goal)


def _loops(table: Table) -> Iterator[Obligation]:
    scene = at_rest(table, takes_part(ACTOR), takes_part(B))
    yield Obligation(name="one step apart", scene=scene, goal=ACTOR["done"] <= B["done"] + 1)
    here = at_rest(table, ACTOR["left"].equals(B["left"]), zero(ACTOR, "ended"), zero(B, "ended"))
    emitted = (ACTOR["steps"] + ACTOR["owed_steps"]).equals(B["steps"] + B["owed_steps"])
    yield Obligation(name="same steps in the same round", scene=here, goal=emitted)


def _complete(rank: Rank) -> Formula:
    closed = verdict_at(rank["left"]).equals(int(EffectKind.CLOSE))
    return is_in(rank, Phase.CLOSED) & closed


def _coverage(table: Table) -> Iterator[Obligation]:
    scene = at_rest(table, _complete(ACTOR), JOIN)
    delivered = ACTOR["delivered"].equals(ACTOR["source"])
    nowhere_else = zero(ACTOR, "unread", "held", "owed_samples", "lost", "dropped")
    yield Obligation(name="all delivered", scene=scene, goal=delivered)
    yield Obligation(name="none elsewhere", scene=scene, goal=nowhere_else)


def _quota(table: Table) -> Iterator[Obligation]:
    scene = at_rest(table, _complete(ACTOR), QUOTA)
    exact = ACTOR["delivered"].equals(ACTOR["share"]) & zero(ACTOR, "remaining", "lost")
    yield Obligation(name="exactly the share", scene=scene, goal=exact)


def _failing(table: Table) -> Iterator[Obligation]:
    failed = verdict_at(ACTOR["left"]).equals(int(EffectKind.FAILED))
    scene = at_rest(table, is_in(ACTOR, Phase.FAILED), final_at(ACTOR["left"]), failed)
    scene.assumed = (*scene.assumed, ends_by_verdict(B))
    origins = (Agreed("origin_at", rank["left"]) for rank in (ACTOR, B))
    first, second = origins
    goals = {
        "the same verdict": verdict_at(B["left"]).equals(int(EffectKind.FAILED)),
        "the same origin": first.equals(second),
        "after the same steps": implies(
            zero(ACTOR, "ended") & zero(B, "ended"), ACTOR["steps"].equals(B["steps"])
        ),
    }
    for name, goal in goals.items():
        yield Obligation(name=name, scene=scene, goal=goal)
    for row in rows_for(table, EventKind.GATHERED):
        if any(ask.kind == EffectKind.FAILED for ask in row.asks):
            named = action_scenes(table)[row.name]
            failed_b = B.said("failed", ACTOR["entered"]) >= 1
            lowest = implies(failed_b, row.asks[0].argument <= B.said("rank", ACTOR["entered"]))
            yield Obligation(name="the lowest failed rank", scene=named, goal=lowest)
            target = conjoin(ACTOR["phase"].equals(Phase.FAILED))
            yield Obligation(name="leads to FAILED", scene=named, goal=target, after=True)


def round_checks(table: Table = TABLE) -> tuple[Check, ...]:
    """Consequences of the invariant."""

    def check(id: str, promised: str, statement: str, goal: Goal) -> Check:  # noqa: A002
        obligations: Obligations = lambda: goal(table)  # noqa: E731
        return parametric(id, promised, statement, obligations)

    return (
        check(
            "feasible.assignment",
            "S3",
            "whatever T is, a rank can place its samples in groups",
            _assignment,
        ),
        check("feasible.groups", "S3", "a rank owes exactly min(n, T) non-empty groups", _groups),
        check("feasible.batches", "S3", "every owed group can be delivered, none empty", _batches),
        check(
            "aligned.end",
            "S2",
            "all ranks end by the same gather, after the same number of steps",
            _closing,
        ),
        check("aligned.loops", "S2", "training loops differ by at most one step", _loops),
        check(
            "coverage.join",
            "S5",
            "join: a rank that closed has delivered every sample of its source",
            _coverage,
        ),
        check(
            "quota.exact",
            "S6",
            "quota: a rank that closed has delivered exactly its share",
            _quota,
        ),
        check(
            "failure.aligned",
            "S10",
            "a failure ends all ranks at one step, naming the lowest failed rank",
            _failing,
        ),
    )
