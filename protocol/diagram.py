"""A picture of the table, generated from it: `docs/protocol.md` holds the committed copy.

Rule kept here: nothing is drawn that is not a row, and every row is drawn.
"""

from __future__ import annotations

from .expr import (
    Arithmetic,
    Both,
    Choose,
    Compare,
    Const,
    Either,
    Every,
    Formula,
    Greatest,
    Least,
    Name,
    Node,
    Not,
    Some,
    Total,
    Truth,
    conjuncts,
)
from .transition import Row, Table
from .vocabulary import EventKind, Phase


def mermaid(table: Table) -> str:
    """A Mermaid state diagram: one arrow per row, labelled with row name and event."""
    lines = ["stateDiagram-v2", "    [*] --> FILL"]
    lines += [
        f"    {row.phase.name} --> {row.target.name}: {row.name} ({row.event.name.lower()})"
        for row in table.rows
    ]
    lines += [f"    {phase.name} --> [*]" for phase in (Phase.CLOSED, Phase.FAILED)]
    return "\n".join(lines)


def reference_page(table: Table) -> str:
    """The page of the documentation that shows the whole table, as Markdown."""
    lines = [
        "# The transition table",
        "",
        "Generated from `protocol/table.py` by `python -m dgap.protocol`; do not edit.",
        "An event without a row is refused and nothing happens.",
        "",
        f"Digest: `{table.digest()}`",
        "",
        "```mermaid",
        mermaid(table),
        "```",
        "",
        "| phase | event | row | guard | updates | effects | next |",
        "|---|---|---|---|---|---|---|",
        *(_table_line(row) for row in table.rows),
        "",
        "A report holds: "
        + "; ".join(f"`{name}` = `{infix(value)}`" for name, value in table.report)
        + ".",
    ]
    return "\n".join(lines) + "\n"


def _table_line(row: Row) -> str:
    updates = "<br>".join(f"`{name} := {infix(value)}`" for name, value in row.updates)
    asks = "<br>".join(f"`{ask.kind.name}({infix(ask.argument)})`" for ask in row.asks)
    cells = (
        row.phase.name,
        EventKind(row.event).name.lower(),
        row.name,
        f"`{infix(row.guard)}`",
        updates,
        asks,
        row.target.name,
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def infix(node: Node) -> str:
    """A node as a reader writes it: `all`, `any`, `min`, `max`, `sum` range over the ranks."""

    def each(body: Node, where: Formula) -> str:
        return f"{infix(body)} for ranks with {infix(where)}"

    match node:
        case Const(value) | Truth(value):
            return str(value).lower()
        case Name("event" | "report" as scope, name):
            return f"{scope}.{name}"
        case Name(_, name):
            return name
        case Arithmetic(operator, left, right) | Compare(operator, left, right):
            return f"({infix(left)} {operator} {infix(right)})"
        case Choose(condition, then, otherwise):
            return f"(if {infix(condition)} then {infix(then)} else {infix(otherwise)})"
        case Least(body, where, default):
            return f"min({each(body, where)}, or {infix(default)})"
        case Greatest(body, where, default):
            return f"max({each(body, where)}, or {infix(default)})"
        case Total(body, where):
            return f"sum({each(body, where)})"
        case Both():
            return f"({' and '.join(infix(each) for each in conjuncts(node))})"
        case Either(Not(premise), conclusion):
            return f"({infix(premise)} implies {infix(conclusion)})"
        case Either(left, right):
            return f"({infix(left)} or {infix(right)})"
        case Not(body):
            return f"not {infix(body)}"
        case Every(body):
            return f"all({infix(body)})"
        case Some(body):
            return f"any({infix(body)})"
    raise TypeError(f"the diagram knows no node {type(node).__name__}")
