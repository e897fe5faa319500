"""Dumb twin of the compiled language: walks the tree at every evaluation.

It shares no code with the compiler of the machine, nor with the solver's translation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dgap.protocol.expr import (
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
    Term,
    Total,
    Truth,
)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What names mean: `own` by scope and name; `ranks` holds one mapping per ranged-over rank."""

    own: Mapping[str, Mapping[str, int]]
    ranks: Sequence[Mapping[str, int]] = ()
    ranged: int | None = field(default=None)


def value_of(node: Term, reading: Reading) -> int:
    """The integer that a term denotes. Raises KeyError for a name without a meaning."""
    match node:
        case Const(value):
            return value
        case Name("report", "rank"):
            return _ranged(reading)
        case Name("report", name):
            return reading.ranks[_ranged(reading)][name]
        case Name(scope, name):
            return reading.own[scope][name]
        case Arithmetic(operator, left, right):
            a, b = value_of(left, reading), value_of(right, reading)
            return {"+": a + b, "-": a - b, "*": a * b}[operator]
        case Choose(condition, then, otherwise):
            return value_of(then if holds(condition, reading) else otherwise, reading)
        case Least(body, where, default) | Greatest(body, where, default):
            values = [value_of(body, at) for at in _each(reading) if holds(where, at)]
            if not values:
                return value_of(default, reading)
            values.sort()
            return values[0] if isinstance(node, Least) else values[-1]
        case Total(body, where):
            return sum(value_of(body, at) for at in _each(reading) if holds(where, at))
    raise TypeError(f"no such term: {node!r}")


def holds(node: Formula, reading: Reading) -> bool:
    """Whether a formula holds. Raises KeyError for a name without a meaning."""
    match node:
        case Truth(value):
            return value
        case Compare(operator, left, right):
            a, b = value_of(left, reading), value_of(right, reading)
            return {
                "<": a < b,
                "<=": a <= b,
                ">": a > b,
                ">=": a >= b,
                "==": a == b,
                "!=": a != b,
            }[operator]
        case Both(left, right):
            return holds(left, reading) and holds(right, reading)
        case Either(left, right):
            return holds(left, reading) or holds(right, reading)
        case Not(body):
            return not holds(body, reading)
        case Every(body):
            return not [at for at in _each(reading) if not holds(body, at)]
        case Some(body):
            return bool([at for at in _each(reading) if holds(body, at)])
    raise TypeError(f"no such formula: {node!r}")


def evaluate(node: Node, reading: Reading) -> int | bool:
    """The value of a term or the truth of a formula."""
    return holds(node, reading) if isinstance(node, Formula) else value_of(node, reading)


def _ranged(reading: Reading) -> int:
    if reading.ranged is None:
        raise KeyError("a name of a ranged-over rank stands outside every aggregate")
    return reading.ranged


def _each(reading: Reading) -> list[Reading]:
    return [
        Reading(own=reading.own, ranks=reading.ranks, ranged=index)
        for index in range(len(reading.ranks))
    ]
