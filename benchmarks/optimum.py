"""The exact optimum that groupings are held against: least padded tokens in exactly T groups.

A dynamic program over the sorted window, written independently of the runtime's: for a penalty p
per group the lightest partition is a table over all starts of each end. The least total in exactly
T groups is convex in T, so it equals the largest over p of (lightest at p) - p T; the penalty is
found by bisection. Integers only; nothing is approximated.

Source: Lagrangian duality; convexity by the quadrangle inequality of the padded cost.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def least_padded_total(costs: Sequence[int], budget: int, group_count: int) -> int:
    """Least sum of size x longest over partitions into exactly group_count groups.

    A group of two or more keeps to the budget. Raises ValueError if there is no such partition.
    """
    window = np.sort(np.asarray(costs, dtype=np.int64))
    first = _first_starts(window, budget)
    if not _fewest(first) <= group_count <= len(window):
        raise ValueError(f"{len(window)} samples do not fit into {group_count} groups")
    low, high = 0, int(window.sum() + window[-1] * len(window)) + 1
    best = 0
    while low <= high:
        penalty = (low + high) // 2
        total, count = _lightest(window, first, penalty)
        best = max(best, total - penalty * group_count)
        if count == group_count:
            break
        if count > group_count:
            low = penalty + 1
        else:
            high = penalty - 1
    return best


def _first_starts(window: Integers, budget: int) -> Integers:
    """For each end 1..n the smallest start of a group that the budget allows."""
    ends = np.arange(1, len(window) + 1)
    sizes = np.maximum(1, budget // window)
    starts: Integers = np.maximum(0, ends - sizes)
    return starts


def _fewest(first: Integers) -> int:
    end, count = len(first), 0
    while end:
        end = int(first[end - 1])
        count += 1
    return count


def _lightest(window: Integers, first: Integers, penalty: int) -> tuple[int, int]:
    """(total with penalties, number of groups) of a lightest partition."""
    size = len(window)
    total = np.zeros(size + 1, dtype=np.int64)
    count = np.zeros(size + 1, dtype=np.int64)
    starts = np.arange(size + 1, dtype=np.int64)
    for end in range(1, size + 1):
        low = int(first[end - 1])
        weights = total[low:end] - window[end - 1] * starts[low:end]
        least = int(np.argmin(weights))
        total[end] = weights[least] + window[end - 1] * end + penalty
        count[end] = count[low + least] + 1
    return int(total[size]), int(count[size])
