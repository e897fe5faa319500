"""Expressions that protocol and spec have given a name, so that exported text uses those words.

Rules kept here:
1. An expression is known by its content; where two names mean the same, the first found is used.
2. A definition takes what its value depends on as parameters, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Literal

from dgap.protocol import conditions, decision
from dgap.protocol.expr import (
    AGGREGATES,
    Const,
    Formula,
    Name,
    Node,
    Term,
    Truth,
    has_aggregate,
    parts,
)
from dgap.spec import environment, predicates, properties

Over = Literal["ranks", "reports"]
"""What aggregates range over: the ranks of a world, or the reports of a gathered vector."""

SOURCES: tuple[tuple[ModuleType, Over], ...] = (
    (conditions, "reports"),
    (decision, "reports"),
    (environment, "ranks"),
    (predicates, "ranks"),
    (properties, "ranks"),
)


@dataclass(frozen=True, kw_only=True)
class Definition:
    """A named expression and its parameters (see `parameters_of`)."""

    name: str
    node: Node
    over: Over
    parameters: tuple[str, ...]

    def call(self, arguments: Sequence[str]) -> str:
        """The text of a use."""
        return f"{self.name}({', '.join(arguments)})" if arguments else self.name


def known_names(taken: frozenset[str]) -> dict[tuple[Node, Over], Definition]:
    """The named expressions by content and reading, but for names that are taken otherwise."""
    found: dict[tuple[Node, Over], Definition] = {}
    for module, over in SOURCES:
        for name, node in vars(module).items():
            if name.startswith("_") or name in taken or not _worth_a_name(node):
                continue
            readings: tuple[Over, ...] = (over,) if _ranges(node) else ("ranks", "reports")
            definition = Definition(
                name=name, node=node, over=over, parameters=parameters_of(node, over)
            )
            for reading in readings:
                found.setdefault((node, reading), definition)
    return found


def _worth_a_name(node: object) -> bool:
    if not isinstance(node, Term | Formula) or isinstance(node, Const | Truth | Name):
        return False
    return Name("report", "rank") not in free_names(node)


def _ranges(node: Node) -> bool:
    """Whether it matters what aggregates range over."""
    return has_aggregate(node) or any(name.scope == "report" for name in free_names(node))


def free_names(node: Node) -> Iterator[Name]:
    """All names but those that an aggregate of the node ranges over."""
    if isinstance(node, Name):
        yield node
    for part in parts(node):
        for name in free_names(part):
            if name.scope != "report" or not isinstance(node, AGGREGATES):
                yield name


def parameters_of(node: Node, over: Over) -> tuple[str, ...]:
    """`r` the rank at which it is read, `p` or `report` what an aggregate around it ranges over,
    `reports` the vector, then arguments of the event."""
    free = list(free_names(node))
    found: list[str] = []
    if any(name.scope in ("state", "world") for name in free):
        found.append("r")
    if any(name.scope == "report" for name in free):
        found.append("p" if over == "ranks" else "report")
    if over == "reports" and has_aggregate(node):
        found.append("reports")
    arguments = (name.name for name in free if name.scope == "event")
    return (*found, *dict.fromkeys(arguments))
