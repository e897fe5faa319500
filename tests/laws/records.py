"""What a rank saw of an epoch, written down by its training loop alone.

What the batch itself holds (identities, shape, labels) is kept beside what the loader said of it
(`Step`), so that the laws can hold one against the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import distributed

from dgap.runtime import DynamicBatchLoader, Step
from tests.laws.samples import IGNORED_LABEL


@dataclass(frozen=True, kw_only=True)
class Taken:
    """One step as the loop got it. `step` is the loader's word, the rest was read off the batch."""

    step: Step
    identities: tuple[int, ...]
    longest: int
    real_targets: int


@dataclass(frozen=True, kw_only=True)
class Raised:
    """What an epoch raised."""

    type_name: str
    message: str
    rank: int | None = None
    step: int | None = None
    ranks: tuple[int, ...] | None = None
    cause: str = ""
    notes: tuple[str, ...] = ()
    traceback: str = ""

    @classmethod
    def of(cls, error: BaseException) -> Raised:
        """Keep of the exception what travels between processes."""
        import traceback

        return cls(
            type_name=type(error).__name__,
            message=str(error),
            rank=getattr(error, "rank", None),
            step=getattr(error, "step", None),
            ranks=getattr(error, "ranks", None),
            cause=str(error.__cause__ or ""),
            notes=tuple(getattr(error, "__notes__", ())),
            traceback="".join(traceback.format_exception(error)),
        )


@dataclass(frozen=True, kw_only=True)
class Epoch:
    """One epoch on one rank. `ledger` and `balance` are the loader's at its end."""

    rank: int
    taken: tuple[Taken, ...]
    raised: Raised | None
    ledger: dict[str, int]
    balance: int
    progress: float

    @property
    def delivered(self) -> list[int]:
        """Identities in the order of delivery; idle batches deliver nothing."""
        return [each for taken in self.taken if not taken.step.idle for each in taken.identities]


Work = Callable[[Any, Step], None]


def meet(_: Any, step: Step) -> None:
    """The trainer's collective: completes only if all ranks are at this step."""
    import torch

    total = torch.tensor(step.index)
    distributed.all_reduce(total)
    if int(total) != step.index * distributed.get_world_size():
        raise AssertionError(f"the ranks met at different steps; this one is at {step.index}")


def nothing(_: Any, __: Step) -> None:
    """A loop without collectives of its own, as under `tail="stop"`."""


def taken_of(batch: Any, step: Step) -> Taken:
    """Read a batch of `samples.pad`."""
    return Taken(
        step=step,
        identities=tuple(batch["identity"].tolist()),
        longest=batch["input_ids"].shape[1],
        real_targets=int((batch["labels"] != IGNORED_LABEL).sum()),
    )


def run_epoch(
    loader: DynamicBatchLoader,
    *,
    rank: int,
    work: Work = nothing,
    break_after: int | None = None,
) -> Epoch:
    """Run one epoch, or `break_after` steps of it, and write down all of it."""
    taken: list[Taken] = []
    raised = None
    try:
        for batch, step in loader.steps():
            taken.append(taken_of(batch, step))
            work(batch, step)
            if len(taken) == break_after:
                break
    except Exception as error:
        raised = Raised.of(error)
    return Epoch(
        rank=rank,
        taken=tuple(taken),
        raised=raised,
        ledger=loader.ledger.as_dict(),
        balance=loader.ledger.balance,
        progress=loader.progress,
    )
