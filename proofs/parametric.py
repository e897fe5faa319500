"""One action of one rank in a world of any number of ranks, as hypotheses for the solver.

Rules kept here:
1. A conjunct is an expression about one or two named ranks, and perhaps about the number of a
   collective. It is assumed of all named ranks, before the action, and asked of them after it.
2. What all ranks agree on is a function of the number of a collective: its kind, its verdict,
   its T. The recurrences below define these functions; the table says what a verdict is.
3. Two names may denote one rank, so that a statement about two ranks covers each rank with
   itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from itertools import product
from typing import Any

from dgap.protocol.expr import (
    TRUE,
    Const,
    Formula,
    Name,
    Node,
    Term,
    conjoin,
    conjuncts,
    implies,
    rebuild,
)
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import EffectKind, EventKind

from .actions import ACTOR, Action, takes_part
from .agreed import origin, recurrences, verdict_at
from .hypothesis import Hypothesis, Instance, Kind, by_name, named_axioms
from .solver import RANK, Z3, Theory, choose, constant
from .terms import Agreed, Rank, Reading, Vector, of_rank, said, translate

NUMBER = Name("world", "number")
"""The collective that a numbered conjunct is asked of."""


@dataclass(frozen=True, kw_only=True)
class Conjunct:
    """One named part of the invariant.

    `formula` takes `ranks` ranks, and the number of a collective if it is `numbered`.
    """

    name: str
    property: str
    statement: str
    formula: Callable[..., Formula]
    ranks: int = 1
    numbered: bool = False


def setting(name: str) -> Name:
    """A shared setting."""
    return Name("setting", name)


settings_are_sound = conjoin(
    setting("accumulation") >= 1,
    setting("accumulation") <= setting("window"),
    *(
        setting(name).equals(0) | setting(name).equals(1)
        for name in ("quota", "tail_stop", "policy")
    ),
    Name("world", "queue_limit") >= 1,
)


def before(name: Name) -> Z3:
    """A name in the state before the action; `state` names are the actor's."""
    if name.scope == "state":
        return of_rank(name.name, constant(ACTOR.name, RANK))
    if name.scope == "world" and "." in name.name:
        rank, figure = name.name.split(".")
        return of_rank(figure, constant(rank, RANK))
    return constant(f"{name.scope}_{name.name}")


