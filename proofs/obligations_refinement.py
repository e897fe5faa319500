"""R1 for any W: every action is a move of the abstract machine, or changes nothing there.

Rules kept here:
1. The map and the machine are those of spec/abstract.py, read at every named rank; a value that
   ranges over ranks has a bound and a witness, as in the table.
2. As there, nobody leaves early and nobody dies (invariant_undisturbed.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain

from dgap.protocol.expr import TRUE, Greatest, Least, Name, Node, walk
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import LIVE
from dgap.spec.abstract import GOAL, PERMITS, RECEIVED, STATUS, STEPS

from .actions import ACTOR, GHOST_OF, Action, initial, row_action
from .asking import Obligation, parametric
from .check import Check
from .hypothesis import Hypothesis, Kind, named_axioms
from .invariant_rank import A, zero
from .invariant_undisturbed import UNDISTURBED, awaited, stops, undisturbed, undisturbed_actions
from .obligations_invariant import concerned
from .parametric import Scene, setting
from .solver import RANK, Z3, Theory, choose, constant
from .terms import Rank, Reading, Vector, of_rank, rank_constant, translate

PERMITTED = Name("world", "permitted")
"""1 if the abstract machine permits the action."""


@dataclass
class Image(Scene):
    """An action in an undisturbed world, and what the abstract machine sees before and after.

    `old` and `new` hold the aggregates of the map, `change` those of the machine's rule.
    """

    old: Vector = field(init=False)
    new: Vector = field(init=False)
    change: Vector = field(init=False)
    permitted: Z3 = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.old = Vector("old_", self._before)
        self.new = Vector("new_", self._afterwards)
        self.change = Vector("each_", self._changed)
        self.permitted = translate(PERMITS, Reading(name=self._overall, vector=self.change))
        vectors = (self.old, self.new, self.change)
        for vector in vectors[:2]:
            for node in walk(STEPS):  # also the aggregate for worlds in which no loop takes part
                if isinstance(node, Least | Greatest):
                    self._at(node, vector, constant(ACTOR.name, RANK))
        voices = [Rank(str(voice)) for vector in vectors for voice in vector.voices([])]
        self.others = tuple(voices)
        self.assumed = (*self.assumed, *awaited(self.action, self.ranks))

    def _before(self, name: str, rank: Z3) -> Z3:
        return of_rank(GHOST_OF.get(name, name), rank)

    def _afterwards(self, name: str, rank: Z3) -> Z3:
        ghost = GHOST_OF.get(name, name)
        old = of_rank(ghost, rank)
        new = self.changes.get(ghost)
        return old if new is None else choose(rank == constant(ACTOR.name, RANK), new, old)

    def _at(self, node: Node, vector: Vector, rank: Z3) -> Z3:
        """A part of the map, read at a rank."""

        def own(name: Name) -> Z3:
            scope = name.scope
            return constant(f"{scope}_{name.name}") if scope == "setting" else read(name.name, rank)

        read = self._before if vector is self.old else self._afterwards
        return translate(node, Reading(name=own, vector=vector))

    def _changed(self, name: str, rank: Z3) -> Z3:
        """`received_before`, `received_after` and `goal` of a rank."""
        node, vector = PARTS[name]
        return self._at(node, self.new if vector == "new" else self.old, rank)

    def _overall(self, name: Name) -> Z3:
        """`steps_before`, `status_after` and the like: the same at every rank."""
        return self._changed(name.name, constant(ACTOR.name, RANK))

    @cached_property
    def hypotheses(self) -> list[Hypothesis]:
        """Those of the scene, what ranges over ranks in the map, and the invariant afterwards,
        which is proved apart."""
        found = list(super().hypotheses)
        for vector in (self.old, self.new, self.change):
            found += named_axioms(vector, self.ranks)
        for each in self.conjuncts if self.inductive else ():
            if each.ranks == 1 and not each.numbered:
                term = self.then(each.formula(ACTOR))
                found.append(Hypothesis(term, Kind.INVARIANT, (each.name, "a, afterwards")))
        meaning = self.now(PERMITTED.equals(1)) == self.permitted
        return [*found, Hypothesis(meaning, Kind.ASSUMED, (PERMITS,))]

    @cached_property
    def theory(self) -> Theory:
        """All hypotheses; an example of them is looked for where there is but one rank."""
        actor = constant(ACTOR.name, RANK)
        names = [rank_constant(rank.name) for rank in self.ranks]
        terms = [each.term for each in self.hypotheses]
        alone = [voice == actor for voice in (*names, *self.vector.voices([]))]
        smallest = self.now(A.equals(1) & setting("window").equals(2))
        return Theory(terms, example=[*alone, smallest])


PARTS: Mapping[str, tuple[Node, str]] = {
    "steps_before": (STEPS, "old"),
    "status_before": (STATUS, "old"),
    "received_before": (RECEIVED, "old"),
    "steps_after": (STEPS, "new"),
    "status_after": (STATUS, "new"),
    "received_after": (RECEIVED, "new"),
    "goal": (GOAL, "old"),
}
"""What each name of the abstract rule stands for: a part of the map, before or after."""


@lru_cache(maxsize=8)
def _scenes(table: Table) -> tuple[Scene, ...]:
    return tuple(
        Scene(table, undisturbed(table), action, assumed=awaited(action, (ACTOR, Rank("b"))))
        for action in undisturbed_actions(table)
    )


def _preserved(table: Table) -> Iterator[Obligation]:
    start = Scene(table, (), None)
    fresh = (zero(rank, "hand", "received", "finished") for rank in start.ranks)
    start.assumed = (*(initial(rank) for rank in start.ranks), *fresh)
    for conjunct in UNDISTURBED:
        for goal in concerned(conjunct, start.ranks):
            yield Obligation(name=f"{conjunct.name} at the start", scene=start, goal=goal)
    for scene in _scenes(table):
        for conjunct in UNDISTURBED:
            name = f"{conjunct.name} after {scene.action.name if scene.action else ''}"
            for goal in concerned(conjunct, scene.ranks):
                yield Obligation(name=name, scene=scene, goal=goal, after=True)


def _unheard(table: Table) -> Iterator[Obligation]:
    for row in filter(stops, table.rows):
        open_to_all = replace(row_action(replace(row, guard=TRUE)), row=None, updates=())
        scene = Scene(table, undisturbed(table), open_to_all)
        yield Obligation(name=f"no {row.name}", scene=scene, goal=~row.guard)


def _permitted(table: Table) -> Iterator[Obligation]:
    present = [each for each in undisturbed(table) if not each.numbered]
    for action in undisturbed_actions(table):
        # what the map does not see stays as it is, in any state: no invariant is needed
        image = Image(table, present, action, inductive=_is_seen(action))
        yield Obligation(name=action.name, scene=image, goal=PERMITTED.equals(1))


_SEEN = {"begun", "done", "received", "hand", "finished", "ended"}


def _is_seen(action: Action) -> bool:
    """Whether the map reads a field that the action changes."""
    ends = action.row is not None and action.row.target not in LIVE
    return ends or any(name in _SEEN for name, _ in action.updates)


def refinement_checks(table: Table = TABLE) -> tuple[Check, ...]:
    """R1, and the invariant that it needs."""
    return (
        parametric(
            "refines.invariant",
            "R1",
            "without early leaves and deaths: every loop stays, receives what was delivered and "
            "sees the end after all steps",
            lambda: chain(_preserved(table), _unheard(table)),
        ),
        parametric(
            "refines.moves",
            "R1",
            "every action is a STEP, CLOSE or FAIL of the abstract machine, or changes nothing",
            lambda: _permitted(table),
        ),
    )
