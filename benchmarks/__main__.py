"""`python -m benchmarks`: all parts, one after the other, then `summary.json` and the plots.

    --quick         small sizes, under three minutes: does it run?
    --parts NAMES   some of them
    --output FOLDER where everything is written (default runs/bench)
    more options go to every part that is run, as in `--corpora tool_bfcl --samples 500`

Each part runs in a process of its own. Exit status: 0 if all parts ended well.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from .plots import draw_all
from .summary import Row, read, write
from .tables import show_line

PARTS = (
    "kernel",
    "collectives",
    "quality",
    "overlap",
    "interference",
    "loader_alone",
    "end_to_end",
)


def merge(folder: Path, parts: Sequence[str]) -> tuple[list[Row], dict[str, Any]]:
    """The rows of all parts, each measure with its part before it, and the sizes by part."""
    rows: list[Row] = []
    sizes: dict[str, Any] = {}
    for part in parts:
        path = folder / f"{part}.json"
        if path.exists():
            content, found = read(path)
            sizes[part] = content["sizes"]
            rows += [row._replace(measure=f"{part}.{row.measure}") for row in found]
    return rows, sizes


def run_part(part: str, arguments: Sequence[str]) -> int:
    """Exit status of one part in a fresh process."""
    start_s = perf_counter()
    show_line(f"== {part}")
    command = [sys.executable, "-m", f"benchmarks.{part}", *arguments]
    status = subprocess.run(command, check=False).returncode
    show_line(f"== {part}: {perf_counter() - start_s:.0f} s, exit status {status}")
    return status


def main(arguments: Sequence[str]) -> int:
    """See the top of this file."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--output", type=Path, default=Path("runs/bench"))
    chosen, others = parser.parse_known_args(arguments)
    passed = [*(["--quick"] if chosen.quick else []), "--output", str(chosen.output), *others]
    for part in PARTS:
        (chosen.output / f"{part}.json").unlink(missing_ok=True)
    statuses = [run_part(part, passed) for part in chosen.parts]
    rows, sizes = merge(chosen.output, PARTS)
    write(chosen.output / "summary.json", rows, sizes)
    draw_all(rows, chosen.output)
    return 1 if any(statuses) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
