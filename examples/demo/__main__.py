"""`python -m examples.demo`: prepares, starts the ranks under torchrun, judges what they left.

    --fault dataset   rank 1 cannot read a conversation; both ranks must raise at the same step
    --samples N       conversations to train on (default 1500, about two minutes on two cores)
    --seed S          of the selection, the order and the initial weights

Exit status: 0 when every conversation was delivered exactly once in equal steps (or, with
`--fault`, when the failure was aligned), 1 when not, else that of the ranks.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from rich.console import Console

from .plot import draw
from .prepared import prepare, save
from .report import RunRecord, build_report, problems, show
from .settings import KINDS, WORLD_SIZE, DemoSettings

# Enough for the fault to come in the middle, few enough to see it in seconds.
FAULT_SAMPLES = 240


def parse(arguments: list[str]) -> DemoSettings:
    """Settings from the command line; exits with a message if they cannot work."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.demo",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--fault", choices=("none", "dataset"), default="none")
    parser.add_argument("--samples", type=int, default=None)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=DemoSettings.output)
    chosen = parser.parse_args(arguments)
    defaults = {"none": DemoSettings.samples, "dataset": FAULT_SAMPLES}
    samples = defaults[chosen.fault] if chosen.samples is None else chosen.samples
    try:
        return DemoSettings(
            samples=samples, seed=chosen.seed, fault=chosen.fault, output=chosen.output
        )
    except ValueError as error:
        parser.error(str(error))


def clear(settings: DemoSettings) -> None:
    """Removes the results of an earlier run, so that nothing old is judged.

    A fault demonstration has no results of its own and leaves the earlier ones alone.
    """
    settings.output.mkdir(parents=True, exist_ok=True)
    if settings.fault != "none":
        return
    for name in ("records.json", "report.json", "padding_and_tokens.png"):
        (settings.output / name).unlink(missing_ok=True)


def start_ranks(settings: DemoSettings) -> int:
    """Runs `training` on WORLD_SIZE ranks of this machine; torchrun's exit status."""
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--local-addr",
        "127.0.0.1",
        "--nproc-per-node",
        str(WORLD_SIZE),
        "--module",
        "examples.demo.training",
        settings.to_json(),
    ]
    environment = {"OMP_NUM_THREADS": "1"} | dict(os.environ)
    if sys.platform == "linux":
        # Gloo would ask for this machine's name, which need not have an address.
        environment = {"GLOO_SOCKET_IFNAME": "lo"} | environment
    return subprocess.run(command, env=environment, check=False).returncode


def judge(settings: DemoSettings, console: Console) -> int:
    """Table, report.json and plot from the records of the ranks; the exit status."""
    recorded = json.loads((settings.output / "records.json").read_text())
    runs = {kind: RunRecord.from_mapping(recorded[kind]) for kind in KINDS}
    report = build_report(runs)
    (settings.output / "report.json").write_text(json.dumps(report, indent=2) + "\n")
    plot = settings.output / "padding_and_tokens.png"
    draw(runs, token_budget=settings.token_budget, path=plot)
    status = show(report, {kind: problems(runs[kind]) for kind in KINDS}, console)
    console.print(f"written: {settings.output / 'report.json'}, {plot}")
    return status


def main(arguments: list[str]) -> int:
    """Exit status; see the top of this file."""
    settings = parse(arguments)
    console = Console()
    clear(settings)
    save(prepare(settings), settings.output / "prepared.json")
    status = start_ranks(settings)
    if status or settings.fault != "none":
        return status
    return judge(settings, console)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
