"""What TLC and rumur print is read as it is meant, and anything else is no answer.

The outputs are recorded from real runs, shortened in the middle.
"""

from __future__ import annotations

import shutil
from importlib import metadata

import pytest

from dgap.proofs.export_tla import TlaFiles
from dgap.proofs.foreign_tools import (
    STANDS_STILL,
    STUTTERS,
    Answer,
    MissingTool,
    UnreadableAnswer,
    read_rumur,
    read_tlc,
    run_rumur,
    run_tlc,
    tlc_jar,
)

TLC_COMPLETE = """\
TLC2 Version 2.15 of Day Month 20?? (rev: d5b5a7f)
Finished computing initial states: 9 distinct states generated at 2026-11-30 22:18:58.
Progress(14) at 2026-11-30 22:19:01: 1,147 states generated (1,147 s/min), 655 distinct states \
found (655 ds/min), 147 states left on queue.
Model checking completed. No error has been found.
9730 states generated, 3804 distinct states found, 0 states left on queue.
The depth of the complete state graph search is 41.
"""
TLC_INVARIANT = """\
Error: Invariant S5 is violated.
Error: The behavior up to this point is:
State 1: <Initial predicate>
334 states generated, 142 distinct states found, 21 states left on queue.
"""
TLC_INITIAL = "Error: Invariant TypeOK is violated by the initial state:\n/\\ ranks = ...\n"
TLC_DEADLOCK = """\
Error: Deadlock reached.
Error: The behavior up to this point is:
2476 states generated, 1185 distinct states found, 139 states left on queue.
"""
TLC_BROKEN_MODULE = "***Parse Error***\nError: Parsing or semantic analysis failed.\n"
RUMUR_COMPLETE = """\
Status:

	No error found.

State Space Explored:

	3804 states, 9685 rules fired in 1s.
"""
RUMUR_INVARIANT = """\
The following is the error trace for the error:

	invariant "S5" failed

Status:

	1 error(s) found.

State Space Explored:

	141 states, 325 rules fired in 0s.
"""
RUMUR_DEADLOCK = RUMUR_INVARIANT.replace('invariant "S5" failed', "deadlock")
RUMUR_OVERFLOW = RUMUR_INVARIANT.replace(
    'invariant "S5" failed', "model.m:94:3-28: write of out-of-range value into number"
)


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        (TLC_COMPLETE, Answer(states=3804)),
        (TLC_INVARIANT, Answer(states=142, broken="S5")),
        (TLC_INITIAL, Answer(states=0, broken="TypeOK")),
        (TLC_DEADLOCK, Answer(states=1185, broken=STANDS_STILL)),
    ],
)
def test_what_tlc_says_is_read(output: str, answer: Answer) -> None:
    assert read_tlc(output) == answer


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        (RUMUR_COMPLETE, Answer(states=3804)),
        (RUMUR_INVARIANT, Answer(states=141, broken="S5")),
        (RUMUR_DEADLOCK, Answer(states=141, broken=STANDS_STILL)),
    ],
)
def test_what_rumur_says_is_read(output: str, answer: Answer) -> None:
    assert read_rumur(output) == answer


@pytest.mark.parametrize(
    "output",
    [
        "",
        TLC_BROKEN_MODULE,
        TLC_COMPLETE.replace("Model checking completed. ", ""),
        TLC_COMPLETE.replace("found, 0 states left", "found, 7 states left"),
        TLC_COMPLETE + "Error: TLC threw an unexpected exception.\n",
        TLC_COMPLETE.replace("3804", "0"),
    ],
)
def test_an_unfinished_run_of_tlc_is_no_answer(output: str) -> None:
    with pytest.raises(UnreadableAnswer, match="TLC did not finish"):
        read_tlc(output)


@pytest.mark.parametrize(
    "output",
    ["", "Killed", RUMUR_OVERFLOW, RUMUR_COMPLETE.split("State Space")[0]],
)
def test_an_unfinished_run_of_rumur_is_no_answer(output: str) -> None:
    with pytest.raises(UnreadableAnswer, match="rumur did not finish"):
        read_rumur(output)


def test_a_missing_program_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(MissingTool, match="rumur is not installed: apt-get install rumur"):
        run_rumur("")
    with pytest.raises(MissingTool, match="java is not installed"):
        run_tlc(TlaFiles(module="", config=""))


def test_a_missing_jar_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "files", absent)
    with pytest.raises(MissingTool, match="pip install"):
        tlc_jar()


def test_the_tools_are_installed_where_the_tests_run() -> None:
    assert tlc_jar().exists()


def test_a_model_that_rumur_refuses_is_no_answer() -> None:
    with pytest.raises(UnreadableAnswer, match="no verifier was built"):
        run_rumur("this is no model")


def test_a_run_that_stands_still_for_ever_is_told_from_other_broken_hopes() -> None:
    counted = "7 distinct states found, 0 states left on queue.\n"
    broken = f"Error: Temporal properties were violated.\n{counted}"
    assert read_tlc(f"{broken}State 3: Stuttering\n") == Answer(states=7, broken=STUTTERS)
    with pytest.raises(UnreadableAnswer):
        read_tlc(f"{broken}Back to state 1\n")
