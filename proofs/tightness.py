"""Bounds that are met: runs of the protocol that take as long as was proved, and no longer.

Rules kept here:
1. A bound without such a run may be far off; each has one here, or a witness of the explorer
   (spec/witnesses.py: the bounds on rounds).
2. The run is made of events that the machine takes; nothing is assumed of it.
"""

from __future__ import annotations

from dgap.protocol.machine import Machine, initial_state
from dgap.protocol.vocabulary import Event, EventKind, Report, Settings, State

from .check import Check, Outcome, Reach, Verdict

WINDOWS = range(1, 5)


def longest_wait(window: int) -> int:
    """Rounds between that for which a sample was read and that of its group, in the worst run.

    Two ranks with full windows: rank 0's samples need a group each, rank 1's fit into one, so T
    is 1. Rank 0 places its oldest sample alone, each time.
    """
    settings = Settings(window=window)
    machine, state = Machine(settings), initial_state(settings)
    read_for: list[int] = []
    waited = 0
    for number in range(1, 2 * window + 1):
        while state.held < state.target:
            state, _ = machine.step(state, Event(EventKind.READ))
            read_for.append(number)
        state, _ = machine.step(state, Event(EventKind.OFFER, needed=state.held, units=state.held))
        peer = Report(offered=window, needed=1, units=window)
        reports = (machine.report(state), peer)
        state, _ = machine.step(state, Event(EventKind.GATHERED, reports=reports))
        if state.owed_steps == 1 and window > 1:
            state, _ = machine.step(state, Event(EventKind.SUMMED, assigned=1))
        else:
            state, _ = machine.step(state, Event(EventKind.SUMMED, assigned=state.offered))
        waited = max(waited, number - read_for[0])
        read_for = read_for[len(read_for) - state.held :]
        state = _emitted(machine, state)
    return waited


def _emitted(machine: Machine, state: State) -> State:
    while state.owed_groups:
        state, _ = machine.step(state, Event(EventKind.DELIVER, samples=1))
    return machine.step(state, Event(EventKind.TURN))[0]


def _is_tight() -> Outcome:
    waits_of = {window: longest_wait(window) for window in WINDOWS}
    met = all(waited == window - 1 for window, waited in waits_of.items())
    trace = tuple(f"window {window}: {waited} rounds" for window, waited in waits_of.items())
    return Outcome(verdict=Verdict.PROVED if met else Verdict.REFUTED, trace=trace)


def tightness_checks() -> tuple[Check, ...]:
    """Each bound is met."""
    return (
        Check(
            id="age.tight",
            property="S12",
            statement="the bound is met: a sample waits for B - 1 rounds",
            reach=Reach.EXHAUSTIVE,
            scope=f"one run of W=2 for each window of {WINDOWS[0]} to {WINDOWS[-1]}",
            expected=Verdict.PROVED,
            run=_is_tight,
        ),
    )
