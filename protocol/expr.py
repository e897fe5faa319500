"""The small typed integer language in which guards and updates are written.

Rules of the language:
1. An expression is data: frozen values that compare and hash by content, never a Python callable.
2. There are two types. A `Term` is an integer, a `Formula` is a truth value; mixing them raises.
3. There is no division and no recursion. Aggregates range over the W reports of one round.

Readers of an expression (compiler, solver, exporters, mutants, diagram) dispatch on the node
classes below; `parts` and `rebuild` let them walk and change a tree without knowing every class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Literal

Scope = Literal["state", "event", "setting", "report", "world", "group"]
"""Whose value a name is: this rank's, the event's argument, shared, or the ranged-over rank's.

`world` names belong to the environment (spec/environment.py); the table uses none. `group` names
are figures of one group of samples and of its step (figures.py); the table uses none of these.
"""


class Term:
    """An integer-valued expression."""

    def __add__(self, other: Term | int) -> Term:
        return Arithmetic("+", self, term(other))

    def __sub__(self, other: Term | int) -> Term:
        return Arithmetic("-", self, term(other))

    def __mul__(self, other: Term | int) -> Term:
        return Arithmetic("*", self, term(other))

    def __lt__(self, other: Term | int) -> Formula:
        return Compare("<", self, term(other))

    def __le__(self, other: Term | int) -> Formula:
        return Compare("<=", self, term(other))

    def __gt__(self, other: Term | int) -> Formula:
        return Compare(">", self, term(other))

    def __ge__(self, other: Term | int) -> Formula:
        return Compare(">=", self, term(other))

    def equals(self, other: Term | int) -> Formula:
        """Integer equality (`==` compares the expressions themselves)."""
        return Compare("==", self, term(other))

    def differs(self, other: Term | int) -> Formula:
        """Integer inequality."""
        return Compare("!=", self, term(other))


class Formula:
    """A truth-valued expression."""

    def __and__(self, other: Formula) -> Formula:
        return Both(self, other)

    def __or__(self, other: Formula) -> Formula:
        return Either(self, other)

    def __invert__(self) -> Formula:
        return Not(self)


Node = Term | Formula
ArithmeticOperator = Literal["+", "-", "*"]
CompareOperator = Literal["<", "<=", ">", ">=", "==", "!="]


@dataclass(frozen=True)
class Const(Term):
    """An integer constant."""

    value: int


@dataclass(frozen=True)
class Name(Term):
    """A named integer in one of the scopes."""

    scope: Scope
    name: str


@dataclass(frozen=True)
class Arithmetic(Term):
    """Sum, difference or product of two integers."""

    operator: ArithmeticOperator
    left: Term
    right: Term


@dataclass(frozen=True)
class Choose(Term):
    """`then` where the condition holds, else `otherwise`."""

    condition: Formula
    then: Term
    otherwise: Term


@dataclass(frozen=True)
class Least(Term):
    """The least `body` over the ranks where `where` holds; `default` where no rank does."""

    body: Term
    where: Formula
    default: Term


@dataclass(frozen=True)
class Greatest(Term):
    """The greatest `body` over the ranks where `where` holds; `default` where no rank does."""

    body: Term
    where: Formula
    default: Term


@dataclass(frozen=True)
class Total(Term):
    """The sum of `body` over the ranks where `where` holds; 0 where no rank does."""

    body: Term
    where: Formula


@dataclass(frozen=True)
class Truth(Formula):
    """A constant truth value."""

    value: bool


@dataclass(frozen=True)
class Compare(Formula):
    """A comparison of two integers."""

    operator: CompareOperator
    left: Term
    right: Term


@dataclass(frozen=True)
class Both(Formula):
    """Conjunction."""

    left: Formula
    right: Formula


@dataclass(frozen=True)
class Either(Formula):
    """Disjunction."""

    left: Formula
    right: Formula


@dataclass(frozen=True)
class Not(Formula):
    """Negation."""

    body: Formula


@dataclass(frozen=True)
class Every(Formula):
    """The body holds on every rank."""

    body: Formula


@dataclass(frozen=True)
class Some(Formula):
    """The body holds on at least one rank."""

    body: Formula


TRUE = Truth(True)


def term(value: Term | int) -> Term:
    """The value as a `Term`. Raises TypeError for a `Formula`, a bool or anything else."""
    if isinstance(value, Term):
        return value
    if type(value) is bool or not isinstance(value, int):
        raise TypeError(f"an integer expression is needed here, not {value!r}")
    return Const(int(value))


def lesser(left: Term | int, right: Term | int) -> Term:
    """The smaller of two integers."""
    return Choose(term(left) <= term(right), term(left), term(right))


def larger(left: Term | int, right: Term | int) -> Term:
    """The larger of two integers."""
    return Choose(term(left) >= term(right), term(left), term(right))


def implies(premise: Formula, conclusion: Formula) -> Formula:
    """The conclusion holds wherever the premise does."""
    return Either(Not(premise), conclusion)


def conjoin(*formulas: Formula) -> Formula:
    """All of the formulas; true for none."""
    result: Formula = TRUE
    for index, formula in enumerate(formulas):
        result = formula if index == 0 else Both(result, formula)
    return result


def conjuncts(formula: Formula) -> Iterator[Formula]:
    """The formulas that a conjunction was made of, in order; the formula itself if it is none."""
    if isinstance(formula, Both):
        yield from conjuncts(formula.left)
        yield from conjuncts(formula.right)
    else:
        yield formula


def parts(node: Node) -> tuple[Node, ...]:
    """The direct sub-expressions, in the order of the fields."""
    values = (getattr(node, field.name) for field in fields(node))  # type: ignore[arg-type]
    return tuple(value for value in values if isinstance(value, Term | Formula))


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, parents first."""
    yield node
    for part in parts(node):
        yield from walk(part)


AGGREGATES = (Every, Some, Least, Greatest, Total)
"""The nodes that range over ranks."""


def has_aggregate(node: Node) -> bool:
    """Whether the value depends on more than one rank."""
    return any(isinstance(part, AGGREGATES) for part in walk(node))


def rebuild(node: Node, change: Callable[[Node], Node]) -> Node:
    """A copy in which each direct sub-expression is replaced by `change` of it."""
    changed = {
        field.name: change(value)
        for field in fields(node)  # type: ignore[arg-type]
        if isinstance(value := getattr(node, field.name), Term | Formula)
    }
    return replace(node, **changed) if changed else node  # type: ignore[type-var]


def canonical(node: Node) -> str:
    """One text per expression: the operator and its fields in prefix order, in parentheses."""
    words = [type(node).__name__]
    for field in fields(node):  # type: ignore[arg-type]
        value = getattr(node, field.name)
        words.append(canonical(value) if isinstance(value, Term | Formula) else str(value))
    return f"({' '.join(words)})"
