"""Expressions of the protocol as Z3 terms, for any number of ranks.

Rules kept here:
1. Ranks are an uninterpreted sort. Nothing maps into it, so a few named ranks are enough to
   instantiate a statement about all of them, and a model over named ranks is a real world.
2. An aggregate over ranks is a value with a bound (for every rank) and a witness (a named rank);
   it is never folded over a list of ranks. That is why one proof covers every W.
3. Nothing is simplified or restated here: what the table says is what the solver reads.

`Total` has no such reading: statements about sums are proved by pointwise ranking instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

from dgap.protocol.expr import (
    Arithmetic,
    Both,
    Choose,
    Compare,
    Const,
    Either,
    Every,
    Greatest,
    Least,
    Name,
    Node,
    Not,
    Some,
    Term,
    Truth,
)

from .solver import (
    INTEGER,
    OPERATORS,
    RANK,
    Z3,
    choose,
    constant,
    every,
    function,
    implication,
    negation,
    number,
    proposition,
    some,
    truth,
)


@dataclass(frozen=True)
class Agreed(Term):
    """A figure of the collective with that number, the same for all ranks: its kind, its T."""

    figure: str
    number: Term


@dataclass(frozen=True)
class Said(Term):
    """A field of the report that a rank sent into the gather with that number."""

    field: str
    rank: str
    number: Term


@dataclass(frozen=True)
class Rank:
    """A rank by name; `rank["held"]` is that field of its state, as an expression."""

    name: str

    def __getitem__(self, field: str) -> Term:
        return Name("world", f"{self.name}.{field}")

    def said(self, field: str, number: Term) -> Term:
        """What this rank reported in the gather with that number."""
        return Said(field, self.name, number)


def rank_constant(name: str) -> Z3:
    """The named rank. Two names may denote one rank unless that is excluded."""
    return constant(name, RANK)


@cache
def of_rank(field: str, rank: Z3) -> Z3:
    """A field of a rank's state: a function from ranks to integers."""
    return function(field, RANK, INTEGER)(rank)


@cache
def said(field: str, number: Z3, rank: Z3) -> Z3:
    """A field of the report of a rank in a gather; `rank` itself is the rank's index."""
    if field == "rank":
        return function("index", RANK, INTEGER)(rank)
    return function(f"said_{field}", INTEGER, RANK, INTEGER)(number, rank)


