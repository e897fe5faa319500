"""What the engine asks of the world around it, one request at a time.

The engine is a generator: it yields a request and is sent the answer. Whoever drives it decides
how the request is met: threads and Gloo in production (session.py), a seeded scheduler over N
ranks in one process (loopback.py). The engine itself does no I/O and knows no clock.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from .chunks import Fault, Sample
from .step import Step


class SourceSignal(Enum):
    """What the source can say instead of samples."""

    ENDED = "the pass over the source has ended"
    LEFT = "the training loop has left; nothing more is wanted"


@dataclass(frozen=True)
class Pull:
    """More of the source. Answer: a sequence of `Sample` and `Fault`, or a `SourceSignal`."""


@dataclass(frozen=True)
class Restart:
    """Begin another pass over the source. Answer: None."""


@dataclass(frozen=True)
class Gather:
    """The words of all ranks. Answer: one list of words per rank."""

    words: tuple[int, ...]


@dataclass(frozen=True)
class Total:
    """The sums over all ranks. Answer: a list of words."""

    words: tuple[int, ...]


@dataclass(frozen=True)
class Share:
    """The payload of rank `origin`, on all ranks. Answer: bytes."""

    payload: bytes
    origin: int


@dataclass(frozen=True)
class Deliver:
    """A batch for the training loop. Answer: True, or False once the loop has left."""

    batch: Any
    step: Step


@dataclass(frozen=True)
class End:
    """The training loop's iterator ends while the protocol goes on. Answer: None."""


Request = Pull | Restart | Gather | Total | Share | Deliver | End
Pulled = list["Sample | Fault"] | SourceSignal
Run = Generator[Request, Any, BaseException | None]
"""An engine at work. Returns None, or the exception that the training loop has to raise."""
