"""What a training step is told about its batch, and the batch itself.

Rules kept here:
1. Information about a batch never becomes one of its keys and never passes through collate.
2. Local numbers are this rank's; `global_` numbers are sums over all ranks of the same step.
"""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import torch


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One step of the training loop. Counts are of samples and tokens; an idle step has none."""

    index: int
    """Steps that this rank has taken in this epoch before; equal on all ranks (S2)."""
    epoch: int
    round: int
    """The round of the protocol that this step belongs to, from 0."""
    weight: float
    """W x local targets / global targets: multiply a mean-reduced loss by it (S8). 0 if idle."""
    idle: bool
    """This rank had nothing left; the batch is a small one that was seen before."""
    sync: bool
    """The last micro-step of its accumulation: gradients are exchanged and the optimizer steps."""
    samples: int = 0
    tokens: int = 0
    """Sum of the samples' costs."""
    padded_tokens: int = 0
    """Cost of the batch under the budget's measure, padding included."""
    targets: int = 0
    global_samples: int = 0
    global_tokens: int = 0
    global_padded_tokens: int = 0
    global_targets: int = 0
    sample_indices: tuple[int, ...] = ()
    """Indices into the data set of the samples in this batch."""

    def as_idle(self) -> Step:
        """This step without the samples that were announced for it (a failure came between)."""
        return replace(
            self,
            weight=0.0,
            idle=True,
            samples=0,
            tokens=0,
            padded_tokens=0,
            targets=0,
            sample_indices=(),
        )


class Batch(dict[Any, Any]):
    """A mapping that the collate function returned, with the step it belongs to.

    Holds the collate function's keys and nothing else, so that `model(**batch)` works.
    """

    step: Step

    def __init__(self, content: Mapping[Any, Any], step: Step) -> None:
        super().__init__(content)
        self.step = step

    def to(self, *arguments: Any, **options: Any) -> Batch:
        """A batch whose tensors went through `Tensor.to` with these arguments."""
        return Batch(map_tensors(dict(self), lambda t: t.to(*arguments, **options)), self.step)

    def pin_memory(self) -> Batch:
        """A batch whose tensors lie in pinned memory."""
        return Batch(map_tensors(dict(self), lambda t: t.pin_memory()), self.step)


def map_tensors(value: Any, change: Callable[[torch.Tensor], Any]) -> Any:
    """A copy of nested mappings, lists and tuples with `change` applied to each tensor.

    Containers are built anew and never written into: with `collate_fn=list` they are the user's
    samples. A mapping keeps its type; one that cannot be built from a dict becomes a plain dict.
    """
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, Mapping):
        return _rebuilt(value, {key: map_tensors(item, change) for key, item in value.items()})
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(map_tensors(item, change) for item in value))
    if isinstance(value, list | tuple):
        return type(value)(map_tensors(item, change) for item in value)
    return value


def _rebuilt(value: Mapping[Any, Any], items: dict[Any, Any]) -> Mapping[Any, Any]:
    """A mapping like `value` that holds these items."""
    if isinstance(value, UserDict):  # keeps what such a class knows beside its items
        rebuilt = copy(value)
        rebuilt.data = items
        return rebuilt
    build: Callable[[dict[Any, Any]], Mapping[Any, Any]] = type(value)
    try:
        return build(items)
    except TypeError:
        return items


def wrap(content: Any, step: Step) -> Any:
    """The batch that the training loop gets: a mapping as `Batch`, anything else untouched."""
    return Batch(content, step) if isinstance(content, Mapping) else content
