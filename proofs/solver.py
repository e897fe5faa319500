"""Z3 in one place: the constructors that terms are built with, and the questions asked of it.

Rules kept here:
1. Only `unsat` of the negated goal is a proof; `unknown` and a time-out are their own answer.
2. Hypotheses that cannot hold together prove nothing: asked for a witness, they are refuted.
3. Every question has a time limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import z3

from .check import Verdict

Z3 = Any
"""A Z3 expression or sort. z3 ships no types that mypy can use."""
Model = Any

RANK: Z3 = z3.DeclareSort("Rank")
SAMPLE: Z3 = z3.DeclareSort("Sample")
INTEGER: Z3 = z3.IntSort()

OPERATORS: Mapping[str, Callable[[Z3, Z3], Z3]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
}

TIMEOUT_MS = 20_000
"""Typical questions take 2-20 ms; this is where a hard one counts as unknown."""


@cache
def number(value: int) -> Z3:
    """An integer."""
    return z3.IntVal(value)


def truth(value: bool) -> Z3:
    """A truth value."""
    return z3.BoolVal(value)


@cache
def constant(name: str, sort: Z3 = INTEGER) -> Z3:
    """An unknown of a sort."""
    return z3.Const(name, sort)


def proposition(name: str) -> Z3:
    """An unknown truth value."""
    return z3.Bool(name)


@cache
def function(name: str, *sorts: Z3) -> Callable[..., Z3]:
    """An uninterpreted function; the last sort is that of its values."""
    result: Callable[..., Z3] = z3.Function(name, *sorts)
    return result


def choose(condition: Z3, then: Z3, otherwise: Z3) -> Z3:
    """`then` where the condition holds."""
    return z3.If(condition, then, otherwise)


def every(formulas: Iterable[Z3]) -> Z3:
    """All of them; true for none."""
    return z3.And(list(formulas))


def some(formulas: Iterable[Z3]) -> Z3:
    """At least one of them; false for none."""
    return z3.Or(list(formulas))


def negation(formula: Z3) -> Z3:
    """It does not hold."""
    return z3.Not(formula)


def implication(premise: Z3, conclusion: Z3) -> Z3:
    """The conclusion holds wherever the premise does."""
    return z3.Implies(premise, conclusion)


def for_all(names: Sequence[Z3], body: Z3) -> Z3:
    """The body for all values of the named unknowns."""
    return z3.ForAll(list(names), body)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """`model` shows the counterexample of a refuted goal, or a witness of the hypotheses."""

    verdict: Verdict
    reason: str = ""
    model: Model | None = None


class Theory:
    """A set of hypotheses, asked for several goals.

    `example` narrows down where a witness is looked for first. It proves nothing: what holds
    under it and the hypotheses is a witness of these.
    """

    def __init__(
        self,
        hypotheses: Sequence[Z3],
        timeout_ms: int = TIMEOUT_MS,
        example: Sequence[Z3] = (),
    ) -> None:
        self.hypotheses = list(hypotheses)
        self._example = list(example)
        self._solver = z3.Solver()
        self._solver.set("random_seed", 0)
        self._solver.add(*self.hypotheses)
        self._witness: Answer | None = None
        self.limit(timeout_ms)

    def limit(self, timeout_ms: int) -> None:
        """Questions from now on are given up after this time."""
        self.timeout_ms = timeout_ms
        self._solver.set("timeout", timeout_ms)

    def witness(self) -> Answer:
        """PROVED with a model if the hypotheses can hold together, REFUTED if they cannot."""
        if self._witness is None:
            result, model, reason = z3.unknown, None, ""
            if self._example:  # equations that solving them at once makes short
                result, model = self._from_scratch(self._example)
            if result != z3.sat:
                result, model, reason = self._check([])
            if result == z3.sat:
                self._witness = Answer(verdict=Verdict.PROVED, model=model)
            elif result == z3.unsat:
                reason = "the hypotheses contradict each other: nothing would be proved"
                self._witness = Answer(verdict=Verdict.REFUTED, reason=reason)
            else:
                self._witness = Answer(verdict=Verdict.UNKNOWN, reason=f"hypotheses: {reason}")
        return self._witness

    def implies(self, goal: Z3) -> Answer:
        """Whether the goal follows. Says nothing of whether the hypotheses can hold."""
        result, model, reason = self._check([z3.Not(goal)])
        if result == z3.unsat:
            return Answer(verdict=Verdict.PROVED)
        if result == z3.sat:
            return Answer(verdict=Verdict.REFUTED, model=model)
        return Answer(verdict=Verdict.UNKNOWN, reason=reason)

    def _check(self, extra: list[Z3]) -> tuple[Any, Model | None, str]:
        """Asks the incremental solver, then once more from scratch if that gave up."""
        self._solver.push()
        self._solver.add(*extra)
        try:
            result = self._solver.check()
            if result == z3.sat:
                return result, self._solver.model(), ""
            if result == z3.unsat:
                return result, None, ""
            reason = self._solver.reason_unknown()
        finally:
            self._solver.pop()
        result, model = self._from_scratch(extra)
        return result, model, reason

    def _from_scratch(self, extra: list[Z3]) -> tuple[Any, Model | None]:
        fresh = z3.Then("simplify", "solve-eqs", "smt").solver()
        fresh.set("timeout", self.timeout_ms)
        fresh.add(*self.hypotheses, *extra)
        result = fresh.check()
        return result, fresh.model() if result == z3.sat else None


def smt_text(hypotheses: Sequence[Z3], goals: Sequence[Z3]) -> str:
    """An SMT-LIB script that is unsatisfiable exactly if all goals follow."""
    solver = z3.Solver()
    solver.add(*hypotheses, z3.Not(z3.And(list(goals))))
    return str(solver.to_smt2())


def with_seed(hypotheses: Sequence[Z3], goals: Sequence[Z3], seed: int) -> Answer:
    """Whether all goals follow, asked of a fresh solver that starts from another seed."""
    solver = z3.Solver()
    solver.set("random_seed", seed)
    solver.set("timeout", TIMEOUT_MS)
    solver.add(*hypotheses, z3.Not(z3.And(list(goals))))
    result = solver.check()
    if result == z3.unsat:
        return Answer(verdict=Verdict.PROVED)
    if result == z3.sat:
        return Answer(verdict=Verdict.REFUTED, model=solver.model())
    return Answer(verdict=Verdict.UNKNOWN, reason=str(solver.reason_unknown()))


class Switched:
    """Hypotheses of which each can be left out of a question."""

    def __init__(self, hypotheses: Sequence[Z3]) -> None:
        self._solver = z3.Solver()
        self._solver.set("random_seed", 0)
        self._solver.set("timeout", TIMEOUT_MS)
        self._switches = [z3.Bool(f"switch!{place}") for place in range(len(hypotheses))]
        self._places = {each.get_id(): place for place, each in enumerate(self._switches)}
        for switch, hypothesis in zip(self._switches, hypotheses, strict=True):
            self._solver.add(z3.Implies(switch, hypothesis))

    def core(self, goal: Z3, chosen: Iterable[int]) -> list[int] | None:
        """The places of hypotheses among the chosen from which the goal follows; None where it
        was not found to follow."""
        self._solver.push()
        self._solver.add(z3.Not(goal))
        try:
            result = self._solver.check(*(self._switches[place] for place in chosen))
            core = self._solver.unsat_core() if result == z3.unsat else None
        finally:
            self._solver.pop()
        return None if core is None else sorted(self._places[each.get_id()] for each in core)


def logic_of(terms: Iterable[Z3]) -> str:
    """The quantifier-free logic that fits: integers and uninterpreted functions, with products of
    unknowns or without. Raises ValueError for a quantifier."""
    found = {_has_products(term) for term in terms}  # all of them: each may have a quantifier
    return "QF_UFNIA" if True in found else "QF_UFLIA"


@lru_cache(maxsize=4096)
def _has_products(term: Z3) -> bool:
    seen: set[int] = set()
    waiting, found = [term], False
    while waiting:
        part = waiting.pop()
        if part.get_id() in seen:
            continue
        seen.add(part.get_id())
        if z3.is_quantifier(part):
            raise ValueError(f"there is a quantifier in an instance: {term}")
        below = part.children()
        waiting += below
        found |= z3.is_mul(part) and sum(not z3.is_int_value(each) for each in below) > 1
    return found


def in_logic(logic: str, hypotheses: Sequence[Z3], goal: Z3) -> Verdict:
    """Whether the goal follows, asked of the solver that Z3 has for one logic."""
    solver = z3.SolverFor(logic)
    solver.set("timeout", TIMEOUT_MS)
    solver.add(*hypotheses, z3.Not(goal))
    result = solver.check()
    if result == z3.unsat:
        return Verdict.PROVED
    return Verdict.REFUTED if result == z3.sat else Verdict.UNKNOWN


def value(model: Model, term: Z3) -> int:
    """The value of an integer term in a model, filled in where the model leaves it open."""
    return int(model.eval(term, model_completion=True).as_long())


def holds(model: Model, formula: Z3) -> bool:
    """Whether a formula holds in a model."""
    return bool(z3.is_true(model.eval(formula, model_completion=True)))


def version() -> str:
    """The version of the solver."""
    return str(z3.get_version_string())
