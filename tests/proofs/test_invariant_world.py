"""The invariant holds in real runs, and its conjuncts are not empty words."""

from __future__ import annotations

import random
from itertools import product

import pytest

from dgap.proofs.invariant_world import invariant, world_conjuncts
from dgap.proofs.parametric import Conjunct
from dgap.proofs.terms import Rank
from dgap.protocol.expr import Const, Formula
from dgap.protocol.table import TABLE
from dgap.protocol.vocabulary import Phase, Policy, Settings
from dgap.spec.oracle_expr import holds
from tests.proofs.runs import Run

SETTINGS = [
    Settings(window=3),
    Settings(window=3, policy=Policy.PAPER, tail_stop=1),
    Settings(window=3, accumulation=2, tail_stop=1),
    Settings(window=2, quota=1),
    Settings(window=3, accumulation=2, quota=1),
    Settings(window=2, quota=1, tail_stop=1),
    Settings(window=3, accumulation=2, quota=1, tail_stop=1),
]


def broken(run: Run, conjunct: Conjunct) -> list[str]:
    """The instances of a conjunct that do not hold in the present state of a run."""
    ranks = [Rank(name) for name in run.names[: len(run.states)]]
    last = max(ghost["entered"] for ghost in run.ghosts)
    numbers = [(Const(number),) for number in range(1, last + 1)] if conjunct.numbered else [()]
    found = []
    for chosen, number in product(product(ranks, repeat=conjunct.ranks), numbers):
        formula = run.resolve(conjunct.formula(*chosen, *number))
        assert isinstance(formula, Formula)
        if not holds(formula, run.reading()):
            found.append(f"{conjunct.name} at {[rank.name for rank in chosen]} {number}")
    return found


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_invariant_holds_in_every_state_of_random_runs(settings: Settings) -> None:
    happened: set[str] = set()
    for seed in range(4):
        rng = random.Random(seed)
        ranks = rng.randint(1, 3)
        shares = [rng.randint(0, 3) * settings.quota for _ in range(ranks)]
        run = Run(settings, [rng.randint(1, 4) for _ in range(ranks)], shares, rng)
        for number in range(150):
            if not run.step():
                break
            if number % 3 == 0:
                faults = [text for each in invariant(TABLE) for text in broken(run, each)]
                assert not faults, f"seed {seed}, step {number}: {faults}\n{run.states}"
        happened |= run.happened
    assert {"GATHERED", "SUMMED", "BATCH", "TURN"} <= happened


def test_untroubled_runs_close_on_all_ranks() -> None:
    run = Run(Settings(window=3), [4, 1, 0], [0, 0, 0], random.Random(5), troubled=False)
    while run.step():
        pass
    assert {state.phase for state in run.states} == {Phase.CLOSED}
    assert [state.delivered for state in run.states] == [4, 1, 0]


def test_a_state_that_breaks_alignment_is_seen() -> None:
    run = Run(Settings(window=3), [2, 2], [0, 0], random.Random(1))
    run.states[0] = run.states[0]._replace(steps=1)
    alignment = next(each for each in world_conjuncts(TABLE.report) if each.name == "alignment")
    assert broken(run, alignment) == ["alignment at ['a'] ()"]


def test_every_conjunct_has_its_own_name_and_statement() -> None:
    conjuncts = invariant(TABLE)
    assert len({each.name for each in conjuncts}) == len(conjuncts)
    assert len({each.statement for each in conjuncts}) == len(conjuncts)
