"""The loaders that are compared, one file a kind, behind one interface.

A kind is a function from a `Job` to an iterator of `Delivery`; `open_kind` finds it by name.
`dgap:<policy>` is dgap with that policy, `dgap` dgap as it comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.samples import Batch, Sample
from torch.utils.data import Dataset

from . import dgap, fixed, gmt, lhotse, reference, sorted_window
from .job import Delivery, Job

Open = Callable[[Job, Dataset[Sample]], Iterator[Delivery]]

__all__ = ["DGAP_KINDS", "KINDS", "Batch", "Delivery", "Job", "Open", "open_kind", "window_of"]

OTHERS: dict[str, Open] = {
    "fixed": fixed.open_batches,
    "sorted_window": sorted_window.open_batches,
    "gmt": gmt.open_batches,
    "reference": reference.open_batches,
    "lhotse": lhotse.open_batches,
}
DGAP_KINDS = tuple(f"dgap:{policy}" for policy in dgap.POLICY_NAMES)
KINDS = (*OTHERS, *DGAP_KINDS)

DEFAULT_WINDOWS = {
    "fixed": 0,
    "sorted_window": sorted_window.DEFAULT_WINDOW,
    "reference": reference.DEFAULT_WINDOW,
    "lhotse": lhotse.DEFAULT_WINDOW,
}


def open_kind(job: Job, dataset: Dataset[Sample]) -> Iterator[Delivery]:
    """The batches of one epoch for one rank. Raises ValueError for an unknown kind."""
    if job.kind.split(":")[0] == "dgap":
        return dgap.open_batches(job, dataset)
    if job.kind not in OTHERS:
        raise ValueError(f"there is no kind {job.kind!r}; known are {', '.join(KINDS)}")
    return OTHERS[job.kind](job, dataset)


def window_of(kind: str, window: int | None, samples: int) -> int:
    """Samples that a rank of this kind holds at most: as asked for, or the kind's own default.

    0 for fixed batches, which look at one batch at a time; all samples for the offline oracle.
    """
    if kind == "gmt":
        return samples
    if kind == "fixed":
        return 0
    if window is not None:
        return window
    return dgap.DEFAULT_WINDOW if kind.startswith("dgap") else DEFAULT_WINDOWS[kind]
