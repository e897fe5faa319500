"""Which files belong together, and what is said of a trace that is cut off."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dgap.proofs.__main__ import main
from dgap.proofs.replay import Unexplained, replay_files, summary
from dgap.protocol.vocabulary import LIVE
from dgap.runtime.config import LoaderConfig
from dgap.runtime.trace import trace_path
from tests.laws.worlds import Plan, build_world


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a run of two ranks."""
    folder = tmp_path / "runs" / "first"
    config = LoaderConfig(token_budget=10, window=4, trace_dir=str(folder))
    build_world(config, [Plan(costs=(4, 5, 6, 3, 2)), Plan(costs=(9,))], seed=3).run()
    return folder


def rank_1(folder: Path) -> Path:
    return trace_path(str(folder), epoch=0, rank=1)


def killed(folder: Path, *, kept: float) -> None:
    """Keep the first lines of rank 1, and this part of the line after them."""
    lines = rank_1(folder).read_text().splitlines(keepends=True)
    half = lines[len(lines) // 2]
    text = "".join(lines[: len(lines) // 2]) + half[: int(kept * len(half))]
    rank_1(folder).write_text(text)


def test_each_folder_below_a_folder_is_a_run_of_its_own(run: Path) -> None:
    shutil.copytree(run, run.parent / "second")
    traces = replay_files([run.parent])
    assert [trace.start.rank for trace in traces] == [0, 1, 0, 1]
    with pytest.raises(Unexplained, match=r"are of ranks \[0, 0, 1, 1\]"):
        replay_files([*run.iterdir(), *(run.parent / "second").iterdir()])


def test_files_of_one_run_may_lie_in_several_folders_if_they_are_named(run: Path) -> None:
    elsewhere = run.parent / "elsewhere"
    elsewhere.mkdir()
    moved = rank_1(run).rename(elsewhere / "rank1.ndjson")
    assert len(replay_files([trace_path(str(run), epoch=0, rank=0), moved])) == 2
    with pytest.raises(Unexplained, match=r"2 ranks ran, and the traces given are of ranks \[1\]"):
        replay_files([run.parent])


def test_a_folder_without_a_trace_is_refused(run: Path) -> None:
    empty = run.parent / "empty"
    empty.mkdir()
    with pytest.raises(Unexplained, match="empty: there is no trace in this folder"):
        replay_files([run, empty])
    with pytest.raises(Unexplained, match="nowhere"):
        replay_files([run.parent / "nowhere"])


@pytest.mark.parametrize("kept", [0.0, 0.5], ids=["between lines", "within a line"])
def test_a_trace_that_is_cut_off_is_accepted_only_where_that_is_said(
    run: Path, kept: float
) -> None:
    killed(run, kept=kept)
    with pytest.raises(Unexplained, match=r"rank1\.ndjson.*--cut accepts that"):
        replay_files([run])
    traces = replay_files([run], cut=True)
    assert traces[1].end.phase in LIVE


def test_a_line_without_its_end_is_named_though_it_reads_well(run: Path) -> None:
    text = rank_1(run).read_text()
    rank_1(run).write_text(text.removesuffix("\n"))
    number = text.count("\n")
    with pytest.raises(Unexplained, match=rf"rank1\.ndjson:{number}: the trace is cut off"):
        replay_files([run])


def test_what_comes_before_the_cut_is_explained_all_the_same(run: Path) -> None:
    killed(run, kept=0.5)
    text = rank_1(run).read_text()
    rank_1(run).write_text(text.replace('"event":"EXHAUST"', '"event":"READ"', 1))
    with pytest.raises(Unexplained, match=r"rank1\.ndjson:\d+: READ in phase FILL"):
        replay_files([run], cut=True)


@pytest.mark.parametrize("text", ["", '{"start":1,"dig'])
def test_a_trace_without_a_whole_line_is_refused_even_where_it_may_be_cut(
    run: Path, text: str
) -> None:
    rank_1(run).write_text(text)
    with pytest.raises(Unexplained, match=r"rank1\.ndjson: the trace is (empty|cut off in line 1)"):
        replay_files([run], cut=True)


def test_many_traces_are_counted_and_not_listed(run: Path) -> None:
    traces = replay_files([run])
    assert len(summary(traces)) == 3
    (line,) = summary(traces * 20)
    assert line.startswith("explained: ")
    assert "of 40 traces" in line


def test_the_command_takes_folders_and_a_cut(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(run.parent)]) == 0
    killed(run, kept=0.5)
    assert main(["replay", str(run.parent)]) == 1
    assert "--cut accepts that" in capsys.readouterr().out
    assert main(["replay", "--cut", str(run.parent)]) == 0
