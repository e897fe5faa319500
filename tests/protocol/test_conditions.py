"""The named conditions, each against the sentence that says what it is for."""

from __future__ import annotations

from itertools import product

import pytest

from dgap.protocol import conditions
from dgap.protocol.vocabulary import Event, EventKind, Settings, State
from dgap.spec.oracle_expr import holds, value_of
from dgap.spec.oracle_step import reading_of

JOIN, QUOTA = Settings(window=3), Settings(window=3, quota=1)
SMALL = range(4)


def test_a_window_is_ready_when_full_or_when_nothing_more_can_come() -> None:
    for held, exhausted, failed, stopped in product(SMALL, (0, 1), (0, 1), (0, 1)):
        state = State(target=2, held=held, exhausted=exhausted, failed=failed, stopped=stopped)
        at = reading_of(JOIN, state, Event(EventKind.OFFER))
        assert holds(conditions.ready, at) == bool(held >= 2 or exhausted or failed or stopped)


def test_a_quota_share_is_never_read_beyond() -> None:
    for target, remaining in product(range(1, 4), SMALL):
        at = reading_of(QUOTA, State(target=target, remaining=remaining), Event(EventKind.READ))
        assert value_of(conditions.goal, at) == min(target, remaining)
        at = reading_of(JOIN, State(target=target, remaining=remaining), Event(EventKind.READ))
        assert value_of(conditions.goal, at) == target


def test_a_rank_is_dry_only_in_quota_mode_drained_and_with_samples_to_deliver() -> None:
    for settings, exhausted, held, remaining in product((JOIN, QUOTA), (0, 1), (0, 1), (0, 1)):
        state = State(exhausted=exhausted, held=held, remaining=remaining)
        expected = settings == QUOTA and (exhausted, held, remaining) == (1, 0, 1)
        assert (
            holds(conditions.dry, reading_of(settings, state, Event(EventKind.OFFER))) == expected
        )


@pytest.mark.parametrize("accumulation", [1, 2, 3])
def test_a_sound_offer_says_whole_units_and_needs_no_more_than_its_samples(
    accumulation: int,
) -> None:
    settings = Settings(window=6, accumulation=accumulation)
    for held, needed, units in product(range(7), repeat=3):
        event = Event(EventKind.OFFER, needed=needed, units=units)
        most_needed = -(-held // accumulation)
        expected = units == held // accumulation and min(held, 1) <= needed <= most_needed
        at = reading_of(settings, State(held=held), event)
        assert holds(conditions.offer_is_sound, at) == expected


@pytest.mark.parametrize("accumulation", [1, 2])
def test_a_sound_assignment_fills_every_group_and_carries_over_only_what_does_not_fit(
    accumulation: int,
) -> None:
    settings = Settings(window=4, accumulation=accumulation)
    for offered, needed, steps, assigned in product(range(4), range(3), range(4), range(5)):
        state = State(offered=offered, needed=needed, owed_steps=steps)
        fits = steps >= needed * accumulation
        expected = min(offered, steps) <= assigned <= offered and (assigned == offered or not fits)
        at = reading_of(settings, state, Event(EventKind.SUMMED, assigned=assigned))
        assert holds(conditions.assignment_is_sound, at) == expected


def test_a_sound_delivery_leaves_a_sample_for_each_group_still_owed() -> None:
    for groups, samples, taken in product(range(4), range(5), range(5)):
        state = State(owed_groups=groups, owed_samples=samples)
        rest = samples - taken
        expected = groups > 0 and taken >= 1 and rest >= groups - 1 and (groups > 1 or rest == 0)
        at = reading_of(JOIN, state, Event(EventKind.DELIVER, samples=taken))
        assert holds(conditions.delivery_is_sound, at) == expected


def test_only_an_untroubled_rank_leaves_under_tail_stop() -> None:
    for tail_stop, failed, stopped in product((0, 1), repeat=3):
        settings = Settings(tail_stop=tail_stop)
        at = reading_of(settings, State(failed=failed, stopped=stopped), Event(EventKind.IDLE))
        assert holds(conditions.leaves, at) == ((tail_stop, failed, stopped) == (1, 0, 0))


def test_windows_double_up_to_their_bound() -> None:
    settings, sizes = Settings(window=5), [1]
    while len(sizes) < 5:
        at = reading_of(settings, State(target=sizes[-1]), Event(EventKind.GATHERED))
        sizes.append(value_of(conditions.next_target, at))
    assert sizes == [1, 2, 4, 5, 5]
