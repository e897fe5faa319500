"""What every run of the tests prints first, and where its ranks write their traces."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.laws.test_interleavings import INTERLEAVINGS, SEED
from tests.tracing import choose_trace_folder


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--traces FOLDER`."""
    parser.addoption(
        "--traces",
        metavar="FOLDER",
        type=Path,
        help="trace every loader of the multi-process tests into this folder, emptied first",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Empty the folder, once, and let the ranks know of it."""
    folder: Path | None = config.getoption("--traces")
    if folder is None:
        return
    if not hasattr(config, "workerinput"):  # not in the workers of pytest-xdist
        shutil.rmtree(folder, ignore_errors=True)
    choose_trace_folder(folder)


def pytest_report_header() -> str:
    """The seed of the random schedules and how many are run."""
    return f"interleavings: 3 x {INTERLEAVINGS}, seed {SEED}"
