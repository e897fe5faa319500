"""A trace holds every step of a rank, on disk before its effects; without a folder is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from dgap.protocol.errors import IllegalTransition
from dgap.protocol.machine import Machine, initial_state
from dgap.protocol.trace import read_start, read_taken
from dgap.protocol.vocabulary import EffectKind, Event, EventKind, Phase, Settings
from dgap.runtime.trace import TracedMachine, trace_path, traced
from tests.runtime.loading import COSTS, loader, numbers

MACHINE = Machine(Settings(window=2))
STATE = initial_state(MACHINE.settings)


def traced_into(folder: Path) -> Machine:
    return traced(MACHINE, str(folder), state=STATE, epoch=3, rank=1, world_size=2)


def test_without_a_folder_the_machine_is_the_plain_one() -> None:
    assert traced(MACHINE, None, state=STATE, epoch=0, rank=0, world_size=1) is MACHINE


def test_the_first_line_says_what_runs_where(tmp_path: Path) -> None:
    traced_into(tmp_path / "new" / "folder")
    path = trace_path(str(tmp_path / "new" / "folder"), epoch=3, rank=1)
    assert path.name == "trace-epoch3-rank1.ndjson"
    start = read_start(path.read_text().splitlines()[0])
    assert start == (MACHINE.table.digest(), 1, 2, 3, MACHINE.settings, STATE)


def test_each_step_is_on_disk_as_soon_as_it_is_taken(tmp_path: Path) -> None:
    machine = traced_into(tmp_path)
    path = trace_path(str(tmp_path), epoch=3, rank=1)
    after, effects = machine.step(STATE, Event(EventKind.READ))
    assert (after, effects) == MACHINE.step(STATE, Event(EventKind.READ))
    taken = read_taken(path.read_text().splitlines()[-1])
    assert (taken.line, taken.event, dict(taken.changes)) == (
        1,
        Event(EventKind.READ),
        {"held": 1, "read": 1},
    )
    machine.step(after, Event(EventKind.EXHAUST))
    assert read_taken(path.read_text().splitlines()[-1]).line == 2


def test_what_is_asked_or_refused_is_no_step(tmp_path: Path) -> None:
    machine = traced_into(tmp_path)
    assert machine.permits(STATE, Event(EventKind.READ))
    with pytest.raises(IllegalTransition):
        machine.step(STATE, Event(EventKind.TURN))
    machine.report(STATE)
    assert len(trace_path(str(tmp_path), epoch=3, rank=1).read_text().splitlines()) == 1


def test_the_last_step_closes_the_file(tmp_path: Path) -> None:
    file = (tmp_path / "t").open("w", buffering=1)
    machine = TracedMachine(MACHINE, file)
    after, _ = machine.step(STATE, Event(EventKind.BREAK))
    assert after.phase == Phase.FAILED
    assert file.closed


def test_a_loader_writes_one_file_per_epoch(tmp_path: Path) -> None:
    traced_loader = loader(COSTS, trace_dir=str(tmp_path))
    for epoch in range(2):
        traced_loader.set_epoch(epoch)
        assert sorted(numbers(traced_loader)) == list(range(len(COSTS)))
    traced_loader.close()
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == [f"trace-epoch{epoch}-rank0.ndjson" for epoch in range(2)]
    lines = (tmp_path / files[0]).read_text().splitlines()
    taken = [read_taken(line) for line in lines[1:]]
    assert [each.line for each in taken] == list(range(1, len(lines)))
    delivered = sum(each.event.samples for each in taken if each.event.kind == EventKind.DELIVER)
    assert delivered == len(COSTS)
    assert [effect.kind for effect in taken[-1].effects] == [EffectKind.CLOSE]


def test_a_loader_without_a_folder_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plain = loader(COSTS)
    list(plain)
    plain.close()
    assert list(tmp_path.iterdir()) == []


def test_a_trace_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    blocked = loader(COSTS, trace_dir=str(tmp_path / "file" / "below"))
    with pytest.raises(OSError, match="file"):
        next(iter(blocked))
    blocked.close()
