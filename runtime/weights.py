"""Weights that make data-parallel averaging exact (S8): protocol/figures.py, divided once.

DDP and FSDP average gradients over W ranks, and each rank's loss is a mean over its own targets.
With loss x W x local / global the average is the mean over all targets of the step:

    1/W sum_r (W t_r / G) mean_r  =  1/G sum_r (sum of rank r)

Under accumulation the loop calls backward() A times without dividing by A; gradients add up. The
same formula then holds with G summed over the A steps of the update and all ranks: A cancels.
"""

from __future__ import annotations

from collections.abc import Sequence

from dgap.protocol.errors import ConfigError, MalformedReport
from dgap.protocol.figures import WEIGHT_DENOMINATOR, WEIGHT_NUMERATOR
from dgap.protocol.machine import compile_figures
from dgap.protocol.vocabulary import Figures

_numerator = compile_figures(WEIGHT_NUMERATOR)
_denominator = compile_figures(WEIGHT_DENOMINATOR)


def step_weight(local_targets: int, global_targets: int, world_size: int) -> float:
    """W x local / global, correctly rounded; 0.0 for an idle step or where nobody has targets.

    Args:
        local_targets: targets of this rank's batch, 0 for an idle batch.
        global_targets: targets over all ranks, and over all steps of the update.

    Raises:
        MalformedReport: targets below 0 or more local than global ones, which no rank could send.
    """
    if not 0 <= local_targets <= global_targets or world_size < 1:
        raise MalformedReport(
            f"{local_targets} local targets of {global_targets} on {world_size} ranks: the "
            "per-step totals do not match this rank's own batch"
        )
    figures = Figures(
        local_targets=local_targets, global_targets=global_targets, world_size=world_size
    )
    # Integers first: int / int is correctly rounded for any size, float products are not.
    return _numerator(figures) / _denominator(figures)


def update_totals(totals: Sequence[int], accumulation_steps: int) -> tuple[int, ...]:
    """For each step of a round, the global targets of the whole update that it belongs to.

    Args:
        totals: global targets of each step; T of them, T a multiple of accumulation_steps.

    Raises:
        ConfigError: accumulation_steps below 1, or T not a multiple of it.
    """
    if accumulation_steps < 1 or len(totals) % accumulation_steps:
        raise ConfigError(
            f"{len(totals)} steps do not divide into updates of {accumulation_steps} steps"
        )
    return tuple(
        sum(totals[start : start + accumulation_steps])
        for start in range(0, len(totals), accumulation_steps)
        for _ in range(accumulation_steps)
    )


def step_weights(
    local_targets: Sequence[int],
    totals: Sequence[int],
    *,
    world_size: int,
    accumulation_steps: int = 1,
) -> tuple[float, ...]:
    """The weights of one rank's T steps of a round; see `step_weight` and `update_totals`."""
    return tuple(
        step_weight(local, total, world_size)
        for local, total in zip(
            local_targets, update_totals(totals, accumulation_steps), strict=True
        )
    )
