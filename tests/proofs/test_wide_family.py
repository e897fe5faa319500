"""A wide family: its words are its data, and one order of the ranks stands for all."""

from __future__ import annotations

from itertools import permutations

import pytest

from dgap.proofs.compiled import Job, search
from dgap.proofs.wide_family import WideFamily
from dgap.protocol.expr import walk
from dgap.protocol.table import TABLE
from dgap.protocol.vocabulary import EffectKind, EventKind, Policy, Settings, reported
from dgap.spec.environment import MOVES, OCCASIONS, Environment, initial_environment
from dgap.spec.properties import PROPERTIES

SMALL = WideFamily(name="small", witnesses=(), most_samples=2, most_total=3)


def test_the_scope_says_what_is_explored() -> None:
    assert SMALL.scope == (
        "W=2, 0..2 samples a rank, 3 in all, windows 1, 2, 3, 4, queues of 1, 2, 3, both tails, "
        "both policies, every interleaving"
    )
    other = WideFamily(
        name="other",
        witnesses=(),
        world_size=3,
        box=4,
        most_share=2,
        total_share=3,
        windows=(2,),
        first_windows=(1,),
        accumulations=(1, 2),
        queues=(1,),
        tails=(1,),
        policies=(Policy.FILL,),
        trouble="faults",
        reduced=True,
    )
    assert other.scope == (
        "W=3, 0..6 samples a rank, 8 in all (and all of 0..4 a rank), shares of 0..2, 3 in all, "
        "windows 2, the first window 1, accumulation 1, 2, queues of 1, tail stop, policy FILL, "
        "a fault on one rank at any point, reduced interleavings"
    )


def test_a_vector_stands_for_all_its_orders() -> None:
    found = [tuple(source for source, _ in vector) for vector in SMALL.vectors()]
    assert sorted(found) == [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1)]
    boxed = WideFamily(name="boxed", witnesses=(), most_samples=2, most_total=2, box=2)
    assert ((2, 0), (2, 0)) in set(boxed.vectors())


def test_the_rank_that_has_trouble_keeps_its_place() -> None:
    family = WideFamily(
        name="x", witnesses=(), world_size=3, most_samples=2, most_total=2, trouble="stops"
    )
    found = {tuple(source for source, _ in vector) for vector in family.vectors()}
    assert {(0, 2, 0), (2, 0, 0), (0, 1, 1)} <= found
    assert (0, 0, 2) not in found
    for job in family.jobs():
        assert all([at.stops_left for at in root] == [1, 0, 0] for root in job.roots)
        assert not job.refinement


def test_settings_that_no_rank_may_run_with_are_left_out() -> None:
    family = WideFamily(
        name="x", witnesses=(), windows=(1, 2), first_windows=(0, 2), accumulations=(1, 2)
    )
    found = {
        (job.settings.window, job.first_window, job.settings.accumulation) for job in family.jobs()
    }
    assert found == {(1, 0, 1), (2, 0, 1), (2, 0, 2), (2, 2, 1), (2, 2, 2)}


def troubled(source: int, share: int, trouble: str, times: int) -> Environment:
    at = initial_environment(source, share=share)
    return at._replace(**{f"{trouble}_left": times}) if trouble else at


@pytest.mark.parametrize("trouble", ["", "faults", "stops", "crashes"])
@pytest.mark.parametrize("quota", [0, 1])
def test_exchanging_ranks_changes_no_count(trouble: str, quota: int) -> None:
    ranks = [(2, quota, trouble, 1), (1, 2 * quota, trouble, 0), (0, 0, trouble, 0)]
    found = [
        search(
            [
                Job(
                    settings=Settings(window=2, quota=quota),
                    roots=(tuple(troubled(*rank) for rank in order),),
                    refinement=False,
                )
            ]
        )[0]
        for order in permutations(ranks)
    ]
    assert found[0].finished
    assert found == [found[0]] * len(found)


def test_no_guard_reads_the_number_of_a_rank_and_only_a_name_keeps_it() -> None:
    number = reported("rank")
    guards = [row.guard for row in TABLE.rows]
    guards += [row.guard for row in (*OCCASIONS, *MOVES)]
    formulas = [*guards, *(each.formula for each in PROPERTIES)]
    assert not any(number in walk(node) for node in formulas)
    updates = [value for row in TABLE.rows for _, value in row.updates]
    assert not any(number in walk(value) for value in updates)
    asked = {ask.kind for row in TABLE.rows for ask in row.asks if number in walk(ask.argument)}
    assert asked == {EffectKind.FAILED, EffectKind.STOPPED}
    assert EventKind.GATHERED in {row.event for row in TABLE.rows}
