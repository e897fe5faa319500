"""Forms groups: a pure function (costs, budget, step count) -> partition.

Three rules hold for every input:
1. a group of two or more samples never exceeds the budget (S7); a sample above it stands alone;
2. the number of groups is exactly min(n, T) and every position is placed or recycled (S3, S4);
3. only integers, stable sorts and no clock: equal inputs give equal partitions anywhere (A9).

Theory. Sort the window by cost. For padded groups some best partition is contiguous in that
order: keep the sizes, hand the samples out in order, and no group's longest sample grows. A
contiguous group [i, j) is an edge i -> j and a partition a path 0 -> n. The edge weights satisfy
the quadrangle inequality w(a,c) + w(b,d) <= w(a,d) + w(b,c), also under the budget (a part of a
group that fits, fits), hence
  - the lightest path with k edges is convex in k, so a penalty per edge steers the count;
  - one penalty takes one pass of O(n log n) (`_lightest_path`), since of two starts the later one
    wins for good once it wins;
  - a path with fewer and one with more edges than wanted can be spliced into one of exactly the
    wanted count that is no heavier than convexity allows (`_splice`).

Weakness: for packed budgets contiguity is a choice, not a theorem; samples of more than half the
budget stand alone even where a short one would fit beside them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import mul
from typing import Literal

from dgap.protocol.errors import BrokenAssumption, ConfigError
from dgap.protocol.figures import PACKED_COST, PADDED_COST
from dgap.protocol.machine import compile_figures
from dgap.protocol.vocabulary import Figures

BudgetKind = Literal["padded", "packed"]

# A search stops once the padded total is within 1/256 of the least one, which costs two or three
# passes on real windows instead of up to twelve; padding itself is a few per cent.
TOLERANCE_DIVISOR = 256

# Bound on time, not on correctness: what is left of the bracket after the last pass is spliced.
PASS_COUNT_LIMIT = 16

_COST = {"padded": compile_figures(PADDED_COST), "packed": compile_figures(PACKED_COST)}


@dataclass(frozen=True, kw_only=True)
class Partition:
    """What becomes of a window; numbers are positions in it (0 = oldest sample).

    groups: non-empty, longest first (by largest cost, ties by oldest position), so that equal
        places on all ranks hold similar cost; positions inside a group ascend.
    recycled: positions that wait for the next round, ascending.
    """

    groups: tuple[tuple[int, ...], ...]
    recycled: tuple[int, ...]


def group_cost(costs: Sequence[int], kind: BudgetKind) -> int:
    """Cost of one group, to be held against the budget; 0 for no samples.

    padded: size x largest cost. packed: sum of the costs.
    """
    if not costs:
        return 0
    return _COST[kind](Figures(size=len(costs), largest=max(costs), total=sum(costs)))


def needed_group_count(costs: Sequence[int], budget: int, kind: BudgetKind) -> int:
    """g: the fewest groups under the budget, over contiguous partitions of the sorted window.

    0 for no samples. For padded budgets it is the fewest over all partitions.

    Raises:
        ConfigError: unknown kind, or budget below 1.
        BrokenAssumption: a cost below 1 (A5).
    """
    _check(costs, budget, kind)
    return len(_fullest_path(_first_starts(sorted(costs), budget, kind))) - 1


def partition(costs: Sequence[int], *, budget: int, kind: BudgetKind, step_count: int) -> Partition:
    """Split a window into exactly min(n, step_count) groups under the budget.

    With step_count >= g (`needed_group_count`) every sample is placed: padded groups have a
    padded total within 1/256 of the least such partition, packed groups a sum of squared group
    costs that is. With step_count < g the oldest sample's group and then the groups with most
    tokens are taken, the rest is recycled; as the oldest sample always leaves, a sample with p
    others before it leaves within p + 1 rounds (S12).

    Args:
        costs: cost of each sample in reading order, integers >= 1.
        budget: upper bound on `group_cost` of a group of two or more.
        step_count: T of the round, >= 1.

    Raises:
        ConfigError: unknown kind, budget or step_count below 1.
        BrokenAssumption: a cost below 1 (A5).
    """
    _check(costs, budget, kind)
    if step_count < 1:
        raise ConfigError(f"step_count is {step_count}; a round has at least one step")
    if not costs:
        return Partition(groups=(), recycled=())
    order = sorted(range(len(costs)), key=costs.__getitem__)
    sorted_costs = [costs[position] for position in order]
    group_count = min(len(costs), step_count)
    first_start = _first_starts(sorted_costs, budget, kind)
    fullest = _fullest_path(first_start)
    if group_count < len(fullest) - 1:
        return _recycle(costs, _positions(order, fullest), group_count)
    if group_count == len(costs):
        return _ordered(costs, [[position] for position in order], ())
    window = _Window(sorted_costs, first_start, kind)
    return _ordered(costs, _positions(order, _path_of(window, group_count, fullest)), ())


class _Window:
    """A sorted window as a path problem over the boundaries 0..n; indices are boundaries.

    The weight of an edge i -> j is `base[j] + offset[i] - slope[i] * point[j]`, where `slope`
    rises and `point` never falls. padded: 2 (j - i) x_j. packed: 2 (S_j - S_i)^2. Doubled, so
    that under an odd penalty two paths of different length never weigh the same.

    last_end[i] is the largest end of a group that starts at i.
    """

    def __init__(self, costs: list[int], first_start: list[int], kind: BudgetKind) -> None:
        self.count = count = len(costs)
        if kind == "padded":
            self.slope = list(range(count + 1))
            self.point = [0, *(2 * cost for cost in costs)]
            self.offset = [0] * (count + 1)
            self.base = list(map(mul, self.slope, self.point))
        else:
            self.point = list(accumulate(costs, initial=0))
            self.slope = [4 * total for total in self.point]
            self.offset = [2 * total * total for total in self.point]
            self.base = self.offset
        # first_start never falls, so the last end that admits start i is one bisection away.
        self.last_end = [bisect_right(first_start, i) - 1 for i in range(count + 1)]

    def weight(self, path: list[int]) -> int:
        return sum(
            self.base[j] + self.offset[i] - self.slope[i] * self.point[j] for i, j in pairwise(path)
        )


def _first_starts(costs: list[int], budget: int, kind: BudgetKind) -> list[int]:
    """For each end j of a sorted window, the smallest start of a group that the budget allows."""
    if kind == "padded":
        sizes = (budget // cost or 1 for cost in costs)
        return [0, *(j - size if j > size else 0 for j, size in enumerate(sizes, start=1))]
    sums = list(accumulate(costs, initial=0))
    starts = (bisect_left(sums, total - budget) for total in sums)
    return [min(max(0, j - 1), start) for j, start in enumerate(starts)]


def _fullest_path(first_start: list[int]) -> list[int]:
    """Fewest groups: from the longest sample down, each as large as the budget allows."""
    path = [len(first_start) - 1]
    while path[-1]:
        path.append(first_start[path[-1]])
    path.reverse()
    return path


def _path_of(window: _Window, group_count: int, fullest: list[int]) -> list[int]:
    """A path with exactly group_count edges, edges(fullest) <= group_count < n.

    Keeps a path with fewer and one with more edges than wanted and asks for the lightest path at
    the penalty where both weigh the same. Each pass also bounds the least weight from below
    (Lagrange), and splicing the two gives a candidate: stop when they are close.
    """
    few, many = fullest, list(range(window.count + 1))
    few_weight, many_weight = window.weight(few), window.weight(many)
    if group_count == len(few) - 1:
        return _lightest_path(window, window.base[-1] + sum(window.offset) + 1 | 1)
    # Padding falls about like 1 / count: a first guess that saves the search its first passes.
    penalty = (few_weight - many_weight) * (len(few) - 1) // (group_count * group_count) | 1
    for _ in range(PASS_COUNT_LIMIT):
        path = _lightest_path(window, penalty)
        edge_count, weight = len(path) - 1, window.weight(path)
        if edge_count == group_count:
            return path
        least_weight = weight + penalty * (edge_count - group_count)
        if edge_count < group_count:
            few, few_weight = path, weight
        else:
            many, many_weight = path, weight
        candidate = _splice(few, many, group_count)
        if (window.weight(candidate) - least_weight) * TOLERANCE_DIVISOR <= least_weight:
            return candidate
        penalty = (few_weight - many_weight) // (len(many) - len(few)) | 1
    return candidate


def _lightest_path(window: _Window, penalty: int) -> list[int]:
    """The path 0 -> n of least weight + penalty x edges; ties prefer the earlier start.

    `starts` holds the boundaries that may yet start a group, `since[k]` the first end for which
    starts[k] is the best of them; both ascend.
    """
    count, slope, point = window.count, window.slope, window.point
    base, offset, last_end = window.base, window.offset, window.last_end
    keys = [0] * (count + 1)
    keys[0] = offset[0]
    previous = [0] * (count + 1)
    starts, since, head, last = [0], [1], 0, 0
    for j in range(1, count + 1):
        while head < last and since[head + 1] <= j:
            head += 1
        i = starts[head]
        previous[j] = i
        key = keys[j] = base[j] + penalty + keys[i] - slope[i] * point[j] + offset[j]
        turn = j + 1
        while last >= head:
            rival = starts[last]
            first = since[last]
            if first <= j:
                first = j + 1
            steepness = slope[j] - slope[rival]
            if first > last_end[rival] or key - keys[rival] < steepness * point[first]:
                starts.pop()
                since.pop()
                last -= 1
                continue
            turn = bisect_right(point, (key - keys[rival]) // steepness, first, last_end[rival] + 1)
            break
        if turn <= count:
            starts.append(j)
            since.append(turn)
            last += 1
    path = [count]
    while path[-1]:
        path.append(previous[path[-1]])
    path.reverse()
    return path


def _splice(few: list[int], many: list[int], group_count: int) -> list[int]:
    """Exactly group_count edges: `many` up to a group that lies inside one of `few`, then `few`.

    With d = group_count - edges(few) > 0, some group m of `few` holds group m + d of `many`; the
    new group in between is a part of the former, so it fits the budget.
    """
    shift = group_count - (len(few) - 1)
    meeting = next(m for m in range(len(few)) if few[m] >= many[m + shift])
    return many[: meeting + shift] + few[meeting:]


def _recycle(costs: Sequence[int], groups: list[list[int]], group_count: int) -> Partition:
    def urgency(group: list[int]) -> tuple[bool, int, int]:
        oldest = min(group)
        return (oldest > 0, -sum(costs[position] for position in group), oldest)

    ranked = sorted(groups, key=urgency)
    recycled = sorted(position for group in ranked[group_count:] for position in group)
    return _ordered(costs, ranked[:group_count], tuple(recycled))


def _ordered(costs: Sequence[int], groups: list[list[int]], recycled: tuple[int, ...]) -> Partition:
    inner = [tuple(sorted(group)) for group in groups]
    inner.sort(key=lambda group: (-max(costs[position] for position in group), group[0]))
    return Partition(groups=tuple(inner), recycled=recycled)


def _positions(order: list[int], path: list[int]) -> list[list[int]]:
    return [order[i:j] for i, j in pairwise(path)]


def _check(costs: Sequence[int], budget: int, kind: str) -> None:
    if kind not in ("padded", "packed"):
        raise ConfigError(f'kind is {kind!r}; choose "padded" or "packed"')
    if budget < 1:
        raise ConfigError(f"the budget is {budget}; it must be at least 1")
    if costs and min(costs) < 1:
        position = min(range(len(costs)), key=costs.__getitem__)
        raise BrokenAssumption(
            f"A5: the sample at window position {position} has cost {costs[position]}; "
            "apply the policy for empty samples before grouping"
        )
