"""The killer of a mutant is the first check that refutes it, and the protocol has none."""

from __future__ import annotations

import random

import pytest

from dgap.proofs import kill
from dgap.proofs.asking import Claim
from dgap.proofs.check import Verdict
from dgap.proofs.manifest import manifest
from dgap.proofs.mutants import Mutant, mutants
from dgap.proofs.obligations import CHEAP, OTHERS
from dgap.proofs.solver import Theory, constant
from dgap.protocol.table import TABLE

BY_ID = {mutant.id: mutant for mutant in mutants()}


@pytest.mark.parametrize(
    ("mutant", "killer"),
    [
        ("read.target:FILL→FAILED", "table.effects"),
        ("deliver.guard.9:<=→==", "reception.taken"),
        ("read.held:dropped", "invariant.conservation"),
        ("verdict_step.owed_steps.12:>→>=", "step_count.policy"),
        ("deliver.guard.3:>→!=", kill.EQUIVALENT),
    ],
)
def test_a_mutant_has_the_killer_that_was_made_for_it(mutant: str, killer: str) -> None:
    assert kill.killer(BY_ID[mutant]) == killer


def test_nothing_kills_the_protocol_itself() -> None:
    assert kill.touched(TABLE) == ()
    assert kill.killed_on_sight(TABLE) == ""
    assert kill.killed_by_invariant(TABLE) == ""
    assert kill.killed_by_claim(TABLE, (*CHEAP, *OTHERS)) == ""


def test_a_mutant_that_nothing_refutes_survives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kill, "killed_by_exploration", lambda table: "")
    monkeypatch.setattr(kill, "is_equivalent", lambda table: False)
    itself = Mutant(id="none", row="none", table=TABLE)
    assert kill.killer(itself) == kill.SURVIVES


def test_a_claim_kills_only_if_the_manifest_refutes_it_as_well() -> None:
    mutant = BY_ID["deliver.guard.9:<=→=="]
    (claim,) = (each for each in CHEAP[0](mutant.table) if each.id == "reception.taken")
    assert claim.run().verdict == Verdict.REFUTED
    assert "reception.taken" in {check.id for check in manifest()}


def test_a_claim_that_cannot_be_asked_of_a_table_asks_nothing() -> None:
    table = BY_ID["verdict_step.row:dropped"].table
    claims = [c for c in OTHERS[0](table) if isinstance(c, Claim) and "step_count" in c.id]
    assert claims
    assert all(list(kill.obligations_of(claim)) == [] for claim in claims)


@pytest.mark.parametrize("seed", range(20))
def test_the_first_refuted_goal_is_the_first_for_a_reader_one_by_one_too(seed: int) -> None:
    rng = random.Random(seed)
    x = constant("x")
    theory = Theory([x >= 0, x <= 9])
    goals = [x <= rng.randrange(6, 13) for _ in range(rng.randrange(8))]
    one_by_one = [theory.implies(goal).verdict == Verdict.REFUTED for goal in goals]
    expected = one_by_one.index(True) if True in one_by_one else None
    assert kill.first_refuted(theory, goals) == expected
