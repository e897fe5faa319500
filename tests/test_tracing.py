"""The traces of ranks: one folder per epoch, the same on all ranks, and only where asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from dgap.proofs.replay import replay_files
from dgap.protocol.vocabulary import Phase
from tests import tracing
from tests.laws.scenarios import Scenario, run_scenarios
from tests.processes import run_ranks, values_of

SCENARIOS = (
    Scenario(name="two epochs", costs=((3, 4, 5), (9,)), epochs=2),
    Scenario(name="another loader", costs=((), (9,))),
)


def test_every_epoch_of_every_loader_is_traced_into_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracing, "_chosen", [tmp_path])
    results = run_ranks(
        run_scenarios, world_size=2, start_method="fork", args_per_rank=[SCENARIOS] * 2
    )
    values_of(results)
    traces = replay_files([tmp_path / tracing.WHOLE])
    assert [trace.start.rank for trace in traces] == [0, 1] * 3
    assert [trace.start.epoch for trace in traces] == [0, 0, 1, 1, 0, 0]
    assert {trace.end.phase for trace in traces} == {Phase.CLOSED}
    assert [trace.end.delivered for trace in traces] == [3, 1, 3, 1, 0, 1]


def test_runs_have_folders_of_their_own_below_what_is_to_be_expected_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracing, "_chosen", [])
    assert tracing.new_trace_folder("run", killed=False) is None
    tracing.choose_trace_folder(tmp_path)
    folders = [tracing.new_trace_folder("run", killed=killed) for killed in (False, False, True)]
    assert len(set(folders)) == 3
    assert [Path(str(each)).parent for each in folders] == [
        tmp_path / tracing.WHOLE,
        tmp_path / tracing.WHOLE,
        tmp_path / tracing.CUT,
    ]
    assert list(tmp_path.iterdir()) == []
