"""Concrete runs of a few ranks on the compiled machine, with the ghosts that the proofs speak of.

A dumb twin of proofs/actions.py and proofs/parametric.py: plain Python, a seeded schedule.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from dgap.proofs.terms import Agreed, Said
from dgap.protocol.expr import Const, Node, rebuild
from dgap.protocol.machine import Machine, initial_state
from dgap.protocol.vocabulary import EffectKind, Event, EventKind, Phase, Report, Settings, State
from dgap.spec.oracle_expr import Reading, value_of

GHOSTS = "entered left taken begun done gone".split()
LEAVING = (EventKind.GATHERED, EventKind.SUMMED)


@dataclass
class Run:
    """A world of `len(sources)` ranks. `names[i]` is how expressions call rank i."""

    settings: Settings
    sources: list[int]
    shares: list[int]
    rng: random.Random
    names: str = "abcdefg"
    queue_limit: int = 1
    troubled: bool = True  # failures and early leaves may happen
    states: list[State] = field(default_factory=list)
    ghosts: list[dict[str, int]] = field(default_factory=list)
    said: dict[tuple[int, int], Report] = field(default_factory=dict)
    verdicts: dict[int, tuple[int, int]] = field(default_factory=dict)  # effect, argument
    happened: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.machine = Machine(self.settings)
        for source, share in zip(self.sources, self.shares, strict=True):
            self.states.append(initial_state(self.settings, quota_share=share))
            fixed = {"unread": source, "source": source, "share": share, "pass_start": share}
            self.ghosts.append(dict.fromkeys(GHOSTS, 0) | fixed)

    def step(self) -> bool:
        """One random action of one random rank; False if nothing can happen any more."""
        moves: list[Callable[[], None]] = []
        for rank in range(len(self.states)):
            moves += self._protocol_moves(rank) + self._loop_moves(rank)
        if not moves:
            return False
        self.rng.choice(moves)()
        return True

    def _protocol_moves(self, rank: int) -> list[Callable[[], None]]:
        events = [event for event in self._events(rank) if self._permits(rank, event)]
        return [lambda event=event: self._apply(rank, event) for event in events]  # type: ignore[misc]

    def _permits(self, rank: int, event: Event) -> bool:
        return self.machine.permits(self.states[rank], event)

    def _events(self, rank: int) -> list[Event]:
        state, ghost, a = self.states[rank], self.ghosts[rank], self.settings.accumulation
        events = [Event(EventKind.READ if ghost["unread"] else EventKind.EXHAUST)]
        most = -(-state.held // a)
        events.append(
            Event(
                EventKind.OFFER,
                needed=self.rng.randint(min(1, most), most),
                units=state.held // a,
            )
        )
        if self.troubled and self.rng.random() < 0.02:
            events.append(Event(EventKind.FAIL, code=1))
        if ghost["gone"]:
            events.append(Event(EventKind.STOP))
        if all(other["entered"] >= ghost["entered"] for other in self.ghosts):
            ranks = range(len(self.states))
            if state.phase == Phase.OFFER:
                reports = tuple(self.said[ghost["entered"], other] for other in ranks)
                events.append(Event(EventKind.GATHERED, reports=reports))
            assigned = self.rng.randint(0, state.offered)
            events += [Event(EventKind.SUMMED, assigned=n) for n in (assigned, state.offered)]
        if state.steps - ghost["begun"] < self.queue_limit or ghost["gone"]:
            samples = range(1, state.owed_samples + 1)
            events += [Event(EventKind.DELIVER, samples=n) for n in samples]
            events.append(Event(EventKind.IDLE))
        elif self._permits(rank, Event(EventKind.IDLE)) and self._ends(rank):
            events.append(Event(EventKind.IDLE))
        events.append(Event(EventKind.TURN))
        return events

    def _ends(self, rank: int) -> bool:
        _, effects = self.machine.step(self.states[rank], Event(EventKind.IDLE))
        return effects[0].kind == EffectKind.END

    def _apply(self, rank: int, event: Event) -> None:
        ghost = self.ghosts[rank]
        state, effects = self.machine.step(self.states[rank], event)
        self.states[rank] = state
        self.happened.add(event.kind.name)
        if event.kind == EventKind.READ:
            ghost["unread"] -= 1
            ghost["taken"] += 1
        if event.kind == EventKind.GATHERED:
            self.verdicts[ghost["entered"]] = (effects[0].kind, effects[0].argument)
        if event.kind in LEAVING:
            ghost["left"] += 1
        for effect in effects:
            self.happened.add(EffectKind(effect.kind).name)
            if effect.kind in (EffectKind.GATHER, EffectKind.TALLY):
                ghost["entered"] += 1
            if effect.kind == EffectKind.GATHER:
                self.said[ghost["entered"], rank] = self.machine.report(state)
            if effect.kind == EffectKind.RESTART:
                ghost["unread"], ghost["pass_start"] = ghost["source"], state.remaining

    def _takes_part(self, rank: int) -> bool:
        state, ghost = self.states[rank], self.ghosts[rank]
        return not ghost["gone"] and not (state.ended and ghost["done"] == state.steps)

    def _loop_moves(self, rank: int) -> list[Callable[[], None]]:
        state, ghost = self.states[rank], self.ghosts[rank]
        if not self._takes_part(rank):
            return []

        def add(name: str) -> Callable[[], None]:
            return lambda: ghost.update({name: ghost[name] + 1})

        if ghost["begun"] == ghost["done"]:
            leaves = [add("gone")] if self.troubled and self.rng.random() < 0.005 else []
            return [*leaves, *([add("begun")] if ghost["begun"] < state.steps else [])]
        peers = [r for r in range(len(self.states)) if self._takes_part(r)]
        ready = all(self.ghosts[r]["begun"] >= ghost["begun"] for r in peers)
        return [add("done")] if ready else []

    def reading(self) -> Reading:
        """What the names of the proofs mean in the present state."""
        world = {"queue_limit": self.queue_limit}
        for name, state, ghost in zip(self.names, self.states, self.ghosts, strict=False):
            world |= {f"{name}.{key}": value for key, value in state._asdict().items()}
            world |= {f"{name}.{key}": value for key, value in ghost.items()}
        return Reading(own={"world": world, "setting": self.settings._asdict()})

    def resolve(self, node: Node) -> Node:
        """The node with what all ranks agree on, and what they said, put in as constants."""
        if isinstance(node, Agreed):
            return Const(self._agreed(node.figure, value_of(node.number, self.reading())))
        if isinstance(node, Said):
            number = value_of(node.number, self.reading())
            report = self.said.get((number, self.names.index(node.rank)), Report())
            return Const(int(getattr(report, node.field)))
        return rebuild(node, self.resolve)

    def _agreed(self, figure: str, number: int) -> int:
        kind, rounds, restarts, planned = 1, 0, 0, 0
        for each in range(1, number + 1):
            stepped = kind == 0 and self.verdicts.get(each - 1, (0, 0))[0] == EffectKind.TALLY
            kind = 1 if stepped else 0
            rounds += kind == 0
            effect, argument = self.verdicts.get(each, (0, 0)) if kind == 0 else (0, 0)
            planned += argument if effect == EffectKind.TALLY else 0
            restarts += effect == EffectKind.RESTART
        verdict = self.verdicts.get(number, (0, 0))[0]
        known = {"kind_at": kind, "rounds_at": rounds, "planned_at": planned}
        known["restarts_at"] = restarts
        return (known | {"verdict_at": verdict})[figure]
