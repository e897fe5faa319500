"""The wide families reach the bounds that are promised for the exhaustive part."""

from __future__ import annotations

from collections import defaultdict
from itertools import product

from dgap.proofs.wide_families import WIDE
from dgap.proofs.wide_family import TROUBLES, WideFamily

BY_NAME = {family.name: family for family in WIDE}
WINDOWS, QUEUES = (1, 2, 3, 4), (1, 2, 3)


def orders(family: WideFamily) -> set[tuple[int, ...]]:
    return {
        tuple(sorted((source for source, _ in vector), reverse=True)) for vector in family.vectors()
    }


def vectors(size: int, most: int, total: int) -> set[tuple[int, ...]]:
    found = product(range(most + 1), repeat=size)
    return {tuple(sorted(each, reverse=True)) for each in found if sum(each) <= total}


def test_names_are_unique() -> None:
    assert len(BY_NAME) == len(WIDE)


def test_two_ranks_have_up_to_six_samples_each_and_every_vector_of_eight() -> None:
    for name in ("two", "two-paper"):
        assert orders(BY_NAME[name]) == vectors(2, 6, 12) | vectors(2, 8, 8)
    assert orders(BY_NAME["two-quota"]) == vectors(2, 6, 8)


def test_two_ranks_meet_every_window_queue_tail_mode_and_policy() -> None:
    met = [
        (job.settings.window, at.queue_limit, *job.settings[2:])
        for name in ("two", "two-paper", "two-quota")
        for job in BY_NAME[name].jobs()
        for at in {at for root in job.roots for at in root}
    ]
    assert set(met) == set(product(WINDOWS, QUEUES, (0, 1), (0, 1), (0, 1)))


def test_three_ranks_have_up_to_five_samples_in_every_interleaving() -> None:
    for name in ("three-idle", "three-stop"):
        family = BY_NAME[name]
        assert orders(family) == vectors(3, 5, 8)
        assert (family.windows, family.queues, family.reduced) == (WINDOWS, QUEUES, False)


def test_four_ranks_have_up_to_four_samples_with_every_window_and_queue() -> None:
    met: dict[int, set[tuple[int, ...]]] = defaultdict(set)
    for family in WIDE:
        if family.world_size == 4 and not family.trouble and not family.most_share:
            assert family.reduced
            for window in family.windows:
                met[window] |= orders(family)
    assert dict(met) == {window: vectors(4, 4, 8) for window in WINDOWS}
    assert {queue for each in WIDE if each.world_size == 4 for queue in each.queues} == set(QUEUES)


def test_every_trouble_may_happen_in_both_modes_of_two_ranks_and_to_three() -> None:
    for name, trouble in zip(("fault", "leave", "crash"), TROUBLES, strict=True):
        assert orders(BY_NAME[f"two-{name}"]) == vectors(2, 6, 8)
        for family in (BY_NAME[f"{kind}-{name}"] for kind in ("two", "two-quota", "three")):
            assert family.trouble == trouble
            assert set(family.tails) == {0, 1}
    assert BY_NAME["four-fault"].trouble == "faults"
