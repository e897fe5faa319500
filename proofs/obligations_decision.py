"""The decision, for any vector: one verdict, the same on all ranks, and T within its contract.

Rules kept here:
1. The verdicts and T are read off the rows; nothing of the decision is repeated.
2. Of the vector only what every report obeys is assumed (conjunct `published`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

from dgap.protocol.expr import (
    TRUE,
    Arithmetic,
    Const,
    Formula,
    Greatest,
    Name,
    Node,
    Term,
    conjoin,
    implies,
    walk,
)
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Row, Table
from dgap.protocol.vocabulary import LIVE, EffectKind, EventKind, State, reported, setting

from .actions import ACTOR, Action
from .agreed import GATHER, kind_at
from .asking import Obligation, parametric
from .check import Check, Outcome, Reach, Verdict
from .invariant_world import invariant
from .parametric import Scene
from .terms import Rank

B = Rank("b")
A = setting("accumulation")


def gather_rows(table: Table) -> tuple[Row, ...]:
    """The rows that answer a gathered vector."""
    return tuple(row for row in table.rows if row.event == EventKind.GATHERED)


def step_row(table: Table) -> Row:
    """The row of the verdict STEP. Raises ValueError unless there is exactly one."""
    (row,) = (r for r in gather_rows(table) if any(a.kind == EffectKind.TALLY for a in r.asks))
    return row


def step_count(table: Table) -> Term:
    """T, as the row of the verdict STEP sets it."""
    return dict(step_row(table).updates)["owed_steps"]


def vector_scene(table: Table, *assumed: Formula) -> Scene:
    """A gathered vector about which nothing is known but that ranks sent it."""
    published = [each for each in invariant(table) if each.name == "published"]
    number = ACTOR["entered"]
    gathered = Action(
        name="gathered", guard=TRUE, updates=(), awaited="entered", awaits=ACTOR["entered"]
    )
    scene = Scene(table, published, gathered, inductive=False)
    scene.assumed = (kind_at(number).equals(GATHER), number >= 1, *assumed)
    return scene


def _verdicts(table: Table) -> Iterator[Obligation]:
    scene = vector_scene(table)
    none = conjoin(*(~row.guard for row in gather_rows(table)))
    yield Obligation(name="some verdict", scene=scene, goal=~none)


def _exclusion(table: Table) -> Iterator[Obligation]:
    for first, second in combinations(table.rows, 2):
        if (first.phase, first.event) == (second.phase, second.event):
            scene = vector_scene(table)
            name = f"{first.name} and {second.name}"
            yield Obligation(name=name, scene=scene, goal=~(first.guard & second.guard))


def _agreement(table: Table) -> Outcome:
    """By scope: what is not named cannot have an influence."""
    strangers = []
    for row in gather_rows(table):
        owed = dict(row.updates).get("owed_steps", Const(0))
        expressions: tuple[Node, ...] = (row.guard, owed, *(ask.argument for ask in row.asks))
        for expression in expressions:
            names = (node for node in walk(expression) if isinstance(node, Name))
            strangers += [
                f"{row.name} reads {name.scope}.{name.name}"
                for name in names
                if name.scope not in ("setting", "report")
            ]
    verdict = Verdict.REFUTED if strangers else Verdict.PROVED
    count = len(gather_rows(table))
    return Outcome(verdict=verdict, detail=f"{count} rows by scope", trace=tuple(strangers))


def _shape(table: Table) -> Outcome:
    """What the other checks take for granted of any table."""
    names = [row.name for row in table.rows]
    defects = [f"two rows are named {name}" for name in names if names.count(name) > 1]
    for row in table.rows:
        updated = [name for name, _ in row.updates]
        if len(set(updated)) < len(updated) or not set(updated) <= set(State._fields[1:]):
            defects.append(f"{row.name} updates a field twice or one that is none")
        if row.phase not in LIVE:
            defects.append(f"{row.name} leaves the absorbing phase {row.phase.name}")
        if len(row.asks) > 1:
            defects.append(f"{row.name} asks for more than one effect")
    pairs = {(row.phase, row.event) for row in table.rows}
    refused = [
        f"refused: {event.name} in {phase.name}"
        for phase in LIVE
        for event in EventKind
        if (phase, event) not in pairs
    ]
    verdict = Verdict.REFUTED if defects else Verdict.PROVED
    detail = f"{len(names)} rows, {len(pairs)} pairs answered, {len(refused)} refused"
    return Outcome(verdict=verdict, detail=detail, trace=tuple(defects or refused))


def _about_t(table: Table, *names: str) -> Iterator[Obligation]:
    """Clauses of the contract on T; `b` is any rank that offers samples."""
    count, stepping = step_count(table), step_row(table).guard
    offers = B.said("offered", ACTOR["entered"])
    widest = Greatest(reported("needed"), reported("offered") > 0, Const(0))
    most = Greatest(reported("offered"), reported("offered") > 0, Const(0))
    told = step_row(table).asks[0].argument
    is_product = isinstance(count, Arithmetic) and count.operator == "*" and count.left == A
    goals: dict[str, Formula] = {
        "at least 1": count >= 1,
        "a multiple of A": TRUE if is_product else ~TRUE,
        "without accumulation at most n": implies(A.equals(1) & (offers >= 1), count <= offers),
        "T above n only where n < A": implies(
            (offers >= 1) & (count > offers), count.equals(A) & (offers < A)
        ),
        "at most what the fullest rank needs": (count <= widest * A) | count.equals(A),
        "each unit has a real batch": most > count - A,
        "the engine is told T": told.equals(count),
    }
    for name in names:
        scene = vector_scene(table, stepping)
        yield Obligation(name=name, scene=scene, goal=goals[name])


def contract_check(table: Table, id: str, statement: str, *names: str) -> Check:  # noqa: A002
    """A check of clauses of the contract on T."""
    return parametric(id, "S3", statement, lambda: _about_t(table, *names))


def _by_scope(
    id: str,  # noqa: A002
    promised: str,
    statement: str,
    decide: Callable[[], Outcome],
) -> Check:
    return Check(
        id=id,
        property=promised,
        statement=statement,
        reach=Reach.ALL_RANKS,
        scope="read off the table",
        expected=Verdict.PROVED,
        run=decide,
    )


def decision_checks(table: Table = TABLE) -> tuple[Check, ...]:
    """Everything about one vector and its verdict."""
    return (
        _by_scope(
            "table.shape",
            "S1",
            "closed and failed are absorbing, rows are sound",
            lambda: _shape(table),
        ),
        _by_scope(
            "decision.agreement",
            "S1",
            "verdict, T and origin read the vector and the shared settings only",
            lambda: _agreement(table),
        ),
        parametric(
            "table.exclusion",
            "S1",
            "no two rows for one phase and event apply at once",
            lambda: _exclusion(table),
        ),
        parametric("decision.total", "L1", "every vector has a verdict", lambda: _verdicts(table)),
        contract_check(table, "step_count.positive", "T >= 1", "at least 1"),
        contract_check(table, "step_count.unit", "T is a multiple of A", "a multiple of A"),
        contract_check(
            table,
            "step_count.least_offer",
            "T <= n of every offering rank, or T = A > n",
            "without accumulation at most n",
            "T above n only where n < A",
        ),
        contract_check(
            table,
            "step_count.widest",
            "T is at most what the fullest rank needs",
            "at most what the fullest rank needs",
        ),
        contract_check(
            table,
            "step_count.real",
            "every unit of A steps has a real batch on some rank",
            "each unit has a real batch",
        ),
        contract_check(
            table, "step_count.told", "the engine forms groups for T steps", "the engine is told T"
        ),
    )
