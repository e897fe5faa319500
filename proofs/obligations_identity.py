"""Conservation by identity: each sample is in one place at a time and is delivered once.

Rules kept here:
1. The table counts; a row is a chain of moves of one sample between two places. That each row
   is such a chain is an obligation of its own.
2. A place is a stack: each of its samples has a slot, and each slot up to the count a sample.
   A count of 0 then means that no sample is there, which no statement about sums could say.
3. One move is checked for three samples: the moved one, the one that fills its slot, any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dgap.protocol.expr import Const, Formula, Term, conjoin
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import EffectKind, EventKind

from .actions import ACTOR
from .asking import Obligation, parametric
from .check import Check, Outcome, Reach, Verdict
from .obligations_invariant import action_scenes
from .parametric import Scene
from .solver import (
    INTEGER,
    SAMPLE,
    Z3,
    Theory,
    choose,
    constant,
    every,
    function,
    implication,
    some,
    value,
)

UNREAD, HELD, OWED, DELIVERED, LOST, DROPPED = range(6)
PLACES = ("unread", "held", "owed", "delivered", "given up", "dropped")
MOVES = ((UNREAD, HELD), (HELD, OWED), (OWED, DELIVERED), (OWED, LOST), (HELD, DROPPED))
"""The only ways a sample goes. Nothing leaves delivered."""


@dataclass(frozen=True, kw_only=True)
class Places:
    """Where every sample of one rank is: `of` and `slot`, and the sample `at` each slot."""

    suffix: str = ""

    def of(self, sample: Z3) -> Z3:
        """The place of a sample."""
        return function(f"place{self.suffix}", SAMPLE, INTEGER)(sample)

    def slot(self, sample: Z3) -> Z3:
        """Its slot in that place, from 1."""
        return function(f"slot{self.suffix}", SAMPLE, INTEGER)(sample)

    def count(self, place: Z3) -> Z3:
        """How many samples a place has: the counter of the table."""
        return function(f"count{self.suffix}", INTEGER, INTEGER)(place)

    def at(self, place: Z3, slot: Z3) -> Z3:
        """The sample in a slot of a place."""
        return function(f"at{self.suffix}", INTEGER, INTEGER, SAMPLE)(place, slot)

    def deliveries(self, sample: Z3) -> Z3:
        """How often a sample was delivered."""
        return function(f"deliveries{self.suffix}", SAMPLE, INTEGER)(sample)

    def holds_of(self, sample: Z3) -> Z3:
        """The sample is in one place, in a slot of its own, and was delivered if it is there."""
        place, slot = self.of(sample), self.slot(sample)
        delivered = choose(place == DELIVERED, constant("one"), constant("none"))
        return every(
            (
                place >= UNREAD,
                place <= DROPPED,
                slot >= 1,
                slot <= self.count(place),
                self.at(place, slot) == sample,
                self.deliveries(sample) == delivered,
            )
        )

    def holds_at(self, place: Z3, slot: Z3) -> Z3:
        """A slot up to the count has its sample: the count is the number of samples."""
        sample = self.at(place, slot)
        there = every((self.of(sample) == place, self.slot(sample) == slot))
        inside = every((place >= UNREAD, place <= DROPPED, slot >= 1, slot <= self.count(place)))
        return implication(inside, there)


def _move() -> tuple[list[Z3], Z3]:
    """Hypotheses of one move of one sample, and what must hold after it."""
    old, new = Places(), Places(suffix="_next")
    moved, other = constant("moved", SAMPLE), constant("other", SAMPLE)
    source, goal, slot, place = (constant(name) for name in ("from", "to", "slot_n", "place_n"))
    last = old.at(source, old.count(source))
    hole = old.slot(moved)
    allowed = some(every((source == s, goal == g)) for s, g in MOVES)
    after = old.count(goal) + 1
    hypotheses = [constant("one") == 1, constant("none") == 0, allowed, old.of(moved) == source]
    for sample in (moved, other, last, old.at(place, slot), new.at(place, slot)):
        hypotheses.append(old.holds_of(sample))
        here = sample == moved
        filled = every((sample == last, sample != moved))
        hypotheses += [
            new.of(sample) == choose(here, goal, old.of(sample)),
            new.slot(sample) == choose(here, after, choose(filled, hole, old.slot(sample))),
            new.deliveries(sample)
            == old.deliveries(sample)
            + choose(every((here, goal == DELIVERED)), constant("one"), constant("none")),
        ]
    for at in (source, goal, place, new.of(other)):
        change = choose(at == source, constant("one"), constant("none"))
        gain = choose(at == goal, constant("one"), constant("none"))
        hypotheses.append(new.count(at) == old.count(at) - change + gain)
        hypotheses.append(old.count(at) >= 0)
    spots = ((place, slot), (new.of(other), new.slot(other)), (new.of(moved), new.slot(moved)))
    for at, k in spots:
        hypotheses.append(old.holds_at(at, k))
        fills = every((at == source, k == hole))
        lands = every((at == goal, k == after))
        sample = choose(lands, moved, choose(fills, last, old.at(at, k)))
        hypotheses.append(new.at(at, k) == sample)
    hypotheses.append(old.holds_at(source, old.count(source)))
    kept = every(
        (new.holds_of(other), new.holds_of(moved), new.holds_at(place, slot), new.count(goal) >= 1)
    )
    return hypotheses, kept


def _decide(hypotheses: list[Z3], goal: Z3) -> Outcome:
    theory = Theory(hypotheses)
    witness = theory.witness()
    if witness.verdict != Verdict.PROVED:
        return Outcome(verdict=witness.verdict, detail=witness.reason)
    answer = theory.implies(goal)
    model = answer.model or witness.model
    moves = (PLACES[value(model, constant(name)) % 6] for name in ("from", "to"))
    return Outcome(
        verdict=answer.verdict,
        detail=answer.reason or "1 obligation, 3 samples named",
        trace=("a sample moves from " + " to ".join(moves),),
    )


def _moves_keep_identity() -> Outcome:
    return _decide(*_move())


def _covered() -> Outcome:
    """No sample is anywhere else: then it is delivered, and exactly once."""
    places, sample = Places(), constant("other", SAMPLE)
    elsewhere = (place for place in range(6) if place != DELIVERED)
    hypotheses = [
        constant("one") == 1,
        constant("none") == 0,
        places.holds_of(sample),
        *(places.count(place) == 0 for place in elsewhere),
    ]
    once = every((places.of(sample) == DELIVERED, places.deliveries(sample) == 1))
    return _decide(hypotheses, once)


def _flows(scene: Scene) -> tuple[Mapping[str, Term], Formula]:
    """How many samples go each way in an action, from what the places gain and lose."""
    changed = dict(scene.action.updates) if scene.action else {}

    def gain(name: str) -> Term:
        return changed.get(name, ACTOR[name]) - ACTOR[name]

    flows = {
        "read": gain("taken"),
        "delivered": gain("delivered"),
        "lost": gain("lost"),
        "dropped": gain("dropped"),
    }
    flows["assigned"] = gain("owed_samples") + flows["delivered"] + flows["lost"]
    balance = gain("held").equals(flows["read"] - flows["assigned"] - flows["dropped"])
    return flows, balance


def _chains(table: Table) -> Iterator[Obligation]:
    """Each action moves samples along `MOVES`, and no more than are there."""
    for name, scene in action_scenes(table).items():
        flows, balance = _flows(scene)
        row = scene.action.row if scene.action else None
        restarts = row is not None and any(a.kind == EffectKind.RESTART for a in row.asks)
        reads = row is not None and row.event == EventKind.READ
        unread = dict(scene.action.updates).get("unread") if scene.action else None
        taken = Const(0) if unread is None or restarts else ACTOR["unread"] - unread
        goal = conjoin(
            balance,
            *(flow >= 0 for flow in flows.values()),
            flows["read"].equals(1 if reads else 0),
            flows["read"].equals(taken),
            flows["assigned"] + flows["dropped"] <= ACTOR["held"] + flows["read"],
            flows["delivered"] + flows["lost"] <= ACTOR["owed_samples"],
        )
        yield Obligation(name=name, scene=scene, goal=goal)


def identity_checks(table: Table = TABLE) -> tuple[Check, ...]:
    """Conservation by identity."""
    once = Check(
        id="identity.moves",
        property="S4",
        statement="moving a sample keeps every sample in one place and delivered at most once",
        reach=Reach.ALL_RANKS,
        scope="any number of samples",
        expected=Verdict.PROVED,
        run=_moves_keep_identity,
    )
    covered = Check(
        id="identity.coverage",
        property="S5",
        statement="when all other places are empty, each sample was delivered exactly once",
        reach=Reach.ALL_RANKS,
        scope="any number of samples",
        expected=Verdict.PROVED,
        run=_covered,
    )
    chains = parametric(
        "identity.chains",
        "S4",
        "every action is a chain of one-sample moves, none backwards",
        lambda: _chains(table),
    )
    return (once, covered, chains)
