"""Forms groups: a pure function (costs, budget, step count) -> partition.

Four rules hold for every input:
1. a group of two or more samples never exceeds the budget (S7); a sample above it stands alone;
2. the number of groups is exactly min(n, T) and every position is placed or recycled (S3, S4);
3. the oldest sample is placed, and half of the groups are the oldest ones (S12);
4. only integers, stable sorts and no clock: equal inputs give equal partitions anywhere (A9).

Where the sorted window is cut, and why that is best: boundaries.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, compress, pairwise

from dgap.protocol.errors import BrokenAssumption, ConfigError
from dgap.protocol.figures import PACKED_COST, PADDED_COST
from dgap.protocol.machine import compile_figures
from dgap.protocol.vocabulary import Figures

from .boundaries import BudgetKind, SortedWindow

# Ranks pair their groups by place. Costs closer than this share of the budget count as equal, so
# that among full groups the length decides and attention over the batch takes equally long too.
COST_CLASS_COUNT = 64

_COST = {"padded": compile_figures(PADDED_COST), "packed": compile_figures(PACKED_COST)}


@dataclass(frozen=True, kw_only=True)
class Partition:
    """What becomes of a window; numbers are positions in it (0 = oldest sample).

    groups: non-empty, dearest first: by cost in 64ths of the budget, then by longest sample, then
        by oldest position, so that equal places on all ranks hold equal cost and similar shape;
        positions inside a group ascend.
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
    return len(SortedWindow(sorted(costs), budget, kind).fullest_path()) - 1


def partition(costs: Sequence[int], *, budget: int, kind: BudgetKind, step_count: int) -> Partition:
    """Split a window into exactly min(n, step_count) groups under the budget.

    With step_count >= g (`needed_group_count`) every sample is placed, with the least padding
    there is for so many groups, or at most 1/50 more (packed groups: variance of their costs).
    With step_count < g the window is cut into g full groups, of which half of the step_count, the
    odd one included, are those with the oldest samples, and the others those with most tokens; the
    rest is recycled. A sample with p others before it thus leaves within
    p // ((step_count + 1) // 2) + 1 rounds of so many steps (S12).

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
    window = SortedWindow([costs[position] for position in order], budget, kind)
    path = window.fullest_path()
    group_count = min(len(costs), step_count)
    if group_count < len(path) - 1:
        edges = _leaving(window.costs, order, list(pairwise(path)), group_count)
    else:
        edges = list(pairwise(window.path_of(group_count, path)))
    return _placed(window, order, edges, kind)


Edge = tuple[int, int]
"""A group: the samples from one boundary of the sorted window to another."""


def _leaving(costs: list[int], order: list[int], edges: list[Edge], group_count: int) -> list[Edge]:
    """Half of them by age, which bounds the wait; half by tokens, which leaves the least filled
    groups to wait for samples like their own."""
    totals = list(accumulate(costs, initial=0))
    by_age = sorted(edges, key=lambda edge: min(order[edge[0] : edge[1]]))
    oldest_count = (group_count + 1) // 2
    by_tokens = sorted(by_age[oldest_count:], key=lambda edge: totals[edge[0]] - totals[edge[1]])
    return by_age[:oldest_count] + by_tokens[: group_count - oldest_count]


def _placed(
    window: SortedWindow, order: list[int], edges: list[Edge], kind: BudgetKind
) -> Partition:
    """The partition that these groups make, the others recycled."""
    ranked = []
    waiting = [True] * len(order)
    for start, end in edges:
        group = sorted(order[start:end])
        cost = group_cost(window.costs[start:end], kind)
        cost_class = cost * COST_CLASS_COUNT // window.budget
        ranked.append((-cost_class, -window.costs[end - 1], group))
        for position in group:
            waiting[position] = False
    ranked.sort()
    return Partition(
        groups=tuple(tuple(group) for _, _, group in ranked),
        recycled=tuple(compress(range(len(order)), waiting)),
    )


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
