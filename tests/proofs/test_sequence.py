"""The diagram reads from top to bottom and ends with what is violated."""

from __future__ import annotations

import pytest

from dgap.proofs.demo_bug import one_run, shortest
from dgap.proofs.exploration import CONTROL_FAMILY
from dgap.proofs.families import FAMILIES, explore_family
from dgap.proofs.planted import PLANTED
from dgap.proofs.schedule import Move, schedule_of
from dgap.proofs.sequence import counted, draw, failing, text_of, values_in
from dgap.protocol.expr import TRUE, Const, Truth, conjoin, implies
from dgap.protocol.table import TABLE
from dgap.protocol.vocabulary import state
from dgap.spec.oracle_expr import Reading

LOSS = """\
rank 0                        loop 0  rank 1                        loop 1
----------------------------  ------  ----------------------------  ------
2 samples                             1 sample
reads, holds 1
reads, holds 2
source has ended
says exhausted=1 but holds 2
                                      reads, holds 1
                                      source has ended
                                      says exhausted=1 but holds 1
hears CLOSE

violated: S5: join mode: at CLOSED every sample of the source was delivered, and is received when \
the loop ends
  at rank 0 this is false: (delivered == source)
  since delivered is 0, source is 2"""


def test_the_loss_of_the_original_is_drawn() -> None:
    schedule = shortest(PLANTED["finished_while_holding"](), (2, 1), "S5")
    assert schedule is not None
    assert "\n".join(draw(schedule)) == LOSS


def test_a_sound_run_shows_each_move_and_nothing_violated() -> None:
    schedule = one_run(TABLE, (2, 1))
    lines = draw(schedule)
    assert len(lines) == 3 + len(schedule.moves)
    assert not any(line.startswith("violated") for line in lines)
    text = "\n".join(lines)
    for words in ("hears STEP T=1", "queues 2 samples", "takes 1 sample", "sees the end"):
        assert words in text


@pytest.mark.parametrize("name", ["control", "unlike", "crash-three", "one-rank", "faults-three"])
def test_whatever_is_reached_can_be_drawn(name: str) -> None:
    family = next(each for each in (CONTROL_FAMILY, *FAMILIES) if each.name == name)
    for explored in explore_family(family):
        for path in explored.exploration.shown.values():
            schedule = schedule_of(explored.world, path)
            assert len(draw(schedule)) == 3 + len(schedule.moves)


def move(**changes: object) -> Move:
    return Move(**{"rank": 0, "name": "x", "arguments": {}, "changes": {}, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (move(name="take", changes={"hand": 2}), "takes 2 samples"),
        (move(name="take"), "takes an idle batch"),
        (move(name="crash"), "DIES"),
        (move(name="leave"), "leaves early"),
        (move(name="train_breaks"), "step broke"),
        (move(event="IDLE", row="idle"), "queues an idle batch"),
        (move(event="IDLE", row="end"), "ends the iterator"),
        (move(event="FAIL", row="fail_reading"), "USER CODE FAILS"),
        (move(event="BREAK", row="break_fill"), "collective broke"),
        (move(event="GATHERED", row="verdict_restart"), "hears RESTART"),
        (move(event="STOP", row="stop_reading"), "stop_reading"),
        (move(event="SUMMED", changes={"owed_groups": 1}, arguments={"assigned": 3}),
         "puts 3 samples into 1 group"),
    ],
)  # fmt: skip
def test_a_move_is_a_few_words(made: Move, text: str) -> None:
    assert text_of(made) == text


def test_the_smallest_broken_part_is_shown() -> None:
    reading = Reading(own={"state": {"held": 2, "phase": 4}})
    good, bad = state("held").equals(2), state("held").equals(3)
    assert failing(good, reading) is None
    assert failing(conjoin(good, bad), reading) == bad
    assert failing(implies(good, conjoin(TRUE, bad)), reading) == bad
    assert failing(implies(bad, bad), reading) is None
    assert failing(~good, reading) == ~good
    assert values_in(bad & state("phase").equals(4), reading) == "held is 2, phase is CLOSED"
    assert values_in(Truth(False), reading) == "the ranks differ"
    assert values_in(Const(1), reading) == "the ranks differ"


def test_things_are_counted() -> None:
    assert (counted(1, "step"), counted(0, "step")) == ("1 step", "0 steps")
