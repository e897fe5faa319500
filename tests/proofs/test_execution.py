"""The box of small inputs is full, and a single wrong answer in it is found."""

from __future__ import annotations

import pytest

from dgap.proofs.check import Verdict
from dgap.proofs.execution import Box
from dgap.proofs.row_terms import places, settle
from dgap.proofs.solver import negation, some
from dgap.protocol.machine import Machine, Transition
from dgap.protocol.table import TABLE
from dgap.protocol.vocabulary import Event, EventKind, Phase, Settings, State

SETTINGS = Settings(window=3, accumulation=2, quota=1)
PLACES = sorted(places(TABLE))


class WrongOnce(Machine):
    """Answers one call otherwise."""

    wrong: tuple[State, Event]

    def attempt(self, state: State, event: Event) -> Transition | None:
        """As the machine does, but for that call."""
        result = super().attempt(state, event)
        if (state, event) != self.wrong:
            return result
        return None if result else (state._replace(phase=Phase.CLOSED), ())


def box_of(place: tuple[int, int]) -> tuple[Box, list[tuple[State, Event]]]:
    box = Box(places(TABLE)[place], SETTINGS, int(place[1] == EventKind.GATHERED))
    return box, list(box.calls(Phase(place[0]), EventKind(place[1])))


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_each_place_is_both_taken_and_refused_in_its_box(place: tuple[int, int]) -> None:
    machine = Machine(SETTINGS)
    _, calls = box_of(place)
    assert len(set(calls)) == len(calls)
    answers = {machine.attempt(*call) is not None for call in calls}
    always = place[1] in (EventKind.BREAK, EventKind.GATHERED)
    assert answers == ({True} if always else {True, False})


@pytest.mark.parametrize("place", [(0, 0), (1, 6), (3, 9), (3, 10)], ids=str)
def test_one_wrong_answer_among_all_is_found(place: tuple[int, int]) -> None:
    box, calls = box_of(place)
    machine = WrongOnce(SETTINGS)
    for call in (calls[0], calls[len(calls) // 2], calls[-1]):
        machine.wrong = call
        another = some(box.another(machine, *each) for each in calls)
        found = settle("here", box.hypotheses, negation(another))
        assert found is not None
        assert found.verdict == Verdict.REFUTED
