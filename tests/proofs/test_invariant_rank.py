"""The conjuncts about a single rank say what they claim to say."""

from __future__ import annotations

import pytest

from dgap.proofs.invariant_rank import RANK_CONJUNCTS, between, calm, is_in, offer_holds, zero
from dgap.proofs.terms import Rank
from dgap.protocol.expr import Const
from dgap.protocol.vocabulary import Phase, Settings, State
from dgap.spec.oracle_expr import Reading, holds

X = Rank("x")
GHOSTS = "entered left unread source share taken pass_start begun done gone".split()


def reading(settings: Settings, **fields: int) -> Reading:
    """One rank named x; fields that are not given have their first value."""
    values = State()._asdict() | dict.fromkeys(GHOSTS, 0) | fields
    world = {f"x.{name}": value for name, value in values.items()}
    return Reading(own={"world": world, "setting": settings._asdict()})


def named(name: str, settings: Settings, **fields: int) -> bool:
    """Whether the conjunct of that name holds of that rank."""
    (conjunct,) = (each for each in RANK_CONJUNCTS if each.name == name)
    return holds(conjunct.formula(X), reading(settings, **fields))


@pytest.mark.parametrize("conjunct", RANK_CONJUNCTS, ids=lambda each: each.name)
def test_a_rank_before_its_first_sample_satisfies_every_conjunct(conjunct: object) -> None:
    assert all(holds(each.formula(X), reading(Settings())) for each in RANK_CONJUNCTS)


@pytest.mark.parametrize(
    ("name", "settings", "fields"),
    [
        # conjunct        settings                     a state that it excludes
        ("types", Settings(), {"exhausted": 2}),
        ("window", Settings(window=2), {"held": 3, "target": 2}),
        ("share", Settings(quota=1), {"held": 1}),
        ("owed", Settings(), {"phase": Phase.EMIT, "owed_steps": 1, "owed_groups": 2}),
        ("offer", Settings(), {"phase": Phase.OFFER, "held": 1}),
        ("ready", Settings(), {"phase": Phase.OFFER}),
        ("calm", Settings(), {"phase": Phase.TALLY, "failed": 1}),
        ("step_count", Settings(), {"phase": Phase.TALLY, "offered": 1, "owed_steps": 2}),
        ("idle", Settings(), {"phase": Phase.EMIT, "held": 1, "owed_steps": 1}),
        ("ended", Settings(tail_stop=1), {"ended": 1, "held": 1, "exhausted": 1}),
        ("dry", Settings(quota=1), {"exhausted": 1}),
        ("nothing_owed", Settings(), {"phase": Phase.CLOSED, "owed_samples": 1}),
        ("losses", Settings(), {"lost": 1}),
        ("conservation", Settings(), {"taken": 1}),
        ("source", Settings(), {"source": 1}),
        ("quota", Settings(quota=1), {"share": 1}),
        ("pass_progress", Settings(quota=1), {"pass_start": 1}),
        ("quota_progress", Settings(quota=1), {"rounds": 1, "remaining": 1, "share": 1}),
        ("passes", Settings(quota=1), {"rounds": 1, "passes": 1}),
        ("round_progress", Settings(), {"rounds": 1, "held": 1, "source": 1}),
    ],
)
def test_each_conjunct_excludes_a_state(
    name: str, settings: Settings, fields: dict[str, int]
) -> None:
    assert not named(name, settings, **fields)


def test_every_conjunct_is_in_the_table_of_excluded_states() -> None:
    marks = test_each_conjunct_excludes_a_state.pytestmark  # type: ignore[attr-defined]
    assert [case[0] for case in marks[0].args[1]] == [each.name for each in RANK_CONJUNCTS]


def test_the_small_words_mean_what_they_say() -> None:
    here = reading(Settings(window=4, accumulation=2), phase=Phase.EMIT, held=3, stopped=1)
    assert holds(is_in(X, Phase.FILL, Phase.EMIT), here)
    assert not holds(is_in(X, Phase.FILL), here)
    assert holds(zero(X, "lost", "read"), here)
    assert not holds(zero(X, "lost", "held"), here)
    assert not holds(calm(X), here)
    assert holds(between(3, X["held"], 3), here)
    three = (Const(3), Const(2), Const(1))
    assert holds(offer_holds(*three), here)
    assert not holds(offer_holds(Const(3), Const(3), Const(1)), here)  # two units hold 3 groups
    assert not holds(offer_holds(Const(3), Const(2), Const(2)), here)  # two units want 4 samples
