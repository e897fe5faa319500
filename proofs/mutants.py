"""Mutants: every copy of the table in which one small thing is changed.

Rules kept here:
1. They are generated from the expressions of the table, never written by hand, so that a new row
   has its mutants from the first day on.
2. What is written once is changed once: T stands in several places of its row and changes in all
   of them. An id says what and where first: `deliver.guard.9:<=→<` is node 9 of that guard,
   counted parents first.
3. A comparison becomes its neighbours. Its being always or never true is what dropping a part
   of a conjunction or disjunction, or the row, makes; no change is made twice.

Left alone: names (what another field in its place would do is seen by the changes around it), and
`NOTHING`, the argument of effects that read none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dgap.protocol.expr import (
    TRUE,
    Arithmetic,
    ArithmeticOperator,
    Both,
    Choose,
    Compare,
    CompareOperator,
    Const,
    Either,
    Every,
    Greatest,
    Least,
    Node,
    Not,
    Some,
    rebuild,
    walk,
)
from dgap.protocol.table import TABLE
from dgap.protocol.transition import NOTHING, Ask, Row, Table
from dgap.protocol.vocabulary import EffectKind, EventKind, Phase

REPORT = "report"
"""Stands for the name of the row where the reading of a report is changed."""

NEIGHBOURS: Mapping[CompareOperator, tuple[CompareOperator, ...]] = {
    "<": ("<=", "!="),
    "<=": ("<", "=="),
    ">": (">=", "!="),
    ">=": (">", "=="),
    "==": ("<=", ">=", "!="),
    "!=": ("<", ">", "=="),
}
"""Weaker than these no other change of a comparison is (Kaminski, Ammann, Offutt 2013)."""

_OPPOSITE: Mapping[ArithmeticOperator, ArithmeticOperator] = {"+": "-", "-": "+", "*": "+"}


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A changed table. `row` names the changed row, REPORT the reading of a report."""

    id: str
    row: str
    table: Table


def mutants(table: Table = TABLE) -> tuple[Mutant, ...]:
    """All mutants, in table order. Raises ValueError if two have one id."""
    found = [mutant for row in table.rows for mutant in _of_row(table, row)]
    found += _of_report(table)
    ids = [mutant.id for mutant in found]
    if len(set(ids)) < len(ids):
        raise ValueError("two mutants have one id; two rows or report fields have one name")
    return tuple(found)


def written(row: Row) -> Iterator[tuple[str, Node]]:
    """Every node that was written for a row, once, with the first place in which it stands."""
    places: list[tuple[str, Node]] = [
        ("guard", row.guard),
        *row.updates,
        *(("ask", ask.argument) for ask in row.asks if ask.argument is not NOTHING),
    ]
    seen: set[int] = set()
    for place, root in places:
        for position, node in enumerate(walk(root)):
            if id(node) not in seen:
                seen.add(id(node))
                yield f"{place}.{position}", node


def _with_node(row: Row, old: Node, new: Node) -> Row:
    """The row with the node replaced wherever it stands; an equal one written apart stays."""

    def change(node: Node) -> Any:
        return new if node is old else rebuild(node, change)

    return replace(
        row,
        guard=change(row.guard),
        updates=tuple((name, change(value)) for name, value in row.updates),
        asks=tuple(replace(ask, argument=change(ask.argument)) for ask in row.asks),
    )


def _instead_of(node: Node) -> Iterator[tuple[str, Node]]:
    """What may stand in place of one node."""
    match node:
        case Compare(operator, left, right):
            for other in NEIGHBOURS[operator]:
                yield f"{operator}→{other}", Compare(other, left, right)
        case Both(left, right):
            yield from (("and→or", left | right), ("and→left", left), ("and→right", right))
        case Either(left, right):
            yield from (("or→and", left & right), ("or→left", left), ("or→right", right))
        case Not(body):
            yield "not→", body
        case Every(body):
            yield "all→any", Some(body)
        case Some(body):
            yield "any→all", Every(body)
        case Least(body, where, default):
            yield "min→max", Greatest(body, where, default)
            yield "min→min of all", Least(body, TRUE, default)
        case Greatest(body, where, default):
            yield "max→min", Least(body, where, default)
            yield "max→max of all", Greatest(body, TRUE, default)
        case Choose(_, then, otherwise):
            yield from (("if→then", then), ("if→else", otherwise))
        case Arithmetic(operator, left, right):
            opposite = _OPPOSITE[operator]
            yield f"{operator}→{opposite}", Arithmetic(opposite, left, right)
        case Const(value):
            yield f"{int(value)}→{value + 1}", Const(value + 1)
            yield f"{int(value)}→{value - 1}", Const(value - 1)


def _of_row(table: Table, row: Row) -> Iterator[Mutant]:
    """The mutants of one row."""

    def mutant(what: str, *rows: Row) -> Mutant:
        index = table.rows.index(row)
        kept = (*table.rows[:index], *rows, *table.rows[index + 1 :])
        return Mutant(id=f"{row.name}.{what}", row=row.name, table=replace(table, rows=kept))

    yield mutant("row:dropped")
    if row.guard != TRUE:
        yield mutant("guard:dropped", replace(row, guard=TRUE))
    for index, (name, _) in enumerate(row.updates):
        others = (*row.updates[:index], *row.updates[index + 1 :])
        yield mutant(f"{name}:dropped", replace(row, updates=others))
    for place, node in written(row):
        for what, new in _instead_of(node):
            yield mutant(f"{place}:{what}", _with_node(row, node, new))
    for phase in Phase:
        if phase != row.target:
            yield mutant(f"target:{row.target.name}→{phase.name}", replace(row, target=phase))
    for ask in row.asks:
        for kind in _other_effects(table, row, ask):
            swapped = replace(ask, kind=kind)
            yield mutant(f"ask:{ask.kind.name}→{kind.name}", replace(row, asks=(swapped,)))
        if ask.argument != NOTHING:
            yield mutant("ask:argument dropped", replace(row, asks=(Ask(ask.kind),)))


def _other_effects(table: Table, row: Row, ask: Ask) -> list[EffectKind]:
    """The effects that the table has in answer to the same event, or in the same phase."""
    alike = [r for r in table.rows if r.event == row.event or r.phase == row.phase]
    kinds = {other.kind for each in alike for other in each.asks}
    return sorted(kinds - {ask.kind})


def _of_report(table: Table) -> Iterator[Mutant]:
    """The mutants of how a report is read off a state."""
    for index, (name, value) in enumerate(table.report):
        as_row = Row(
            name=name,
            phase=Phase.OFFER,
            event=EventKind.OFFER,
            target=Phase.OFFER,
            updates=((name, value),),
        )
        changes = [
            (f"{place}:{what}", dict(_with_node(as_row, node, new).updates)[name])
            for place, node in written(as_row)
            if node != TRUE
            for what, new in _instead_of(node)
        ]
        for what, new in (*changes, (f"{name}:dropped", Const(0))):
            report = (*table.report[:index], (name, new), *table.report[index + 1 :])
            yield Mutant(id=f"{REPORT}.{what}", row=REPORT, table=replace(table, report=report))
