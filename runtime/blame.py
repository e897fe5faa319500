"""What a training loop is told when the epoch does not end by itself.

Rule kept here: a message names the rank, the step, and what to do next.
"""

from __future__ import annotations

from dataclasses import dataclass

from dgap.protocol.errors import BadBatch, DataError, PeerFailed, PeerStopped


@dataclass(frozen=True)
class Failure:
    """A failure on this rank: what its own loop raises, and what the peers are told."""

    error: BaseException
    text: str

    @classmethod
    def dry(cls, rank: int) -> Failure:
        """Quota mode: a whole pass over this rank's source has no sample."""
        text = "a whole pass over the source has no sample, so the quota cannot be met"
        return cls(DataError(f"rank {rank}: {text}; give this rank samples"), text)


def peer_failed(rank: int, *, step: int, text: str) -> PeerFailed:
    """Rank `rank` raised; this rank did not."""
    message = f"rank {rank} failed, and all ranks stop after step {step}: {text}"
    return PeerFailed(message, rank=rank, step=step)


def peer_stopped(rank: int, *, step: int) -> PeerStopped:
    """The loop of rank `rank` left; this rank's did not."""
    message = (
        f"the training loop of rank {rank} left early; the other ranks stop after step {step}. "
        "Let all ranks leave at the same step"
    )
    return PeerStopped(message, rank=rank, step=step)


def nothing_to_lend(lender: int) -> BadBatch:
    """A rank without samples must idle, and the lender's batch cannot travel."""
    return BadBatch(
        f"a rank without samples needs an idle batch, and the batches of rank {lender} cannot be "
        "pickled; give all ranks idle_batch=<a small batch>"
    )
