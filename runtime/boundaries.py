"""Where a sorted window is cut: paths over its boundaries, as few as can be or exactly so many.

Rules kept here:
1. A group of two or more costs no more than the budget; a sample above it stands alone (S7).
2. Integers only, no clock, ties go to the earlier boundary: equal windows are cut alike (A9).

Theory. Sort the window by cost. For padded groups some best partition is contiguous in that
order: keep the sizes, hand the samples out in order, and no group's longest sample grows. A
contiguous group [i, j) is an edge i -> j over the boundaries 0..n and a partition a path 0 -> n.
The edge weights satisfy the quadrangle inequality w(a,c) + w(b,d) <= w(a,d) + w(b,c), also under
the budget (a part of a group that fits, fits), hence
  - the lightest path with k edges is convex in k, so a penalty per edge steers the count;
  - one penalty takes one pass of O(n log n) (`lightest_path`), since of two starts the later one
    wins for good once it wins;
  - a path with fewer and one with more edges than wanted can be spliced into one of exactly the
    wanted count that is no heavier than convexity allows (`_splice`).

Weakness: for packed budgets contiguity is a choice, not a theorem; samples of more than half the
budget stand alone even where a short one would fit beside them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate, pairwise
from operator import mul
from typing import Literal

BudgetKind = Literal["padded", "packed"]
"""What the budget bounds: size x longest sample, or the sum."""

# A search stops once what can be avoided (padding; for packed groups their variance) is within
# 1/50 of the least, which costs two or three passes on real windows instead of up to twelve.
TOLERANCE_DIVISOR = 50

# Bound on time, not on correctness: what is left of the bracket after the last pass is spliced.
PASS_COUNT_LIMIT = 16


class SortedWindow:
    """A window as a path problem; positions are boundaries 0..n of the ascending costs.

    Raises nothing: costs and budget are at least 1, which the caller has checked.
    """

    def __init__(self, costs: list[int], budget: int, kind: BudgetKind) -> None:
        self.costs = costs
        self.budget = budget
        self.padded = kind == "padded"
        self.totals = [] if self.padded else list(accumulate(costs, initial=0))

    def fullest_path(self) -> list[int]:
        """Fewest groups: from the longest sample down, each as large as the budget allows."""
        end = len(self.costs)
        path = [end]
        while end:
            end = self._first_start(end)
            path.append(end)
        path.reverse()
        return path

    def path_of(self, group_count: int, fullest: list[int]) -> list[int]:
        """A light path with exactly group_count edges, edges(fullest) <= group_count <= n.

        padded: least padded total, packed: least sum of squared costs. With as few groups as can
        be it is the lightest; otherwise see TOLERANCE_DIVISOR.
        """
        if group_count == len(self.costs):
            return list(range(group_count + 1))
        search = _Search(self, group_count)
        if group_count == len(fullest) - 1:
            return search.lightest_path(search.weight_limit, search.reachable(fullest))
        return search.path_of(group_count, fullest)

    def first_starts(self) -> list[int]:
        """For each end, the smallest start of a group that the budget allows; never falls."""
        if self.padded:
            # At most `most` samples fit anywhere; only below that end can a start fall under 0.
            sizes = map(self.budget.__floordiv__, self.costs)
            starts = [end - (size or 1) for end, size in enumerate(sizes, start=1)]
            most = min(len(starts), self.budget // self.costs[0])
            return [0, *(max(0, start) for start in starts[:most]), *starts[most:]]
        return [0, *map(self._first_start, range(1, len(self.costs) + 1))]

    def _first_start(self, end: int) -> int:
        if self.padded:
            return max(0, end - (self.budget // self.costs[end - 1] or 1))
        return min(end - 1, bisect_left(self.totals, self.totals[end] - self.budget))


class _Search:
    """The paths of one window and their weights.

    The weight of an edge i -> j is `base[j] + offset[i] - slope[i] * point[j]`, where `slope`
    rises and `point` never falls. padded: 2 (j - i) x_j. packed: 2 (S_j - S_i)^2. Doubled, so
    that under an odd penalty two paths of different length never weigh the same.

    unavoidable: what every path with so many edges weighs: the tokens, or equal packed groups.
    weight_limit: odd, and more than any path weighs.
    """

    def __init__(self, window: SortedWindow, group_count: int) -> None:
        self.count = count = len(window.costs)
        self.first_start = window.first_starts()
        if window.padded:
            self.slope = list(range(count + 1))
            self.point = [0, *(2 * cost for cost in window.costs)]
            self.offset = [0] * (count + 1)
            self.base = list(map(mul, self.slope, self.point))
            self.unavoidable = sum(self.point)
        else:
            self.point = window.totals
            self.slope = [4 * total for total in self.point]
            self.offset = [2 * total * total for total in self.point]
            self.base = self.offset
            self.unavoidable = self.base[-1] // group_count
        self.weight_limit = self.base[-1] + 1

    def weight(self, path: list[int]) -> int:
        return sum(
            self.base[j] + self.offset[i] - self.slope[i] * self.point[j] for i, j in pairwise(path)
        )

    def reachable(self, fullest: list[int]) -> list[int]:
        """The boundaries that some path with as few edges as `fullest` can touch, 0 left out.

        The m-th lies between that of `fullest`, which fills groups from the longest sample down,
        and that of the path that fills them from the shortest sample up.
        """
        found: list[int] = []
        last, latest = 0, 0
        for earliest in fullest[1:]:
            latest = bisect_right(self.first_start, latest) - 1
            found.extend(range(max(earliest, last + 1), latest + 1))
            last = latest
        return found

    def path_of(self, group_count: int, fullest: list[int]) -> list[int]:
        """Keeps a path with fewer and one with more edges than wanted and asks for the lightest
        path at the penalty where both weigh the same. Each pass also bounds the least weight from
        below (Lagrange), and splicing the two gives a candidate: stop when they are close.
        """
        few, many = fullest, list(range(self.count + 1))
        few_weight, many_weight = self.weight(few), self.weight(many)
        # Padding falls about like 1 / count: a first guess that saves the search its first passes.
        penalty = (few_weight - many_weight) * (len(few) - 1) // (group_count * group_count) | 1
        for _ in range(PASS_COUNT_LIMIT):
            path = self.lightest_path(penalty, range(1, self.count + 1))
            edge_count, weight = len(path) - 1, self.weight(path)
            if edge_count == group_count:
                return path
            least_weight = weight + penalty * (edge_count - group_count)
            if edge_count < group_count:
                few, few_weight = path, weight
            else:
                many, many_weight = path, weight
            candidate = _splice(few, many, group_count)
            excess = self.weight(candidate) - least_weight
            if excess * TOLERANCE_DIVISOR <= least_weight - self.unavoidable:
                return candidate
            penalty = (few_weight - many_weight) // (len(many) - len(few)) | 1
        return candidate

    def lightest_path(self, penalty: int, ends: Iterable[int]) -> list[int]:
        """The path 0 -> n over these boundaries of least weight + penalty x edges.

        Args:
            ends: ascending, n the last; those between them are never touched.

        `starts` holds the boundaries that may yet start a group, `since[k]` the first end for
        which starts[k] is the best of them; both ascend. Ties prefer the earlier start.
        """
        count, slope, point = self.count, self.slope, self.point
        base, offset, first_start = self.base, self.offset, self.first_start
        keys = [0] * (count + 1)
        previous = [0] * (count + 1)
        starts, since, head, last = [0], [1], 0, 0
        for j in ends:
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
                gap = key - keys[rival]
                steepness = slope[j] - slope[rival]
                if first > count or first_start[first] > rival or gap < steepness * point[first]:
                    starts.pop()
                    since.pop()
                    last -= 1
                    continue
                expiry = bisect_right(first_start, rival, first)
                turn = bisect_right(point, gap // steepness, first, expiry)
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
