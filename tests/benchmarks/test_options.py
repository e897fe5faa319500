"""Options come from the command line over the defaults of the part, and are checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.options import Options, parse, quick_options


def parsed(*arguments: str) -> Options:
    return parse(arguments, part="x", purpose="", full=Options(samples=9), quick=quick_options())


def test_the_defaults_are_the_parts_own() -> None:
    assert parsed().samples == 9
    assert parsed("--quick") == quick_options()


def test_what_is_given_wins_over_either_default() -> None:
    options = parsed("--quick", "--samples", "3", "--worlds", "1", "4", "--output", "a")
    assert (options.samples, options.worlds, options.output) == (3, (1, 4), Path("a"))
    assert options.quick


@pytest.mark.parametrize(
    "arguments", [("--samples", "0"), ("--corpora", "tool"), ("--worlds", "0"), ("--nothing",)]
)
def test_what_cannot_work_is_refused(arguments: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit):
        parsed(*arguments)
