"""What `expect` of each case means in assertions.

A verdict gets the case, the tail and what `on_a_rank.py` brought back from each rank. It is
registered under the id of its case; its docstring quotes the sentence it is about where that helps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tests.cases.on_a_rank import BREAKS
from tests.cases.reading import Case
from tests.laws.gradients import reference, relative_distance
from tests.laws.laws import violations
from tests.laws.records import Epoch
from tests.laws.samples import IDENTITIES_PER_RANK

Verdict = Callable[[Case, str, list[Any]], None]
VERDICTS: dict[str, Verdict] = {}


def verdict(case_id: str) -> Callable[[Verdict], Verdict]:
    def register(judge: Verdict) -> Verdict:
        VERDICTS[case_id] = judge
        return judge

    return register


def lawful(case: Case, tail: str, epochs: Sequence[Epoch], *, without: Sequence[int] = ()) -> None:
    """All laws hold, among them: delivered exactly once, equal step counts, within the budget."""
    setting = case.setting(tail)
    kept = tuple(tuple(each for each in own if each not in without) for own in setting.identities)
    assert violations(replace(setting, identities=kept), epochs) == []


def step_counts(epochs: Sequence[Epoch]) -> list[int]:
    return [len(epoch.taken) for epoch in epochs]


def group_sizes(epoch: Epoch) -> list[int]:
    return [len(each.identities) for each in epoch.taken if not each.step.idle]


def fails_alike(epochs: Sequence[Epoch], origin: int, type_name: str, *says: str) -> None:
    """All raise after the same step; the origin its own error, the peers one that names it."""
    assert len(set(step_counts(epochs))) == 1
    for epoch in epochs:
        assert epoch.raised is not None
        if epoch.rank == origin:
            assert epoch.raised.type_name == type_name
        else:
            assert (epoch.raised.type_name, epoch.raised.rank) == ("PeerFailed", origin)
            assert epoch.raised.step == len(epoch.taken)
            assert f"rank {origin} failed" in epoch.raised.message
        for words in says:
            assert words in epoch.raised.message + "".join(epoch.raised.notes)


@verdict("padded-not-summed")
def _padded(case: Case, tail: str, epochs: list[Epoch]) -> None:
    lawful(case, tail, epochs)
    steps = [each.step for each in epochs[0].taken]
    assert sum(step.samples for step in steps) == 5
    assert all(step.padded_tokens <= 150 for step in steps if step.samples > 1)


@verdict("cap-is-hard")
def _cap(case: Case, tail: str, epochs: list[Epoch]) -> None:
    lawful(case, tail, epochs)
    assert group_sizes(epochs[0]) == [1] * 7


@verdict("two-against-one")
def _two_against_one(case: Case, tail: str, epochs: list[Epoch]) -> None:
    lawful(case, tail, epochs)
    assert sorted(each for epoch in epochs for each in epoch.delivered) == [0, 1, 10_000]


@verdict("four-against-one")
def _four_against_one(case: Case, tail: str, epochs: list[Epoch]) -> None:
    lawful(case, tail, epochs)
    idle_counts = [sum(each.step.idle for each in epoch.taken) for epoch in epochs]
    assert idle_counts == ([0, 3] if tail == "idle" else [0, 0])
    assert step_counts(epochs) == ([4, 4] if tail == "idle" else [4, 1])


@verdict("nine-against-twelve")
def _nine_against_twelve(case: Case, tail: str, epochs: list[Epoch]) -> None:
    """Twelve in pairs are six steps; nine samples in six non-empty groups are three pairs."""
    lawful(case, tail, epochs)
    assert step_counts(epochs) == [6, 6]
    assert sorted(group_sizes(epochs[0])) == [1, 1, 1, 2, 2, 2]
    assert group_sizes(epochs[1]) == [2] * 6


@verdict("twenty-against-thirty")
def _twenty_against_thirty(case: Case, tail: str, epochs: list[Epoch]) -> None:
    lawful(case, tail, epochs)
    assert sum(len(epoch.delivered) for epoch in epochs) == 50
    assert len(set(step_counts(epochs))) == 1


@verdict("one-rank-empty")
def _one_rank_empty(case: Case, tail: str, epochs: list[Epoch]) -> None:
    lawful(case, tail, epochs)
    empty, full = epochs
    assert len(full.taken) > 0
    assert len(empty.taken) == (len(full.taken) if tail == "idle" else 0)
    for each in empty.taken:
        assert each.step.idle
        assert each.step.weight == 0
        assert each.identities[0] >= IDENTITIES_PER_RANK, "the batch was lent by rank 1"
        assert each.real_targets > 0, "its loss is a number"


@verdict("all-ranks-empty")
def _all_empty(case: Case, tail: str, epochs: list[Epoch]) -> None:
    lawful(case, tail, epochs)
    assert step_counts(epochs) == [0, 0]


@verdict("fewer-samples-than-ranks")
def _fewer(case: Case, tail: str, epochs: list[Epoch]) -> None:
    lawful(case, tail, epochs)
    assert step_counts(epochs) == ([1, 1, 1] if tail == "idle" else [1, 0, 0])
    assert [epoch.delivered for epoch in epochs] == [[0], [], []]


@verdict("over-budget-sample")
def _over_budget(case: Case, tail: str, by_rank: list[dict[str, Epoch]]) -> None:
    alone, skip, truncate, error = (
        [policies[name] for policies in by_rank] for name in ("alone", "skip", "truncate", "error")
    )
    lawful(case, tail, alone)
    assert [1] in [list(each.identities) for each in alone[0].taken]
    assert alone[0].ledger["over_budget"] == 1
    lawful(case, tail, skip, without=[1])
    assert [epoch.ledger["skipped_over_budget"] for epoch in skip] == [1, 0]
    assert max(each.longest for each in truncate[0].taken) == case.budget
    cut = replace(case, costs=((10, case.budget, 10), case.costs[1]))
    lawful(cut, tail, truncate)
    assert [epoch.ledger["truncated"] for epoch in truncate] == [1, 0]
    fails_alike(error, 0, "OverBudget", "sample 1", "5000")
    assert step_counts(error) == [0, 0]


@verdict("zero-cost-first")
def _zero_cost(case: Case, tail: str, by_rank: list[dict[str, Epoch]]) -> None:
    skip, error = ([policies[name] for policies in by_rank] for name in ("skip", "error"))
    lawful(case, tail, skip)
    assert [epoch.ledger["skipped_empty"] for epoch in skip] == [8, 0]
    assert [len(epoch.delivered) for epoch in skip] == [8, 16]
    fails_alike(error, 0, "EmptySample", "sample 0 is empty")


def same_gradient(case: Case, by_rank: list[tuple[Epoch, Any]]) -> None:
    updates = [updates for _, updates in by_rank]
    sources = [case.source(rank) for rank in range(case.world_size)]
    expected = reference(
        [
            [
                sources[each // IDENTITIES_PER_RANK][each % IDENTITIES_PER_RANK]
                for update in step
                for each in update.identities
            ]
            for step in zip(*updates, strict=True)
        ]
    )
    for own in updates:
        for update, gradient in zip(own, expected, strict=True):
            assert relative_distance(update.gradient, gradient) <= 1e-12


@verdict("no-targets-on-one-rank")
def _no_targets(case: Case, tail: str, by_rank: list[tuple[Epoch, Any]]) -> None:
    epochs = [epoch for epoch, _ in by_rank]
    lawful(case, tail, epochs)
    assert {each.step.weight for each in epochs[0].taken} == {0.0}
    assert {each.step.weight for each in epochs[1].taken} == {2.0}
    same_gradient(case, by_rank)


@verdict("one-against-ninety-nine-targets")
def _one_against_many(case: Case, tail: str, by_rank: list[tuple[Epoch, Any]]) -> None:
    epochs = [epoch for epoch, _ in by_rank]
    lawful(case, tail, epochs)
    assert [each.step.targets for epoch in epochs for each in epoch.taken] == [1, 99]
    same_gradient(case, by_rank)


@verdict("raise-on-one-rank")
def _raises(case: Case, tail: str, epochs: list[Epoch]) -> None:
    fails_alike(epochs, 1, "PlantedError", "sample 7 is broken")
    peer, origin = (epoch.raised for epoch in epochs)
    assert origin is not None
    assert "in __getitem__" in origin.traceback
    assert peer is not None
    assert "index 7" in peer.message


@verdict("collate-raises")
def _collate_raises(case: Case, tail: str, epochs: list[Epoch]) -> None:
    fails_alike(epochs, 0, "PlantedError", "collate is broken", "in step 2")
    origin = epochs[0].raised
    assert origin is not None
    assert "in __call__" in origin.traceback


@verdict("early-break")
def _early_break(case: Case, tail: str, by_rank: list[dict[str, Any]]) -> None:
    for outcome in by_rank:
        assert outcome["after"] == outcome["before"]
        assert outcome["after"].children == ()
        assert outcome["after"].segments == ()
        assert len(outcome["broken"]) == BREAKS
        for epoch in outcome["broken"]:
            assert epoch.raised is None
            assert len(epoch.taken) == 3
    lawful(case, tail, [outcome["whole"] for outcome in by_rank])


@verdict("break-on-one-rank")
def _break_on_one(case: Case, tail: str, epochs: list[Epoch]) -> None:
    """Queued on rank 1: what its queue holds, one in hand, and the round that was under way."""
    breaking, going_on = epochs
    assert breaking.raised is None
    assert len(breaking.taken) == 3
    assert going_on.raised is not None
    assert (going_on.raised.type_name, going_on.raised.rank) == ("PeerStopped", 0)
    assert "rank 0 left early" in going_on.raised.message
    last_round = going_on.taken[2].step.round + 1
    assert all(each.step.round <= last_round for each in going_on.taken)


@verdict("same-data-on-both-ranks")
def _same_data(case: Case, tail: str, by_rank: list[dict[str, Epoch]]) -> None:
    for outcome in by_rank:
        raised = outcome["refused"].raised
        assert raised is not None
        assert raised.type_name == "SameData"
        assert "0" in raised.message
        assert "1" in raised.message
        assert outcome["refused"].taken == ()
        assert outcome["allowed"].raised is None
        assert sorted(outcome["allowed"].delivered) == list(range(27))


@verdict("different-settings")
def _different_settings(case: Case, tail: str, epochs: list[Epoch]) -> None:
    for epoch in epochs:
        assert epoch.raised is not None
        assert epoch.raised.type_name == "SettingsDiffer"
        assert "token_budget" in epoch.raised.message
        assert epoch.taken == ()


@verdict("lambda-under-spawn")
def _lambda(case: Case, tail: str, by_rank: list[dict[str, Any]]) -> None:
    """A data set is refused. A collate function never leaves this process, so a lambda is fine."""
    (outcome,) = by_rank
    raised = outcome["refused"].raised
    assert raised is not None
    assert raised.type_name == "ConfigError"
    assert "cannot be sent to a worker process" in raised.message
    assert outcome["refused"].taken == ()
    assert outcome["after"].children == outcome["before"].children == ()
    assert outcome["after"].threads == outcome["before"].threads
    lawful(case, tail, [outcome["accepted"]])


@verdict("one-empty-sample-under-ddp")
def _one_empty(case: Case, tail: str, epochs: list[Epoch]) -> None:
    lawful(case, tail, epochs)
    assert len(set(step_counts(epochs))) == 1
    assert [epoch.ledger["skipped_empty"] for epoch in epochs] == [1, 0]


@verdict("pause-in-the-loop")
def _pause(case: Case, tail: str, epochs: list[Epoch]) -> None:
    lawful(case, tail, epochs)
    assert all(len(epoch.taken) > 30 for epoch in epochs), "all three pauses happened"