@dataclass
class Scene:
    """The invariant, and one action of rank `a` that happens in it.

    `others` are further ranks that conjuncts are instantiated at; `assumed` are hypotheses of a
    single question. Without an action the scene is a state of the world at rest. Where it is not
    `inductive`, of the conjuncts only those about reports are known, of the gathered reports.
    """

    table: Table
    conjuncts: Sequence[Conjunct]
    action: Action | None = None
    others: tuple[Rank, ...] = (Rank("b"),)
    assumed: tuple[Formula, ...] = ()
    inductive: bool = True
    vector: Vector = field(init=False)

    def __post_init__(self) -> None:
        number = plainly(ACTOR["entered"])
        self.vector = Vector("voice_", lambda name, rank: said(name, number, rank))

    @property
    def ranks(self) -> tuple[Rank, ...]:
        """The named ranks, the actor first."""
        return (ACTOR, *self.others)

    @cached_property
    def changes(self) -> dict[str, Z3]:
        """The actor's new values."""
        updates = self.action.updates if self.action else ()
        return {name: self.now(value) for name, value in updates}

    def now(self, expression: Term | Formula) -> Z3:
        """An expression before the action."""
        return translate(expression, Reading(name=before, vector=self.vector))

    def then(self, expression: Term | Formula) -> Z3:
        """An expression after the action: the actor has changed, and whoever is the actor."""
        return translate(expression, Reading(name=self._after, vector=self.vector))

    def _after(self, name: Name) -> Z3:
        actor = constant(ACTOR.name, RANK)
        if name.scope == "state":
            return self.changes.get(name.name, before(name))
        if name.scope == "world" and "." in name.name:
            rank, figure = name.name.split(".")
            old = before(name)
            return (
                choose(constant(rank, RANK) == actor, self.changes[figure], old)
                if figure in self.changes
                else old
            )
        return before(name)

    @cached_property
    def theory(self) -> Theory:
        """All hypotheses, ready to be asked."""
        return Theory([each.term for each in self.hypotheses])

    @cached_property
    def hypotheses(self) -> list[Hypothesis]:
        """All that is known, by name."""
        _ = self.changes  # reads the updates, whose aggregates have witnesses too
        found = [Hypothesis(plainly(settings_are_sound), Kind.SETTINGS)]
        found.append(Hypothesis(plainly(origin), Kind.ORIGIN))
        found += (each for formula in self.assumed for each in self._each(formula, Kind.ASSUMED))
        if self.action:
            found += self._action_hypotheses(self.action)
        if self.inductive:
            found += invariant_hypotheses(tuple(self.conjuncts), self.ranks)
        numbers = (rank[name] for rank in self.ranks for name in ("left", "entered"))
        for number in (*numbers, Const(0)):
            found.append(Hypothesis(plainly(recurrences(number)), Kind.RECURRENCE, (number,)))
        return [*found, *named_axioms(self.vector, self.ranks, gathered=True)]

    @cached_property
    def instances(self) -> Mapping[Instance, Hypothesis]:
        """The hypotheses by what a certificate calls them."""
        return by_name(self.hypotheses)

    def _each(self, formula: Formula, kind: Kind, *about: str) -> Iterator[Hypothesis]:
        """The parts of a conjunction, each a hypothesis of its own."""
        parts = (part for part in conjuncts(formula) if part != TRUE)
        return (Hypothesis(self.now(part), kind, (*about, part)) for part in parts)

    def _action_hypotheses(self, action: Action) -> Iterator[Hypothesis]:
        kind = Kind.MOVE if action.row is None and action.updates else Kind.GUARD
        yield from self._each(action.guard, kind, action.name)
        for formula in self._agreement(action):
            yield Hypothesis(self.now(formula), Kind.AGREED, (formula,))
        yield from self._said(action)
        voices = [Rank(str(voice)) for voice in self.vector.voices([])]
        for rank in (*self.ranks, *voices):
            if action.awaited == "begun":
                arrived = implies(takes_part(rank), rank["begun"] >= action.awaits)
                yield Hypothesis(self.now(arrived), Kind.BEGUN, (arrived,))
            elif action.awaited:
                arrived = rank[action.awaited] >= action.awaits
                yield Hypothesis(self.now(arrived), Kind.ENTERED, (arrived,))
        senders = voices if self.inductive else (*self.ranks, *voices)
        numbered = (each for each in self.conjuncts if each.numbered and each.ranks == 1)
        for conjunct, rank in product(numbered, senders):
            yield instance(conjunct, (rank,), ACTOR["entered"])

    def _agreement(self, action: Action) -> Iterable[Formula]:
        """The verdict of a gather is a function of its vector, hence of its number (S1)."""
        row = action.row
        if row is None or row.event not in (EventKind.GATHERED, EventKind.REFUSE):
            return
        number = ACTOR["entered"]
        yield verdict_at(number).equals(int(row.asks[0].kind))
        yield Agreed("origin_at", number).equals(row.asks[0].argument)
        owed = dict(row.updates).get("owed_steps")
        if owed is not None:
            yield Agreed("step_count_at", number).equals(owed)

    def _said(self, action: Action) -> Iterator[Hypothesis]:
        """The report of a rank that enters a gather is read off the state it enters with."""
        row = action.row
        if row is None or all(ask.kind != EffectKind.GATHER for ask in row.asks):
            return
        number, actor = self.then(ACTOR["entered"]), constant(ACTOR.name, RANK)
        for name, value in self.table.report:
            term = said(name, number, actor) == self.then(value)
            yield Hypothesis(term, Kind.REPORT, (name, value))


@lru_cache(maxsize=64)
def invariant_hypotheses(
    conjuncts: tuple[Conjunct, ...], ranks: tuple[Rank, ...]
) -> list[Hypothesis]:
    """All conjuncts at all named ranks, and at the collectives that these stand at."""
    positions = (rank[name] for rank in ranks for name in ("left", "entered"))
    numbers = (NUMBER, *positions)
    return [
        instance(conjunct, chosen, number)
        for conjunct in conjuncts
        for chosen in product(ranks, repeat=conjunct.ranks)
        for number in (numbers if conjunct.numbered else (None,))
    ]


@cache
def instance(conjunct: Conjunct, ranks: tuple[Rank, ...], number: Term | None = None) -> Hypothesis:
    """A conjunct at ranks, and at a collective if it is numbered."""
    extra = () if number is None else (number,)
    kind = Kind.NUMBERED if extra else Kind.INVARIANT
    term = plainly(conjunct.formula(*ranks, *extra))
    return Hypothesis(term, kind, (conjunct.name, ", ".join(rank.name for rank in ranks), *extra))


@cache
def plainly(expression: Term | Formula) -> Z3:
    """An expression without aggregates, before the action: the same in every scene."""
    return translate(expression, Reading(name=before))


def at_rank(rank: Rank, expression: Node) -> Any:
    """The expression with the names of its state read at that rank."""

    def change(node: Node) -> Node:
        if isinstance(node, Name):
            return rank[node.name] if node.scope == "state" else node
        return rebuild(node, change)

    return change(expression)
