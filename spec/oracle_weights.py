"""Dumb twin of the weights in exact fractions: average like DDP, compare with one sum (S8)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

LossTable = Sequence[Sequence[Sequence[Fraction]]]  # [rank][step of the update][target]


def mean_over_all(losses: LossTable) -> Fraction:
    """What one process without ranks or accumulation computes: the mean over every target."""
    flat = [loss for rank in losses for step in rank for loss in step]
    return sum(flat, Fraction(0)) / len(flat) if flat else Fraction(0)


def averaged_like_ddp(losses: LossTable, weights: Sequence[Sequence[Fraction]]) -> Fraction:
    """Each rank adds weight x local mean over its steps; then the ranks are averaged."""
    totals = [
        sum(
            (
                weight * sum(step, Fraction(0)) / len(step) if step else Fraction(0)
                for step, weight in zip(rank, rank_weights, strict=True)
            ),
            Fraction(0),
        )
        for rank, rank_weights in zip(losses, weights, strict=True)
    ]
    return sum(totals, Fraction(0)) / len(losses)


def exact_weight(local_targets: int, global_targets: int, world_size: int) -> Fraction:
    """The weight as a fraction; 0 where there are no targets at all."""
    if global_targets == 0:
        return Fraction(0)
    return Fraction(world_size) * Fraction(local_targets, global_targets)
