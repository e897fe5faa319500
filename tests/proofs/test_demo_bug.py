"""Each planted bug is shown at work on two samples and one, and the protocol beside it."""

from __future__ import annotations

import pytest

from dgap.proofs.__main__ import main
from dgap.proofs.demo_bug import DEMOS, demo, one_run, shortest
from dgap.proofs.planted import PLANTED
from dgap.protocol.table import TABLE


@pytest.mark.parametrize("name", sorted(DEMOS))
def test_a_planted_bug_is_shown_with_what_it_breaks(name: str) -> None:
    lines = demo(name)
    assert lines[1] == "inputs: rank 0 has 2 samples, rank 1 has 1 sample"
    at = lines.index("the protocol, on the same inputs:")
    assert any(line.startswith("violated: ") for line in lines[:at])
    assert not any(line.startswith("violated: ") for line in lines[at:])
    assert lines[-2:] == (
        "rank 0: 2 samples in its source, 2 delivered in 1 step",
        "rank 1: 1 sample in its source, 1 delivered in 1 step",
    )


def test_the_original_loses_all_three_samples() -> None:
    lines = demo("finished-while-holding")
    assert "rank 0: 2 samples in its source, 0 delivered in 0 steps" in lines
    assert "rank 1: 1 sample in its source, 0 delivered in 0 steps" in lines


def test_where_nothing_is_held_nothing_is_lost() -> None:
    assert shortest(PLANTED["finished_while_holding"](), (0, 0), "S5") is None
    assert "on these inputs no run breaks S5" in demo("finished-while-holding", (0, 0))


def test_a_run_ends_and_lets_nobody_fall_behind() -> None:
    moves = one_run(TABLE, (3, 3)).moves
    counts = [sum(move.rank == rank for move in moves) for rank in range(2)]
    assert counts[0] == counts[1]


@pytest.mark.parametrize("samples", [["-1", "2"], ["1000", "1"]])
def test_more_samples_than_can_be_searched_are_refused(samples: list[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["demo-bug", "finished-while-holding", "--samples", *samples])


def test_more_ranks_than_can_be_drawn_are_refused() -> None:
    assert main(["demo-bug", "finished-while-holding", "--samples", *"1111"]) == 2


def test_the_command_knows_each_bug_and_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo-bug", "finished-while-holding", "--samples", "0", "3"]) == 0
    assert "rank 1 has 3 samples" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["demo-bug", "no-such-bug"])
