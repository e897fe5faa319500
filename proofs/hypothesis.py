"""Hypotheses by name: what an obligation rests on, in words that a certificate can hold.

Rules kept here:
1. A name is made of what its hypothesis was made of, and no two hypotheses of a scene share one.
2. Names cost nothing until they are read: a hypothesis keeps the parts, `name_of` joins them.
3. Whether a hypothesis is one of the assumptions A1..A9 is read off its kind and its fields, here
   and nowhere else. What the invariant says is proved, so it is none.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from typing import NamedTuple

from dgap.protocol.diagram import infix
from dgap.protocol.expr import (
    Both,
    Compare,
    Const,
    Either,
    Formula,
    Name,
    Node,
    Not,
    Term,
    conjuncts,
    rebuild,
    walk,
)
from dgap.protocol.vocabulary import EffectKind, Phase

from .solver import Z3
from .terms import Agreed, Rank, Said, Vector, rank_constant

LONGEST = 120
"""Characters of a formula in a name; a longer one is cut, and ends with a checksum of the whole."""

MANY = 2**16
"""A hypothesis that bounds a count by this or more is about the size of integers (A7)."""


class Kind(StrEnum):
    """Where a hypothesis comes from; the values are how its name begins or is built."""

    SETTINGS = "settings are sound"
    ORIGIN = "before the first collective nothing was planned"
    ASSUMED = "assumed: {}"
    GUARD = "guard of {}: {}"
    MOVE = "guard of the loop's {}: {}"
    AGREED = "agreed: {}"
    REPORT = "report: {}"
    ENTERED = "entered: {}"
    BEGUN = "begun: {}"
    INVARIANT = "invariant.{} at {}"
    NUMBERED = "invariant.{} at {}, collective {}"
    RECURRENCE = "recurrence at {}"
    HEARD = "heard from {2}: bound of {1}, {0}"
    BOUND = "bound at {2} of {1}, {0}"
    ATTAINED = "attained by {1}, {0}"


class Hypothesis(NamedTuple):
    """A term, and what its name is made of."""

    term: Z3
    kind: Kind
    about: tuple[str | Node, ...] = ()


def name_of(hypothesis: Hypothesis) -> str:
    """The name of a hypothesis."""
    return hypothesis.kind.format(*(_words(part) for part in hypothesis.about))


def _words(part: str | Node) -> str:
    return part if isinstance(part, str) else shortened(in_words(part), LONGEST)


def shortened(text: str, longest: int) -> str:
    """The text, or its start and a checksum where it is longer."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]}... [{zlib.crc32(text.encode()):08x}]"


def in_words(node: Node) -> str:
    """An expression as a reader writes it; names of the state are those of rank a."""
    text = infix(_readable(node))
    closes = _closing(text) == len(text) - 1
    return text[1:-1] if text.startswith("(") and closes else text


def _closing(text: str) -> int:
    """Where the parenthesis that opens the text is closed."""
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return at
    return len(text)


def _readable(node: Node) -> Node:
    match node:
        case Name("state", name):
            return Name("world", f"a.{name}")
        case Agreed(figure, number):
            return Name("world", f"{figure}({in_words(number)})")
        case Said(field, rank, number):
            return Name("world", f"{rank}.said({field}, {in_words(number)})")
        case Compare(operator, left, Const(value)):
            return Compare(operator, _term(left), Name("world", _constant(left, value)))
        case Not(Not(body)):
            return _readable(body)
        case Not(Both() as all_of) if all(isinstance(each, Not) for each in conjuncts(all_of)):
            return _readable(reduce(Either, (_denied(each) for each in conjuncts(all_of))))
    return rebuild(node, _readable)


def _denied(formula: Formula) -> Formula:
    return formula.body if isinstance(formula, Not) else ~formula


def _term(node: Term) -> Term:
    found = _readable(node)
    if not isinstance(found, Term):
        raise TypeError(f"{node} did not stay a term")
    return found


