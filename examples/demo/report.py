"""What two passes cost and what they delivered: arithmetic, verdict, table and JSON.

Three rules:
1. every number is computed from the steps that the ranks recorded, never copied from a loader;
2. `problems` alone decides whether a run counts: unequal steps, or a conversation that is missing,
   doubled or unknown;
3. pure functions; only `show` prints.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from .settings import Kind

Report = dict[str, dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class StepRecord:
    """One step of one rank, counted in the batch it was given."""

    end_s: float  # since the pass began
    delivered: tuple[int, ...]  # the conversations in the batch; () when idle
    tokens: int  # without padding
    padded_tokens: int  # size x longest, also of an idle batch
    targets: int
    idle: bool


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """One pass on all ranks; `ranks[r]` are rank r's steps in order."""

    ranks: tuple[tuple[StepRecord, ...], ...]
    expected: int  # conversations 0 .. expected - 1 were to be delivered
    heldout_loss: float

    @classmethod
    def from_mapping(cls, fields: Mapping[str, Any]) -> RunRecord:
        """The record that `dataclasses.asdict` and JSON made into plain lists."""
        ranks = tuple(
            tuple(StepRecord(**(step | {"delivered": tuple(step["delivered"])})) for step in rank)
            for rank in fields["ranks"]
        )
        return cls(ranks=ranks, expected=fields["expected"], heldout_loss=fields["heldout_loss"])


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The numbers of one pass; field names are the keys of report.json."""

    samples_per_s: float
    targets_per_s: float
    padding_ratio: float  # padding / (tokens + padding), idle batches count as padding
    steps_per_rank: list[int]
    delivered: int  # deliveries on all ranks, doubles included
    expected: int
    duplicates: int  # deliveries beyond the first of each conversation
    idle_steps: int
    heldout_loss: float
    seconds: float  # of the slowest rank


def summarise(run: RunRecord) -> Summary:
    """Totals over ranks; rates use the time of the slowest rank. All zero for no steps."""
    steps = [step for rank in run.ranks for step in rank]
    seconds = max((step.end_s for step in steps), default=0.0)
    delivered = Counter(identity for step in steps for identity in step.delivered)
    padded_tokens = sum(step.padded_tokens for step in steps)
    return Summary(
        samples_per_s=_ratio(delivered.total(), seconds) or 0.0,
        targets_per_s=_ratio(sum(step.targets for step in steps), seconds) or 0.0,
        padding_ratio=1.0 - (_ratio(sum(step.tokens for step in steps), padded_tokens) or 0.0),
        steps_per_rank=[len(rank) for rank in run.ranks],
        delivered=delivered.total(),
        expected=run.expected,
        duplicates=delivered.total() - len(delivered),
        idle_steps=sum(step.idle for step in steps),
        heldout_loss=run.heldout_loss,
        seconds=seconds,
    )


def problems(run: RunRecord) -> list[str]:
    """What makes this pass wrong, one line each; empty for a good one."""
    steps = [len(rank) for rank in run.ranks]
    delivered = Counter(i for rank in run.ranks for step in rank for i in step.delivered)
    found = []
    if len(set(steps)) != 1:
        found.append(f"ranks took different numbers of steps: {steps}")
    wanted = set(range(run.expected))
    faults = {
        "never delivered": sorted(wanted - delivered.keys()),
        "delivered more than once": sorted(i for i, n in delivered.items() if n > 1),
        "delivered but not in the training part": sorted(delivered.keys() - wanted),
    }
    for what, identities in faults.items():
        if identities:
            found.append(f"{len(identities)} conversations {what}, the first is {identities[0]}")
    return found


def _ratio(above: float, below: float) -> float | None:
    return above / below if below else None


def compare(fixed: Summary, dgap: Summary) -> dict[str, Any]:
    """dgap / fixed for every key; None where fixed is 0, a list for the steps of each rank."""
    above, below = asdict(dgap), asdict(fixed)
    ratio: dict[str, Any] = {
        key: _ratio(above[key], below[key]) for key in above if key != "steps_per_rank"
    }
    ratio["steps_per_rank"] = [
        _ratio(a, b) for a, b in zip(dgap.steps_per_rank, fixed.steps_per_rank, strict=True)
    ]
    return {key: ratio[key] for key in above}


def build_report(runs: Mapping[Kind, RunRecord]) -> Report:
    """The content of report.json: `fixed`, `dgap` and `ratio`, each with the same keys."""
    fixed, dgap = summarise(runs["fixed"]), summarise(runs["dgap"])
    return {"fixed": asdict(fixed), "dgap": asdict(dgap), "ratio": compare(fixed, dgap)}


# (key, title, format of the value)
ROWS: tuple[tuple[str, str, str], ...] = (
    ("samples_per_s", "samples/s", "{:,.1f}"),
    ("targets_per_s", "target tokens/s", "{:,.0f}"),
    ("padding_ratio", "padding", "{:.1%}"),
    ("steps_per_rank", "steps per rank", "{}"),
    ("delivered", "samples delivered", "{:,}"),
    ("expected", "samples expected", "{:,}"),
    ("duplicates", "delivered twice", "{:,}"),
    ("idle_steps", "idle steps", "{:,}"),
    ("heldout_loss", "held-out loss", "{:.3f}"),
    ("seconds", "seconds", "{:.1f}"),
)


def table(report: Report) -> Table:
    """One line a number: fixed, dgap and their ratio where it says something."""
    result = Table(title="the same conversations, the same initial weights")
    result.add_column("")
    for name in ("fixed", "dgap", "dgap / fixed"):
        result.add_column(name, justify="right")
    for key, title, form in ROWS:
        cells = [_cell(report[kind][key], form) for kind in ("fixed", "dgap")]
        ratio = report["ratio"][key]
        shown = f"{ratio:.2f}" if isinstance(ratio, float) else ""
        result.add_row(title, *cells, shown)
    return result


def _cell(value: Any, form: str) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else form.format(value)


def show(report: Report, found: Mapping[Kind, Sequence[str]], console: Console) -> int:
    """Prints table and verdict; the exit status: 0 only if nothing was found wrong."""
    console.print(table(report))
    wrong = [f"{kind}: {line}" for kind, lines in found.items() for line in lines]
    for line in wrong:
        console.print(f"WRONG {line}", style="bold red")
    if not wrong:
        console.print("every conversation delivered exactly once, equal steps on all ranks")
    return 1 if wrong else 0