@cache
def agreed(figure: str, number: Z3) -> Z3:
    """A figure of a collective: a function of its number alone."""
    return function(figure, INTEGER, INTEGER)(number)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How names are read: `name` for all but reports, those at `voice` in the vector.

    `voice` is the rank an aggregate is being read at, None outside aggregates.
    """

    name: Callable[[Name], Z3]
    vector: Vector | None = None
    voice: Z3 | None = None


@dataclass
class _Aggregate:
    """One aggregate over one vector: its value, its witness, and what it ranges over."""

    node: Node
    value: Z3
    witness: Z3
    reading: Reading

    def at(self, part: Node, voice: Z3) -> Z3:
        return translate(part, replace(self.reading, voice=voice))

    def axioms(self, voices: Sequence[Z3]) -> list[Z3]:
        match self.node:
            case Every(body):
                bounds = [implication(self.value, self.at(body, voice)) for voice in voices]
                return [*bounds, some((self.value, negation(self.at(body, self.witness))))]
            case Some(body):
                bounds = [implication(self.at(body, voice), self.value) for voice in voices]
                return [*bounds, implication(self.value, self.at(body, self.witness))]
            case Least(body, where, default) | Greatest(body, where, default):
                return self._extreme(body, where, default, voices)
        raise TypeError(f"no axioms for {type(self.node).__name__}")

    def _extreme(self, body: Term, where: Node, default: Term, voices: Sequence[Z3]) -> list[Z3]:
        least = isinstance(self.node, Least)

        def bound(voice: Z3) -> Z3:
            value = self.at(body, voice)
            return self.value <= value if least else self.value >= value

        nobody = every(negation(self.at(where, voice)) for voice in voices)
        found = every((self.at(where, self.witness), self.value == self.at(body, self.witness)))
        bounds = [implication(self.at(where, voice), bound(voice)) for voice in voices]
        absent = every((nobody, self.value == translate(default, self.reading)))
        return [*bounds, some((found, absent))]


class Axiom(NamedTuple):
    """That an aggregate with this witness has a bound at a voice, or, without one, attains it."""

    term: Z3
    aggregate: Node
    witness: str
    voice: int | None


@dataclass
class Vector:
    """The reports of one round, and the aggregates that were asked of it.

    `report(field, rank)` is the field of that rank's report.
    """

    label: str
    report: Callable[[str, Z3], Z3]
    aggregates: dict[Node, _Aggregate] = field(default_factory=dict)
    closed: bool = False

    def aggregate(self, node: Node, reading: Reading) -> Z3:
        """The value of an aggregate; equal expressions share value and witness.

        Raises ValueError for a new one once the axioms have been taken: it would have none.
        """
        if node not in self.aggregates:
            if self.closed:
                raise ValueError(f"read {node} before the theory of its scene is built")
            name = f"{self.label}{len(self.aggregates)}"
            is_truth = isinstance(node, Every | Some)
            value = proposition(f"holds_{name}") if is_truth else constant(f"extreme_{name}")
            self.aggregates[node] = _Aggregate(node, value, rank_constant(name), reading)
        return self.aggregates[node].value

    def voices(self, ranks: Sequence[Z3]) -> list[Z3]:
        """The named ranks and all witnesses."""
        return [*ranks, *(aggregate.witness for aggregate in self.aggregates.values())]

    def axioms(self, ranks: Sequence[Z3]) -> list[Z3]:
        """Bounds at the named ranks and all witnesses; each witness attains its value."""
        return [axiom.term for axiom in self.stated(ranks)]

    def stated(self, ranks: Sequence[Z3]) -> Iterator[Axiom]:
        """The axioms, each with what it states."""
        self.closed = True
        voices = self.voices(ranks)
        places = (*range(len(voices)), None)  # the bounds in the order of the voices, then one more
        for index, each in enumerate(self.aggregates.values()):
            for voice, term in zip(places, each.axioms(voices), strict=True):
                yield Axiom(term, each.node, f"{self.label}{index}", voice)


def translate(node: Node, reading: Reading) -> Z3:
    """The node as a Z3 term. Raises TypeError for a node or a name that has no reading here."""
    match node:
        case Const(value):
            return number(int(value))
        case Truth(value):
            return truth(value)
        case Name("report", name):
            if reading.voice is None or reading.vector is None:
                raise TypeError(f"report.{name} outside an aggregate")
            return reading.vector.report(name, reading.voice)
        case Name():
            return reading.name(node)
        case Agreed(figure, index):
            return agreed(figure, translate(index, reading))
        case Said(name, rank, index):
            return said(name, translate(index, reading), rank_constant(rank))
        case Arithmetic(operator, left, right) | Compare(operator, left, right):
            return OPERATORS[operator](translate(left, reading), translate(right, reading))
        case Choose(condition, then, otherwise):
            return choose(*(translate(part, reading) for part in (condition, then, otherwise)))
        case Both(left, right):
            return every((translate(left, reading), translate(right, reading)))
        case Either(left, right):
            return some((translate(left, reading), translate(right, reading)))
        case Not(body):
            return negation(translate(body, reading))
        case Least() | Greatest() | Every() | Some():
            if reading.vector is None or reading.voice is not None:
                raise TypeError(f"{type(node).__name__} where there is no vector of reports")
            return reading.vector.aggregate(node, reading)
    raise TypeError(f"the solver has no reading of {type(node).__name__}")
