"""The wide families: up to the bounds that are promised for the exhaustive part.

Rules kept here:
1. Two ranks: every window 1..4, queue 1..3, tail, mode and policy, with all vectors of at most
   eight samples; each kind of trouble at every point under the default policy.
2. Three ranks: as many, join mode in every interleaving. Four ranks: reduced interleavings.
3. What a family cannot show (its witness is not listed) it does not count for.
"""

from __future__ import annotations

from dgap.protocol.vocabulary import Policy

from .wide_family import WideFamily, tail_in_words

_one = (Policy.FILL,)
_looping = ("one_ahead", "a_loop_is_a_step_ahead", "a_loop_ends")
_joined = (*_looping, "an_idle_step_is_owed", "all_close_with_samples")
_full = ("the_least_offer_binds", "samples_are_carried_over", "a_queue_is_full")
_both_tails = (*_joined, "an_iterator_ends_early", "an_idle_batch_is_trained_on")
_again = ("a_pass_is_repeated",)
_failing = ("a_failure_reaches_a_peer",)
_leaving = ("a_stop_reaches_a_peer",)
_dying = ("a_survivor_fails",)

WIDE: tuple[WideFamily, ...] = (
    *(
        WideFamily(
            name=name,
            witnesses=(*_both_tails, *_full),
            most_samples=8,
            box=6,
            policies=(policy,),
        )
        for name, policy in (("two", Policy.FILL), ("two-paper", Policy.PAPER))
    ),
    WideFamily(
        name="two-quota",
        witnesses=(*_both_tails, *_full, *_again),
        most_share=4,
        total_share=4,
    ),
    WideFamily(
        name="two-quota-long",
        witnesses=(*_joined, *_full, *_again),
        most_share=6,
        total_share=8,
        queues=(1,),
        tails=(0,),
        policies=_one,
    ),
    WideFamily(
        name="two-fault",
        witnesses=(*_both_tails, *_full, *_failing),
        policies=_one,
        trouble="faults",
    ),
    WideFamily(
        name="two-leave",
        witnesses=(*_both_tails, *_full, *_leaving),
        policies=_one,
        trouble="stops",
    ),
    WideFamily(
        name="two-crash",
        witnesses=(*_both_tails, *_full, *_dying),
        policies=_one,
        queues=(1, 2),
        trouble="crashes",
    ),
    *(
        WideFamily(
            name=f"two-quota-{name}",
            witnesses=(*_looping, *_again, *seen),
            most_samples=3,
            most_share=3,
            total_share=4,
            policies=_one,
            trouble=trouble,
        )
        for name, trouble, seen in (
            ("fault", "faults", _failing),
            ("leave", "stops", _leaving),
            ("crash", "crashes", _dying),
        )
    ),
    WideFamily(
        name="two-growing",
        witnesses=(*_both_tails, *_full),
        windows=(2, 3, 4),
        first_windows=(1, 2),
        policies=_one,
    ),
    WideFamily(
        name="two-accumulation",
        witnesses=(*_looping, "an_idle_step_is_owed", "all_close_with_samples"),
        windows=(2, 3, 4),
        accumulations=(2, 3),
    ),
    WideFamily(
        name="two-quota-accumulation",
        witnesses=(*_looping, *_again),
        windows=(2, 3, 4),
        accumulations=(2,),
        most_samples=3,
        most_share=4,
        total_share=4,
        policies=_one,
    ),
    *(
        WideFamily(
            name=f"three-{tail_in_words(tail)}",
            witnesses=(*_joined, *_full),
            world_size=3,
            most_samples=5,
            tails=(tail,),
            policies=_one,
        )
        for tail in (0, 1)
    ),
    WideFamily(
        name="three-paper",
        witnesses=(*_both_tails, *_full),
        world_size=3,
        most_samples=5,
        policies=(Policy.PAPER,),
        queues=(1,),
        reduced=True,
    ),
    WideFamily(
        name="three-quota",
        witnesses=(*_joined, *_full, *_again),
        world_size=3,
        most_samples=5,
        most_share=2,
        total_share=3,
        policies=_one,
        queues=(1,),
        reduced=True,
    ),
    WideFamily(
        name="three-fault",
        witnesses=(*_both_tails, *_full, *_failing),
        world_size=3,
        most_samples=4,
        most_total=4,
        policies=_one,
        trouble="faults",
        reduced=True,
    ),
    WideFamily(
        name="three-leave",
        witnesses=(*_looping, *_full, *_leaving),
        world_size=3,
        most_samples=5,
        most_total=5,
        windows=(1, 2, 3),
        queues=(1,),
        policies=_one,
        trouble="stops",
    ),
    WideFamily(
        name="three-crash",
        witnesses=(*_looping, *_full, *_dying),
        world_size=3,
        most_samples=4,
        most_total=4,
        windows=(1, 2, 3),
        queues=(1,),
        policies=_one,
        trouble="crashes",
    ),
    *(
        WideFamily(
            name=f"four-window-{window}",
            witnesses=(*_joined, "a_queue_is_full"),
            world_size=4,
            most_samples=4,
            windows=(window,),
            queues=(1,),
            tails=(0,),
            policies=_one,
            reduced=True,
        )
        for window in (1, 2, 3, 4)
    ),
    WideFamily(
        name="four-stop",
        witnesses=(*_looping, "an_iterator_ends_early", "all_close_with_samples"),
        world_size=4,
        most_samples=4,
        windows=(2,),
        queues=(1,),
        tails=(1,),
        policies=_one,
        reduced=True,
    ),
    WideFamily(
        name="four-queues",
        witnesses=(*_joined, *_full),
        world_size=4,
        most_samples=4,
        most_total=5,
        policies=_one,
        queues=(2, 3),
        reduced=True,
    ),
    WideFamily(
        name="four-quota",
        witnesses=(*_joined, *_full, *_again),
        world_size=4,
        most_samples=4,
        most_total=4,
        most_share=2,
        total_share=4,
        windows=(2,),
        queues=(1,),
        tails=(0,),
        policies=_one,
        reduced=True,
    ),
    WideFamily(
        name="four-fault",
        witnesses=(*_joined, *_full, *_failing),
        world_size=4,
        most_samples=4,
        most_total=4,
        windows=(1, 2),
        queues=(1,),
        tails=(0,),
        policies=_one,
        trouble="faults",
        reduced=True,
    ),
)
"""The first three cover every window, queue, tail and policy on all vectors of eight samples; see
`Check.scope` in the manifest for what each of them covers."""
