"""Dumb twins of the grouping: slow, obvious, and sharing no code with it.

Each function states what the clever one claims in the most literal way: tables over all
contiguous partitions, or every partition there is. Sizes: the tables take O(n^2 T) time, so a few
hundred samples; `least_weight_of_all` takes Bell(n) time, so at most nine samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

BUDGET_KINDS = ("padded", "packed")


def cost_of_group(costs: Sequence[int], kind: str) -> int:
    """Padded: every sample is as long as the longest. Packed: end to end."""
    if kind == "padded":
        return sum(max(costs) for _ in costs)
    return sum(costs)


def is_within_budget(costs: Sequence[int], budget: int, kind: str) -> bool:
    """S7: one sample may stand alone whatever it costs; two or more keep to the budget."""
    return len(costs) == 1 or cost_of_group(costs, kind) <= budget


def weight_of_group(costs: Sequence[int], kind: str) -> int:
    """What a partition makes small: padded tokens, or the squared cost of packed groups."""
    cost = cost_of_group(costs, kind)
    return cost if kind == "padded" else cost * cost


def unavoidable_weight(costs: Sequence[int], kind: str, group_count: int) -> int:
    """What no partition into so many groups can be below: the tokens; equal packed groups."""
    return sum(costs) if kind == "padded" else sum(costs) ** 2 // group_count


def least_group_count(costs: Sequence[int], budget: int, kind: str) -> int:
    """Fewest groups of a contiguous partition of the sorted window; 0 for no samples."""
    window = sorted(costs)
    least = [0]
    for end in range(1, len(window) + 1):
        least.append(
            min(
                least[start] + 1
                for start in range(end)
                if is_within_budget(window[start:end], budget, kind)
            )
        )
    return least[-1]


def least_weight(costs: Sequence[int], budget: int, kind: str, group_count: int) -> int | None:
    """Least total weight of a contiguous partition of the sorted window into group_count groups.

    None when there is no such partition under the budget.
    """
    window = sorted(costs)
    size = len(window)
    least: list[int | None] = [0] + [None] * size
    for _ in range(group_count):
        following: list[int | None] = [None] * (size + 1)
        for end in range(1, size + 1):
            totals = []
            for start in range(end - 1, -1, -1):
                group = window[start:end]
                if not is_within_budget(group, budget, kind):
                    break
                before = least[start]
                if before is not None:
                    totals.append(before + weight_of_group(group, kind))
            following[end] = min(totals, default=None)
        least = following
    return least[size]


def all_partitions(items: Sequence[int]) -> Iterator[list[list[int]]]:
    """Every way to put the items into non-empty groups, order aside."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for groups in all_partitions(rest):
        yield [[first], *groups]
        for place in range(len(groups)):
            yield [*groups[:place], [first, *groups[place]], *groups[place + 1 :]]


def least_weight_of_all(
    costs: Sequence[int], budget: int, kind: str, group_count: int
) -> int | None:
    """As `least_weight`, but over every partition and not only the contiguous ones."""
    totals = [
        sum(weight_of_group(group, kind) for group in groups)
        for groups in all_partitions(costs)
        if len(groups) == group_count
        and all(is_within_budget(group, budget, kind) for group in groups)
    ]
    return min(totals, default=None)


def faults_of_partition(
    costs: Sequence[int],
    *,
    budget: int,
    kind: str,
    step_count: int,
    groups: Sequence[Sequence[int]],
    recycled: Sequence[int],
) -> list[str]:
    """What is wrong with a partition, in words; empty when nothing is (S3, S4, S7, S12).

    Args:
        groups, recycled: positions into `costs`, position 0 being the oldest sample.
    """
    faults = []
    placed = [position for group in groups for position in group]
    if sorted([*placed, *recycled]) != list(range(len(costs))):
        faults.append("a position is missing or doubled")
    if any(len(group) == 0 for group in groups):
        faults.append("a group is empty")
    if len(groups) != min(len(costs), step_count):
        faults.append(f"{len(groups)} groups for {len(costs)} samples and {step_count} steps")
    for group in groups:
        if not is_within_budget([costs[position] for position in group], budget, kind):
            faults.append(f"group {tuple(group)} exceeds the budget")
    if recycled and step_count >= least_group_count(costs, budget, kind):
        faults.append("samples are recycled although all of them fit")
    if costs and 0 not in placed:
        faults.append("the oldest sample is recycled")
    if recycled and groups_of_the_oldest(groups, recycled) < (step_count + 1) // 2:
        faults.append("fewer than half of the groups are those of the oldest samples")
    ranks = [place_of_group([costs[p] for p in group], budget, kind) for group in groups if group]
    if ranks != sorted(ranks):
        faults.append("the groups are not ordered from the dearest down")
    return faults


def groups_of_the_oldest(groups: Sequence[Sequence[int]], recycled: Sequence[int]) -> int:
    """How many groups hold a sample older than all that wait; `recycled` is not empty."""
    return sum(min(group) < min(recycled) for group in groups)


def place_of_group(costs: Sequence[int], budget: int, kind: str) -> tuple[int, int]:
    """By what groups are ordered: 64ths of the budget that they cost, then the longest sample."""
    return (-(64 * cost_of_group(costs, kind) // budget), -max(costs))
