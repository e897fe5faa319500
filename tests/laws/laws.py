"""The laws of an epoch, as pure functions over what each rank saw of it.

1. A law returns its violations in words; none means that it holds. It shares no code with the
   loader: it looks at the batches, and holds what the loader said against them.
2. A law is written once; `test_laws_over_processes.py` puts every configuration through all.
3. Each law has a control in `test_laws.py`: a doctored record that it must refuse.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from tests.laws.records import Epoch, Taken


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What the laws must know of a configuration."""

    budget: int
    costs: dict[int, int]
    """Cost of every sample of all ranks, by identity."""
    identities: tuple[tuple[int, ...], ...]
    """Identities of each rank's source."""
    tail: str = "idle"
    accumulation: int = 1
    quota: int | None = None
    """None: join mode."""


Law = Callable[[Setting, Sequence[Epoch]], Iterator[str]]


def ranks_step_together(setting: Setting, epochs: Sequence[Epoch]) -> Iterator[str]:
    """S2: equal steps; under "stop" a rank ends when it has nothing more and takes no idle step."""
    for epoch in epochs:
        indices = [each.step.index for each in epoch.taken]
        if indices != list(range(len(indices))):
            yield f"rank {epoch.rank} counts its steps {indices}"
        if setting.tail == "stop" and any(each.step.idle for each in epoch.taken):
            yield f"rank {epoch.rank} idles although the tail is stop"
    counts = [len(epoch.taken) for epoch in epochs]
    if setting.tail == "idle" and len(set(counts)) > 1:
        yield f"the ranks took {counts} steps"
    if len(counts) and max(counts) % setting.accumulation:
        yield f"{max(counts)} steps are no whole number of updates of {setting.accumulation}"
    for index, rows in _steps_of_all(epochs).items():
        if len({each.step.round for each in rows}) > 1:
            yield f"step {index} belongs to different rounds on different ranks"
        if all(each.step.idle for each in rows) and setting.accumulation == 1:
            yield f"all ranks idle in step {index}"


def every_sample_once(setting: Setting, epochs: Sequence[Epoch]) -> Iterator[str]:
    """S4, S5: in join mode each rank's loop gets every sample of its own source exactly once."""
    for epoch, own in zip(epochs, setting.identities, strict=True):
        counted = Counter(epoch.delivered)
        foreign = sorted(counted.keys() - set(own))
        if foreign:
            yield f"rank {epoch.rank} got {foreign}, which are not of its source"
        if setting.quota is None:
            missing = sorted(set(own) - counted.keys())
            doubled = sorted(each for each, count in counted.items() if count > 1)
            if missing or doubled:
                yield f"rank {epoch.rank}: missing {missing}, more than once {doubled}"


def quota_is_met_exactly(setting: Setting, epochs: Sequence[Epoch]) -> Iterator[str]:
    """S6: the quota is delivered, no more; within a pass no sample comes twice.

    The batches do not say which pass they are of. All ranks begin a pass at the same step, so
    passes as few as the ledger counted must be enough to explain the record.
    """
    if setting.quota is None:
        return
    delivered = sum(len(epoch.delivered) for epoch in epochs)
    if delivered != setting.quota:
        yield f"{delivered} samples were delivered, the quota is {setting.quota}"
    passes, seen = 1, set[int]()
    for rows in _steps_of_all(epochs).values():
        now = [each for taken in rows if not taken.step.idle for each in taken.identities]
        if seen.intersection(now):
            passes, seen = passes + 1, set()
        if len(set(now)) < len(now):
            yield f"a sample comes twice in one step: {sorted(now)}"
        seen.update(now)
    counted = {epoch.ledger["passes"] for epoch in epochs}
    if len(counted) > 1 or passes > max(counted):
        yield f"the record needs {passes} passes, the ledgers count {sorted(counted)}"


def groups_keep_the_budget(setting: Setting, epochs: Sequence[Epoch]) -> Iterator[str]:
    """S7: size x longest sample of a group of two or more is within the budget."""
    for epoch, taken in _all_taken(epochs):
        longest = max(setting.costs[each] for each in taken.identities)
        cost = len(taken.identities) * longest
        if len(taken.identities) > 1 and cost > setting.budget:
            yield f"rank {epoch.rank} step {taken.step.index} costs {cost} > {setting.budget}"
        if taken.longest != longest:
            yield f"rank {epoch.rank} step {taken.step.index} is padded to {taken.longest}"


def steps_tell_the_truth(_: Setting, epochs: Sequence[Epoch]) -> Iterator[str]:
    """What a step says of its batch is what the batch holds; an idle one counts nothing."""
    for epoch, taken in _all_taken(epochs):
        step, size = taken.step, len(taken.identities)
        said = (step.samples, step.padded_tokens, step.targets, len(step.sample_indices))
        held = (size, size * taken.longest, taken.real_targets, size)
        if step.idle:
            held = (0, 0, 0, 0)
        if said != held:
            yield f"rank {epoch.rank} step {step.index} says {said} and holds {held}"


