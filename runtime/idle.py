"""The idle batch: what a rank trains on, with weight 0, when it has nothing left.

Rules kept here:
1. It is a real batch of one small sample, collated like any other, so that it has the same kinds
   of tensors as the batches of the peers and a loss that is not NaN.
2. It is made before the first offer. A rank that never sees a sample is lent a peer's, and a
   rank whose collate function fails later still owes its peers the steps of the round.
3. Every use is a fresh copy: a training loop may change what it is given.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any

from dgap.protocol.errors import BadBatch

from .chunks import Sample
from .packing import pack, unpack


class IdleBatch:
    """A batch kept as bytes. One that cannot be pickled is handed out as it is and not lent.

    `obstacle` says why it cannot be pickled, or is empty.
    """

    def __init__(self, payload: bytes, content: Any = None, *, obstacle: str = "") -> None:
        self.payload = payload
        self.obstacle = obstacle
        self._content = content

    @classmethod
    def of(cls, content: Any) -> IdleBatch:
        """Keep this batch. One that pickles and does not load counts as unpicklable."""
        try:
            payload = pickle.dumps(pack([content]))
            _content_of(payload)
        except Exception as error:  # pickle raises whatever a class's own hooks raise
            return cls(b"", content, obstacle=f"{type(error).__name__}: {error}")
        return cls(payload)

    def content(self) -> Any:
        """The batch, for one step."""
        return _content_of(self.payload) if self.payload else self._content


def _content_of(payload: bytes) -> Any:
    """The batch in these bytes, which are our own or a peer's."""
    (content,) = unpack(pickle.loads(payload))
    return content


def smallest(samples: Sequence[Sample]) -> Sample:
    """The cheapest sample, one with targets before one without: its loss is a number."""
    return min(samples, key=lambda sample: (sample.targets == 0, sample.cost, sample.index))


def collate_checked(collate: Callable[[list[Any]], Any], samples: Sequence[Sample]) -> Any:
    """The collate function's batch of these samples. Raises BadBatch if it returns None."""
    content = collate([sample.value for sample in samples])
    if content is None:
        indices = [sample.index for sample in samples]
        raise BadBatch(
            f"the collate function returned None for the samples {indices}; "
            "it must return the batch"
        )
    return content
