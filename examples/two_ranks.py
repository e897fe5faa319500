"""One epoch of the protocol on two ranks, printed event by event. No torch, no processes.

    python examples/two_ranks.py

Rank 0 holds three samples, rank 1 one: the smallest input on which ranks that decide for
themselves would take unequal steps. Everything below the data is a reader of the transition
table: the example only says what happens, and prints what the table answers.
"""

from __future__ import annotations

from dgap.protocol.machine import Machine, initial_state
from dgap.protocol.vocabulary import Effect, EffectKind, Event, EventKind, Phase, Settings

SAMPLES = (3, 1)
"""Samples on each rank; each needs a batch of its own."""

SETTINGS = Settings(window=4)


class Rank:
    """A rank that prints what happens to it."""

    def __init__(self, index: int, machine: Machine, unread: int) -> None:
        self.index = index
        self.machine = machine
        self.unread = unread
        self.state = initial_state(SETTINGS)

    def happens(self, kind: EventKind, **arguments: object) -> tuple[Effect, ...]:
        """Step the machine and print the line of the transcript."""
        before = Phase(self.state.phase).name
        event = Event(kind, **arguments)  # type: ignore[arg-type]
        self.state, effects = self.machine.step(self.state, event)
        shown = ", ".join(
            f"{name}={value}" for name, value in arguments.items() if name != "reports"
        )
        asked = ", ".join(f"{EffectKind(kind).name}({argument})" for kind, argument in effects)
        line = f"rank {self.index}  {before:>5} --{kind.name.lower()}({shown})--> "
        print(f"{line}{Phase(self.state.phase).name}  {asked}".rstrip())
        return effects

    def fill_and_offer(self) -> None:
        """Read until the window is ready, then publish the report."""
        while self.machine.permits(self.state, Event(EventKind.READ)):
            self.happens(EventKind.READ if self.unread else EventKind.EXHAUST)
            self.unread = max(0, self.unread - 1)
        held = self.state.held
        self.happens(EventKind.OFFER, needed=held, units=held)

    def emit(self) -> None:
        """Hand over what is owed: batches first, then idle ones."""
        while self.state.owed_groups:
            self.happens(EventKind.DELIVER, samples=1)
        while self.state.owed_steps:
            self.happens(EventKind.IDLE)
        self.happens(EventKind.TURN)


def main() -> None:
    """Run rounds until both ranks are closed."""
    machine = Machine(SETTINGS)
    ranks = [Rank(index, machine, unread) for index, unread in enumerate(SAMPLES)]
    while any(rank.state.phase != Phase.CLOSED for rank in ranks):
        for rank in ranks:
            rank.fill_and_offer()
        reports = tuple(machine.report(rank.state) for rank in ranks)
        print(f"        all reports are in: {[report.offered for report in reports]} offered")
        effects = [rank.happens(EventKind.GATHERED, reports=reports) for rank in ranks]
        if effects[0][0].kind == EffectKind.TALLY:
            for rank in ranks:
                assigned = min(rank.state.offered, rank.state.owed_steps)
                rank.happens(EventKind.SUMMED, assigned=assigned)
            for rank in ranks:
                rank.emit()
    for rank in ranks:
        print(f"rank {rank.index}: {rank.state.steps} steps, {rank.state.delivered} samples")


if __name__ == "__main__":
    main()
