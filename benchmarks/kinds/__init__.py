"""The loaders that are compared, one file a kind, behind one interface.

A kind is a module with `open_batches`, a function from a `Job` to an iterator of `Delivery`, and
`DEFAULT_WINDOW`. It is imported when it is asked for: what is not installed cannot be compared,
but does not keep the others from running. `dgap:<policy>` is dgap with that policy, `dgap` dgap
as it comes.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Protocol, cast

from torch.utils.data import Dataset

from benchmarks.samples import Sample

from . import dgap
from .job import Delivery, Job

__all__ = [
    "DGAP_KINDS",
    "ENVIRONMENT",
    "KINDS",
    "Delivery",
    "Job",
    "open_kind",
    "window_of",
]

OTHERS = ("fixed", "sorted_window", "gmt", "reference", "lhotse")
DGAP_KINDS = tuple(f"dgap:{policy}" for policy in dgap.POLICY_NAMES)
KINDS = (*OTHERS, *DGAP_KINDS)

# Without it the reference waits for up to two seconds at random before it starts.
ENVIRONMENT = {"ODB_ITERATOR_STARTUP_JITTER_SEC": "0"}


class Kind(Protocol):
    """What the module of a kind offers."""

    DEFAULT_WINDOW: int

    def open_batches(self, job: Job, dataset: Dataset[Sample]) -> Iterator[Delivery]:
        """One epoch of one rank."""


def kind_named(name: str) -> Kind:
    """The module of a kind. Raises ValueError for an unknown one, ImportError as imports do."""
    module = name.partition(":")[0]
    if module not in (*OTHERS, "dgap"):
        raise ValueError(f"there is no kind {name!r}; known are {', '.join(KINDS)}")
    return cast(Kind, import_module(f"{__name__}.{module}"))


def open_kind(job: Job, dataset: Dataset[Sample]) -> Iterator[Delivery]:
    """The batches of one epoch for one rank."""
    return kind_named(job.kind).open_batches(job, dataset)


def window_of(kind: str, window: int | None, samples: int) -> int:
    """Samples that a rank of this kind holds at most: as asked for, or the kind's own default.

    0 for fixed batches, which look at one batch at a time; all samples for the offline oracle.
    """
    if kind in ("fixed", "gmt"):
        return samples if kind == "gmt" else 0
    if window is not None:
        return window
    try:
        return kind_named(kind).DEFAULT_WINDOW
    except ImportError:
        return 0  # not installed: its row only says that it failed
