"""At the end of the process a loader in the middle of an epoch is closed, with a bound."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from pathlib import Path

from dgap.runtime.farewell import EXIT_WAIT_S, LEAVE_WAIT_S, close_at_exit

PROGRAM = """
from dgap.runtime.farewell import close_at_exit

class Loader:
    def __init__(self, name):
        self.name = name
        close_at_exit(self)
    def close(self, wait_s):
        print(self.name, wait_s)

kept = Loader("kept")
dropped = Loader("dropped")
del dropped
raise SystemExit(3)
"""


class Loader:
    def close(self, wait_s: float) -> None:
        raise AssertionError("nobody ended the process")


def test_a_process_that_ends_closes_the_loaders_it_still_has() -> None:
    root = Path(__file__).parents[2] / ".ci" / "import_root"
    program = f"import sys; sys.path.insert(0, {str(root)!r})\n{PROGRAM}"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 3, done.stderr
    assert done.stdout.split() == ["kept", str(EXIT_WAIT_S)]


def test_a_loader_is_not_kept_alive_for_its_farewell() -> None:
    loader = Loader()
    reference = weakref.ref(loader)
    close_at_exit(loader)
    del loader
    gc.collect()
    assert reference() is None


def test_an_exit_waits_for_less_time_than_a_loop_that_leaves() -> None:
    assert 0 < EXIT_WAIT_S < LEAVE_WAIT_S
