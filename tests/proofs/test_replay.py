"""A true trace is explained line by line; a doctored one is refused at the very line."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from dgap.proofs.__main__ import main
from dgap.proofs.planted import finished_while_holding
from dgap.proofs.replay import Unexplained, replay, replay_files, replay_one, summary
from dgap.protocol.machine import Machine
from dgap.protocol.table import TABLE
from dgap.protocol.vocabulary import Phase
from dgap.runtime.config import LoaderConfig
from dgap.runtime.trace import trace_path
from tests.laws.worlds import Plan, build_world

Lines = list[str]


def traces(folder: Path, plans: Sequence[Plan], **settings: Any) -> dict[str, Lines]:
    """The traces of a loopback run, by name."""
    config = LoaderConfig(**{"token_budget": 10, "window": 4, "trace_dir": str(folder), **settings})
    build_world(config, plans, seed=3).run()
    paths = (trace_path(str(folder), epoch=0, rank=rank) for rank in range(len(plans)))
    return {f"rank{rank}": path.read_text().splitlines() for rank, path in enumerate(paths)}


@pytest.fixture
def two(tmp_path: Path) -> dict[str, Lines]:
    return traces(tmp_path, [Plan(costs=(4, 5, 6, 3, 2)), Plan(costs=(9,))])


def as_texts(found: dict[str, Lines]) -> list[tuple[str, str]]:
    return [(name, "".join(f"{line}\n" for line in lines)) for name, lines in found.items()]


def edited(text: str, /, **changes: Any) -> str:
    return json.dumps(json.loads(text) | changes)


def line_of(lines: Lines, event: str) -> int:
    """The index of the first line of an event."""
    return next(at for at, line in enumerate(lines) if json.loads(line).get("event") == event)


RUNS: dict[str, tuple[list[Plan], dict[str, Any], set[int]]] = {
    "join": ([Plan(costs=(4,) * 9), Plan(costs=(9, 2))], {}, {Phase.CLOSED}),
    "nothing": ([Plan(), Plan()], {}, {Phase.CLOSED}),
    "three ranks": ([Plan(costs=(3,) * 5), Plan(), Plan(costs=(8,))], {}, {Phase.CLOSED}),
    "tail stop": ([Plan(costs=(4,) * 9), Plan(costs=(9,))], {"tail": "stop"}, {Phase.CLOSED}),
    "accumulation": (
        [Plan(costs=(4,) * 9), Plan(costs=(9,))],
        {"accumulation_steps": 2},
        {Phase.CLOSED},
    ),
    "quota": (
        [Plan(costs=(4, 4)), Plan(costs=(9,))],
        {"mode": "quota", "quota": 7},
        {Phase.CLOSED},
    ),
    "a fault": ([Plan(costs=(4,) * 6, source_fails_at=5), Plan(costs=(9,))], {}, {Phase.FAILED}),
    "leaving": ([Plan(costs=(4,) * 9, leaves_after=1), Plan(costs=(9,) * 9)], {}, {Phase.CLOSED}),
    "same data": ([Plan(costs=(4,)), Plan(costs=(4,))], {}, {Phase.CLOSED}),
}


@pytest.mark.parametrize("name", RUNS)
def test_what_the_engine_did_is_what_the_table_says(name: str, tmp_path: Path) -> None:
    plans, settings, ends = RUNS[name]
    found = replay(as_texts(traces(tmp_path, plans, **settings)))
    assert {trace.end.phase for trace in found} == ends
    assert all(len(trace.rows) == trace.lines > 0 for trace in found)
    assert len({trace.end.steps for trace in found if not trace.end.ended}) == 1
    assert summary(found)[-1].startswith(f"explained: {sum(trace.lines for trace in found)} steps")


def test_a_changed_number_is_found_in_its_line(two: dict[str, Lines]) -> None:
    lines = two["rank0"]
    at = line_of(lines, "OFFER")
    lines[at] = edited(lines[at], changes={"phase": 1, "offered": 3, "needed": 3, "units": 4})
    with pytest.raises(Unexplained, match=rf"^rank0:{at + 1}: OFFER in phase FILL: row offer"):
        replay(as_texts(two))


@pytest.mark.parametrize("event", ["READ", "OFFER", "GATHERED", "SUMMED", "DELIVER", "TURN"])
def test_a_missing_line_is_found_where_it_is_missing(two: dict[str, Lines], event: str) -> None:
    lines = two["rank0"]
    at = line_of(lines, event)
    del lines[at]
    with pytest.raises(Unexplained, match=rf"^rank0:{at + 1}: it is line {at + 1} of the run"):
        replay(as_texts(two))


@pytest.mark.parametrize("event", ["READ", "OFFER", "GATHERED", "SUMMED", "DELIVER", "TURN"])
def test_a_missing_line_is_found_though_the_others_are_counted_anew(
    two: dict[str, Lines], event: str
) -> None:
    lines = two["rank0"]
    del lines[line_of(lines, event)]
    two["rank0"] = [lines[0], *(edited(line, line=n) for n, line in enumerate(lines[1:], 1))]
    with pytest.raises(Unexplained, match=r"^rank0:\d+: [A-Z]+ in phase"):
        replay(as_texts(two))


def test_lines_in_another_order_are_refused(two: dict[str, Lines]) -> None:
    lines = two["rank0"]
    at = line_of(lines, "OFFER")
    lines[at - 1], lines[at] = edited(lines[at], line=at - 1), edited(lines[at - 1], line=at)
    with pytest.raises(Unexplained, match=rf"^rank0:{at}: OFFER in phase FILL"):
        replay(as_texts(two))


def test_an_effect_that_was_not_asked_for_is_refused(two: dict[str, Lines]) -> None:
    lines = two["rank1"]
    at = line_of(lines, "GATHERED")
    lines[at] = edited(lines[at], effects=[["TALLY", 9]])
    with pytest.raises(Unexplained, match=rf"^rank1:{at + 1}: GATHERED .* row verdict_step asks"):
        replay(as_texts(two))


def test_another_table_is_refused(two: dict[str, Lines]) -> None:
    with pytest.raises(Unexplained, match=r"^rank0:1: it ran the table"):
        replay(as_texts(two), finished_while_holding())


def test_a_run_of_a_planted_table_is_refused_by_the_protocol(tmp_path: Path) -> None:
    config = LoaderConfig(token_budget=10, window=4, trace_dir=str(tmp_path))
    world = build_world(
        config,
        [Plan(costs=(9, 9))],
        seed=0,
        compile_table=lambda settings: Machine(settings, finished_while_holding()),
    )
    with pytest.raises(Exception, match="samples are held at the end"):
        world.run()
    lines = trace_path(str(tmp_path), epoch=0, rank=0).read_text().splitlines()
    lines[0] = edited(lines[0], digest=TABLE.digest())
    with pytest.raises(Unexplained, match="rank 0 would report"):
        replay(as_texts({"rank0": lines}))


def other_vector(lines: Lines) -> Lines:
    """A trace that is sound by itself, but in which a peer said something else."""
    at = line_of(lines, "GATHERED")
    reports = json.loads(lines[at])["reports"]
    reports[1][1] += 1
    return [*lines[:at], edited(lines[at], reports=reports), *lines[at + 1 :]]


def test_ranks_that_got_different_vectors_are_refused(tmp_path: Path) -> None:
    plans = [Plan(costs=(4,)), Plan(costs=(4, 4, 3))]
    found = traces(tmp_path, plans, allow_same_data=True)
    found["rank0"] = other_vector(found["rank0"])
    replay_one(*as_texts(found)[0])
    with pytest.raises(Unexplained, match=r"rank \d got GATHERED .* but GATHERED"):
        replay(as_texts(found))


def without_end(lines: Lines) -> Lines:
    return lines[:-1]


def first_only(lines: Lines) -> Lines:
    return lines[:1]


def cut_short(lines: Lines) -> Lines:
    return [*lines[:-1], lines[-1][: len(lines[-1]) // 2]]


def nothing(lines: Lines) -> Lines:
    return []


def no_start(lines: Lines) -> Lines:
    return lines[1:]


def wrong_rank(lines: Lines) -> Lines:
    return [edited(lines[0], rank=5), *lines[1:]]


def other_size(lines: Lines) -> Lines:
    return [edited(lines[0], world_size=3), *lines[1:]]


def other_settings(lines: Lines) -> Lines:
    settings = json.loads(lines[0])["settings"] | {"tail_stop": 1}
    return [edited(lines[0], settings=settings), *lines[1:]]


def one_report(lines: Lines) -> Lines:
    at = line_of(lines, "GATHERED")
    reports = json.loads(lines[at])["reports"][:1]
    return [*lines[:at], edited(lines[at], reports=reports), *lines[at + 1 :]]


DOCTORED: dict[Callable[[Lines], Lines], str] = {
    without_end: "rank0: it ends after .* before the epoch does",
    first_only: "rank0: it ends after 0 steps in phase FILL",
    cut_short: r"rank0:\d+: ",
    nothing: "rank0: the trace is empty",
    no_start: "rank0:1: the first line of a trace has start=1",
    wrong_rank: "rank0:1: rank 5 among 2 ranks",
    other_size: r"rank0:\d+: 2 reports among 3 ranks",
    other_settings: r"rank\d:",
    one_report: r"rank0:\d+: 1 reports among 2 ranks",
}


@pytest.mark.parametrize("doctor", DOCTORED, ids=lambda doctor: doctor.__name__)
def test_a_trace_that_is_not_whole_is_refused(
    doctor: Callable[[Lines], Lines], two: dict[str, Lines]
) -> None:
    two["rank0"] = doctor(two["rank0"])
    with pytest.raises(Unexplained, match=DOCTORED[doctor]):
        replay(as_texts(two))


def test_settings_that_differ_are_named(two: dict[str, Lines]) -> None:
    two["rank1"] = other_settings(two["rank1"])
    with pytest.raises(Unexplained, match=r"rank1:\d+: |rank1:1: settings"):
        replay(as_texts(two))


def test_a_missing_peer_is_refused(two: dict[str, Lines]) -> None:
    del two["rank0"]
    with pytest.raises(Unexplained, match=r"2 ranks ran, and the traces given are of ranks \[1\]"):
        replay(as_texts(two))


def test_no_trace_and_no_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Unexplained, match="no trace was given"):
        replay([])
    with pytest.raises(Unexplained, match=r"none\.ndjson"):
        replay_files([tmp_path / "none.ndjson"])


def test_the_command_passes_only_if_every_line_is_explained(
    two: dict[str, Lines], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [str(trace_path(str(tmp_path), epoch=0, rank=rank)) for rank in range(2)]
    assert main(["replay", *paths]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("explained: ")
    Path(paths[1]).write_text("")
    assert main(["replay", *paths]) == 1
    assert "rank1.ndjson: the trace is empty" in capsys.readouterr().out
    assert main(["replay"]) == 1