def announced_totals_are_the_sums(_: Setting, epochs: Sequence[Epoch]) -> Iterator[str]:
    """Each global number of a step is the sum of the ranks' own, and all ranks hear the same."""
    for index, rows in _steps_of_all(epochs).items():
        for name in ("samples", "tokens", "padded_tokens", "targets"):
            announced = {getattr(each.step, f"global_{name}") for each in rows}
            total = sum(getattr(each.step, name) for each in rows)
            if announced != {total}:
                yield f"step {index}: {name} announced {sorted(announced)}, delivered {total}"


def weights_are_exact(setting: Setting, epochs: Sequence[Epoch]) -> Iterator[str]:
    """S8: in each update a rank weighs W x its targets / all targets, exactly rounded.

    So the weights of an update add up to W where it has a target and to 0 where it has none;
    an idle step weighs 0, and no weight is NaN. Targets are counted in the batches.
    """
    updates: dict[int, list[tuple[int, Taken]]] = defaultdict(list)
    for epoch, taken in _all_taken(epochs):
        updates[taken.step.index // setting.accumulation].append((epoch.rank, taken))
    for index, members in updates.items():
        targets = {id(taken): 0 if taken.step.idle else taken.real_targets for _, taken in members}
        total = sum(targets.values())
        exact_sum = Fraction(0)
        for rank, taken in members:
            local, weight = targets[id(taken)], taken.step.weight
            exact = Fraction(len(epochs) * local, total) if total else Fraction(0)
            exact_sum += exact
            if not math.isfinite(weight) or weight != float(exact):
                yield f"update {index}: rank {rank} weighs {weight}, exact is {exact}"
        if exact_sum != (len(epochs) if total else 0):
            yield f"update {index}: the weights add up to {exact_sum}"


def updates_are_whole(setting: Setting, epochs: Sequence[Epoch]) -> Iterator[str]:
    """`sync` marks the last micro-step of each update, and no update is idle on all ranks."""
    for index, rows in _steps_of_all(epochs).items():
        if {each.step.sync for each in rows} != {(index + 1) % setting.accumulation == 0}:
            yield f"step {index}: sync is {[each.step.sync for each in rows]}"
    steps = _steps_of_all(epochs).items()
    for update, members in groupby(steps, key=lambda item: item[0] // setting.accumulation):
        if all(taken.step.idle for _, rows in members for taken in rows):
            yield f"update {update} is idle on all ranks"


def ledgers_balance(_: Setting, epochs: Sequence[Epoch]) -> Iterator[str]:
    """S4 in numbers: what was read went somewhere, and the ledger counts what the loop got."""
    for epoch in epochs:
        said = (epoch.ledger["delivered"], epoch.ledger["steps"], epoch.ledger["idle_steps"])
        idle_count = sum(each.step.idle for each in epoch.taken)
        got = (len(epoch.delivered), len(epoch.taken), idle_count)
        if epoch.balance:
            yield f"rank {epoch.rank}: the ledger is out of balance by {epoch.balance}"
        if said != got:
            yield f"rank {epoch.rank}: the ledger says {said}, the loop got {got}"


def ends_without_error(_: Setting, epochs: Sequence[Epoch]) -> Iterator[str]:
    """Nothing was raised, and the loader says that it is done."""
    for epoch in epochs:
        if epoch.raised is not None:
            yield f"rank {epoch.rank} raised {epoch.raised.type_name}: {epoch.raised.message}"
        elif epoch.progress != 1.0:
            yield f"rank {epoch.rank} ended at progress {epoch.progress}"


LAWS: tuple[Law, ...] = (
    ends_without_error,
    ranks_step_together,
    every_sample_once,
    quota_is_met_exactly,
    groups_keep_the_budget,
    steps_tell_the_truth,
    announced_totals_are_the_sums,
    weights_are_exact,
    updates_are_whole,
    ledgers_balance,
)


def violations(setting: Setting, epochs: Sequence[Epoch], laws: Sequence[Law] = LAWS) -> list[str]:
    """What all the laws have to say against an epoch."""
    return [f"{law.__name__}: {text}" for law in laws for text in law(setting, epochs)]


def _all_taken(epochs: Sequence[Epoch]) -> Iterator[tuple[Epoch, Taken]]:
    for epoch in epochs:
        for taken in epoch.taken:
            yield epoch, taken


def _steps_of_all(epochs: Sequence[Epoch]) -> dict[int, list[Taken]]:
    """By place in the loop: what the ranks that got so far took there."""
    longest = max((len(epoch.taken) for epoch in epochs), default=0)
    return {
        index: [epoch.taken[index] for epoch in epochs if index < len(epoch.taken)]
        for index in range(longest)
    }
