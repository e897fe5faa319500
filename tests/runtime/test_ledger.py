"""The ledger: it balances exactly when every sample read has gone somewhere."""

from __future__ import annotations

import pytest

from dgap.runtime.ledger import Ledger
from dgap.runtime.step import Step

STEP = Step(
    index=0,
    epoch=0,
    round=0,
    weight=1.0,
    idle=False,
    sync=True,
    samples=3,
    tokens=10,
    padded_tokens=12,
    targets=7,
    global_samples=30,
    global_tokens=100,
    global_padded_tokens=120,
    global_targets=70,
)
LEAVING = [
    "skipped_empty",
    "skipped_over_budget",
    "skipped_error",
    "delivered",
    "withdrawn",
    "faults",
]
NOT_LEAVING = ["truncated", "over_budget", "steps", "idle_steps", "rounds", "passes", "tokens"]


@pytest.mark.parametrize("name", LEAVING)
def test_each_way_out_takes_one_sample_off_the_balance(name: str) -> None:
    assert Ledger(read=5, **{name: 2}).balance == 3


@pytest.mark.parametrize("name", NOT_LEAVING)
def test_what_is_no_way_out_does_not_touch_the_balance(name: str) -> None:
    assert Ledger(read=5, **{name: 2}).balance == 5


def test_all_skips_together() -> None:
    ledger = Ledger(skipped_empty=1, skipped_over_budget=2, skipped_error=4)
    assert ledger.skipped == 7


def test_a_step_is_entered_with_its_local_counts() -> None:
    ledger = Ledger()
    ledger.count(STEP)
    ledger.count(STEP.as_idle())
    assert (ledger.steps, ledger.idle_steps, ledger.delivered) == (2, 1, 3)
    assert (ledger.tokens, ledger.padded_tokens, ledger.targets) == (10, 12, 7)


def test_the_padding_ratio_is_the_padded_share_of_all_tokens() -> None:
    assert Ledger(tokens=75, padded_tokens=100).padding_ratio == 0.25
    assert Ledger().padding_ratio == 0.0


def test_the_counts_are_plain_data() -> None:
    counts = Ledger(read=4).as_dict()
    assert counts["read"] == 4
    assert counts["passes"] == 1
    assert set(map(type, counts.values())) == {int}
