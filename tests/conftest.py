"""What every run of the tests prints first, so that a failure can be run again."""

from __future__ import annotations

from tests.laws.test_interleavings import INTERLEAVINGS, SEED


def pytest_report_header() -> str:
    """The seed of the random schedules and how many are run."""
    return f"interleavings: 3 x {INTERLEAVINGS}, seed {SEED}"