def _constant(compared: Term, value: int) -> str:
    """Phases and verdicts by their names."""
    if isinstance(compared, Name) and compared.name.rpartition(".")[2] == "phase":
        return Phase(value).name if value in list(Phase) else str(value)
    if isinstance(compared, Agreed) and compared.figure == "verdict_at":
        return EffectKind(value).name
    return str(int(value))


def named_axioms(
    vector: Vector, ranks: Sequence[Rank], *, gathered: bool = False
) -> Iterator[Hypothesis]:
    """What is known of the aggregates of a vector; `gathered` where it is one of reports."""
    names = [rank.name for rank in ranks]
    constants = [rank_constant(name) for name in names]
    names += [f"{vector.label}{index}" for index in range(len(vector.aggregates))]
    for axiom in vector.stated(constants):
        about = (axiom.aggregate, axiom.witness)
        if axiom.voice is None:
            yield Hypothesis(axiom.term, Kind.ATTAINED, about)
        else:
            kind = Kind.HEARD if gathered and axiom.voice < len(ranks) else Kind.BOUND
            yield Hypothesis(axiom.term, kind, (*about, names[axiom.voice]))


@dataclass(frozen=True, kw_only=True)
class Instance:
    """A hypothesis by name, and the assumptions that it formalises."""

    name: str
    assumptions: tuple[str, ...] = ()


def by_name(hypotheses: Iterable[Hypothesis]) -> Mapping[Instance, Hypothesis]:
    """The hypotheses as certificates name them. Raises ValueError where two have one name."""
    found: dict[Instance, Hypothesis] = {}
    for each in hypotheses:
        instance = Instance(name=name_of(each), assumptions=assumptions_of(each))
        other = found.setdefault(instance, each)
        if other is not each and not other.term.eq(each.term):
            raise ValueError(f"two hypotheses have the name {instance.name!r}; tell them apart")
    return found


_BY_KIND: Mapping[Kind, tuple[str, ...]] = {
    Kind.SETTINGS: ("A6",),  # one constant stands for the setting of every rank
    Kind.AGREED: ("A1", "A6"),  # the same vector everywhere, and the same table to read it
    Kind.ENTERED: ("A1",),  # nobody leaves before all have entered
    Kind.BEGUN: ("A4",),  # a step completes once all loops that take part have begun it
    Kind.MOVE: ("A4",),  # what a loop does that consumes or closes
    Kind.HEARD: ("A1",),  # the vector holds what each rank said
}
_SOURCES = frozenset({"unread", "source", "fresh"})
_LEAVING = frozenset({"gone"})
_COSTS = re.compile(r"(\w+)_largest >= 1|(\w+)_total >= \(\(\2_largest \+ \2_size\) - 1\)")
"""Each cost is 1 at least: so is the greatest, and the others of a group add theirs."""


def _is_high_bound(formula: Node) -> bool:
    """A count is below a number that no count reaches."""
    return (
        isinstance(formula, Compare)
        and formula.operator in ("<", "<=")
        and (isinstance(formula.right, Const) and formula.right.value >= MANY)
    )


def assumptions_of(hypothesis: Hypothesis) -> tuple[str, ...]:
    """The assumptions of the ledger that a hypothesis formalises; none where it is proved or
    defines what it is about."""
    kind = hypothesis.kind
    if kind not in (Kind.GUARD, Kind.ASSUMED):
        return _BY_KIND.get(kind, ())
    formula = hypothesis.about[-1]
    if isinstance(formula, str):
        return ()
    if kind == Kind.ASSUMED and _is_high_bound(formula):
        return ("A7",)
    fields = {node.name.rpartition(".")[2] for node in walk(formula) if isinstance(node, Name)}
    if fields & _SOURCES:
        return ("A3",)
    if kind == Kind.GUARD:
        # a queue takes all of a loop that has left; that is no more than what a queue is
        return ("A4",) if fields == _LEAVING else ()
    return ("A5",) if _COSTS.fullmatch(in_words(formula)) else ()
