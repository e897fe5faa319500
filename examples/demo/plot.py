"""Draws padding and tokens per step over the time of each pass, as one PNG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from .report import RunRecord, StepRecord, summarise
from .settings import KINDS, Kind

TOKENS_COLOUR = "#2a6fbb"
PADDING_COLOUR = "#e2a76f"


def draw(runs: Mapping[Kind, RunRecord], *, token_budget: int, path: Path) -> None:
    """Two panels with shared axes; bars are steps, summed over ranks, as wide as they took."""
    figure, panels = plt.subplots(
        2, 1, sharex=True, sharey=True, figsize=(10, 6), layout="constrained"
    )
    world_size = len(runs["fixed"].ranks)
    for axes, kind in zip(panels, KINDS, strict=True):
        _draw_pass(axes, kind, runs[kind])
        axes.axhline(
            world_size * token_budget,
            color="black",
            lw=0.8,
            ls="--",
            label=f"budget of {world_size} ranks",
        )
        axes.set_ylabel("tokens per step")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].legend(loc="upper right", ncols=3, frameon=True)
    panels[-1].set_xlabel("seconds since the pass began")
    panels[0].set_ylim(0, world_size * token_budget * 1.25)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _draw_pass(axes: Axes, kind: Kind, run: RunRecord) -> None:
    steps = list(zip(*run.ranks, strict=False))  # an unequal tail is reported, not drawn
    ends = [max(step.end_s for step in ranks) for ranks in steps]
    starts = [0.0, *ends[:-1]]
    widths = [end - start for start, end in zip(starts, ends, strict=True)]
    tokens = [sum(step.tokens for step in ranks) for ranks in steps]
    padding = [_padding(ranks) for ranks in steps]
    axes.bar(
        starts,
        tokens,
        widths,
        align="edge",
        color=TOKENS_COLOUR,
        label="tokens",
        edgecolor="white",
        linewidth=0.2,
    )
    axes.bar(
        starts,
        padding,
        widths,
        bottom=tokens,
        align="edge",
        color=PADDING_COLOUR,
        label="padding",
        edgecolor="white",
        linewidth=0.2,
    )
    total = summarise(run)
    axes.set_title(
        f"{kind}: {len(steps)} steps in {total.seconds:.0f} s, "
        f"{total.samples_per_s:.1f} samples/s, {total.padding_ratio:.0%} padding",
        loc="left",
    )


def _padding(ranks: Sequence[StepRecord]) -> int:
    return sum(step.padded_tokens - step.tokens for step in ranks)
