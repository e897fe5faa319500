"""Aligned failure, shown: rank 1 cannot read a conversation, and both ranks raise at one step.

The demonstration succeeds, with exit status 0, exactly when rank 1 raised its own exception, every
other rank `PeerFailed`, and all after the same number of steps. Anything else is status 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import torch.distributed as dist

from dgap.protocol.errors import PeerFailed

from .batches import Delivery
from .conversations import UnreadableConversation

FAULTY_RANK = 1


class Outcome(NamedTuple):
    """How one rank's pass ended."""

    steps: int  # taken before the exception
    error: str  # name of the exception's type; empty if the pass simply ended


def judge(outcomes: Sequence[Outcome]) -> tuple[bool, str]:
    """(success, one line that says what happened); `outcomes[r]` is rank r's."""
    wanted = [
        UnreadableConversation.__name__ if rank == FAULTY_RANK else PeerFailed.__name__
        for rank in range(len(outcomes))
    ]
    raised = [outcome.error for outcome in outcomes]
    if raised != wanted:
        return False, f"not aligned: the ranks raised {raised}, wanted {wanted}"
    steps = [outcome.steps for outcome in outcomes]
    if len(set(steps)) > 1:
        return False, f"not aligned: the ranks raised after {steps} steps"
    return True, f"both ranks failed at the same step, after {steps[0]} steps each, as they should"


def show_fault(deliveries: Iterable[Delivery], step: Callable[[Delivery], None]) -> int:
    """Trains until the exception, prints it, and compares with the other ranks."""
    steps, error, message = 0, "", "the pass ended without an exception"
    try:
        for delivery in deliveries:
            step(delivery)
            steps += 1
    except (UnreadableConversation, PeerFailed) as raised:
        error, message = type(raised).__name__, f"{type(raised).__name__}: {raised}"
    outcomes: list[Outcome] = [Outcome(0, "")] * dist.get_world_size()
    dist.all_gather_object(outcomes, Outcome(steps, error))
    success, verdict = judge(outcomes)
    for rank in range(dist.get_world_size()):
        dist.barrier()  # one after the other, so that the lines of two processes do not mix
        if rank == dist.get_rank():
            print(f"[rank {rank}] after {steps} steps: {message}\n", flush=True)
    dist.barrier()
    if dist.get_rank() == 0:
        print(verdict, flush=True)
    return 0 if success else 1
