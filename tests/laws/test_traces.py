"""The traces of real processes are replayed line by line against the table, and rank by rank."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dgap.proofs.replay import Replayed, Unexplained, replay_files
from dgap.protocol.errors import PeerStopped
from dgap.protocol.vocabulary import Phase
from dgap.runtime.trace import trace_path
from tests.laws.scenarios import Scenario, mixed, run_scenarios
from tests.processes import run_ranks, values_of

UNEVEN = (mixed(31), (70, 1))
SCENARIOS = (
    Scenario(name="epochs", costs=UNEVEN, settings={"window": 8, "first_window": 2}, epochs=2),
    Scenario(name="paper", costs=UNEVEN, settings={"window": 8, "policy": "paper"}),
    Scenario(name="stop", costs=UNEVEN, settings={"window": 8, "tail": "stop"}),
    Scenario(name="units", costs=UNEVEN, settings={"window": 8, "accumulation_steps": 2}),
    Scenario(name="quota", costs=UNEVEN, settings={"mode": "quota", "quota": 45, "window": 8}),
    Scenario(name="empty", costs=((), mixed(5))),
    Scenario(name="workers", costs=UNEVEN, num_workers=1),
)


def into(scenario: Scenario, folder: Path) -> Scenario:
    settings = scenario.settings | {"trace_dir": str(folder / scenario.name)}
    return replace(scenario, settings=settings)


def leave_early(rank: int, world_size: int, scenario: Scenario) -> int:
    """Rank 0 leaves after two steps; its peer is told."""
    loader = scenario.loader(rank)
    count = 0
    try:
        for _ in loader.steps():
            count += 1
            if rank == 0 and count == 2:
                break
    except PeerStopped:
        pass
    loader.close()
    return count


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The traces of all scenarios, from one pair of processes."""
    folder = tmp_path_factory.mktemp("traces")
    scenarios = tuple(into(scenario, folder) for scenario in SCENARIOS)
    values_of(
        run_ranks(
            run_scenarios,
            world_size=2,
            start_method="fork",
            args_per_rank=[scenarios] * 2,
            timeout_s=120.0,
        )
    )
    return folder


def replayed(folder: Path) -> tuple[Replayed, ...]:
    return replay_files(sorted(folder.iterdir()))


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_every_step_of_both_ranks_is_a_row_of_the_table(folder: Path, scenario: Scenario) -> None:
    traces = replayed(folder / scenario.name)
    assert len(traces) == 2 * scenario.epochs
    assert {trace.end.phase for trace in traces} == {Phase.CLOSED}
    for trace in traces:
        source = len(scenario.costs[trace.start.rank])
        expected = source if trace.start.settings.quota == 0 else trace.start.state.remaining
        assert trace.end.delivered == expected
        assert len(trace.gathers) == trace.end.rounds
    if not any(trace.start.settings.tail_stop for trace in traces):
        assert traces[0].end.steps == traces[1].end.steps


def test_the_traces_show_what_can_happen(folder: Path) -> None:
    rows = {
        row
        for scenario in SCENARIOS
        for trace in replayed(folder / scenario.name)
        for row in trace.rows
    }
    assert rows >= {
        "read",
        "exhaust",
        "offer",
        "verdict_step",
        "verdict_close",
        "verdict_restart",
        "summed",
        "deliver",
        "idle",
        "end",
        "turn",
    }


def test_a_rank_whose_trace_is_lost_or_changed_is_found(folder: Path, tmp_path: Path) -> None:
    paths = [trace_path(str(folder / "paper"), epoch=0, rank=rank) for rank in range(2)]
    with pytest.raises(Unexplained, match=r"the traces given are of ranks \[0\]"):
        replay_files(paths[:1])
    text = paths[1].read_text()
    doctored = tmp_path / "doctored.ndjson"
    doctored.write_text(text.replace('"event":"READ"', '"event":"EXHAUST"', 1))
    with pytest.raises(
        Unexplained, match=r"doctored\.ndjson:2: EXHAUST in phase FILL: row exhaust"
    ):
        replay_files([paths[0], doctored])


def test_an_early_leave_is_explained_on_both_ranks(tmp_path: Path) -> None:
    costs = (mixed(40), mixed(40, 7))
    scenario = into(Scenario(name="leave", costs=costs, settings={"window": 4}), tmp_path)
    results = run_ranks(
        leave_early, world_size=2, start_method="fork", args_per_rank=[scenario] * 2
    )
    values_of(results)
    traces = replayed(tmp_path / "leave")
    rows = [set(trace.rows) for trace in traces]
    assert rows[0] & {"stop_reading", "stop_emitting"}
    assert "verdict_stop" in rows[0] & rows[1]
