"""Traces of every loader that the multi-process tests run, for `python -m dgap.proofs replay`.

    pytest --traces FOLDER

Rules of this file:
1. A test need not ask: whatever loader a rank of `run_ranks` makes is traced, unless it has a
   `trace_dir` of its own.
2. FOLDER/whole holds runs that end, FOLDER/cut those in which a rank is killed. Below is a folder
   for each epoch of each run: the n-th epoch that one rank begins is the n-th of its peers.
"""

from __future__ import annotations

import itertools
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

WHOLE, CUT = "whole", "cut"

_numbers = itertools.count()
_chosen: list[Path] = []


def choose_trace_folder(folder: Path) -> None:
    """From now on the ranks that this process starts write their traces below this folder."""
    _chosen[:] = [folder.resolve()]


def new_trace_folder(name: str, *, killed: bool) -> str | None:
    """A folder for the traces of one run, or None if none are wanted. It is not made yet."""
    if not _chosen:
        return None
    number = f"{os.getpid()}-{next(_numbers)}"
    return str(_chosen[0] / (CUT if killed else WHOLE) / f"{name}-{number}")


def trace_every_epoch(folder: str) -> None:
    """Runs in a rank: each epoch of each loader is traced into a folder of its own."""
    loader = sys.modules.get("dgap.runtime.loader")
    if loader is None:  # the target runs none
        return
    plain, numbers = loader.new_engine, itertools.count()

    def new_engine(machine: Any, config: Any, **rest: Any) -> Any:
        number = next(numbers)
        if config.trace_dir is None:
            config = replace(config, trace_dir=str(Path(folder) / f"epoch-{number}"))
        return plain(machine, config, **rest)

    patch.object(loader, "new_engine", new_engine).start()
