"""The source: the public torch DataLoader reading chunks, and the thread that drains it.

Rules kept here:
1. Worker processes are made by torch's own DataLoader, with no private attribute touched.
2. The workers of the first pass start before any other thread of ours runs, in a thread of their
   own. Torch's handler of SIGCHLD, which raises wherever the main thread stands when a worker
   dies, is installed by the main thread only; without it the death is read like any failure,
   some seconds later, and reaches all ranks at the same step.
3. An exception of workers or sampler becomes a `Fault` in its place in the stream, the last
   thing in it. It keeps no worker alive.

Weakness: another DataLoader of this process may have installed torch's handler. Then the death
of a worker is raised in the training loop at once, and the peers get `PeerStopped`.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from torch.utils.data import DataLoader

from dgap.protocol.errors import ConfigError
from dgap.protocol.vocabulary import FailureCode

from .channel import Channel, ChannelClosed
from .chunks import Chunk, Fault, Sample, iterate_chunk
from .requests import Pulled, SourceSignal

PASS_END = SourceSignal.ENDED
Numbered = tuple[int, Chunk | Fault | SourceSignal]
"""What was read, with the index of the pass it belongs to."""


def as_is(chunk: Any) -> Any:
    """The inner DataLoader's collate function: a chunk travels as the worker packed it."""
    return chunk


class Source:
    """One epoch's stream of chunks, in one or more passes. Used by one engine thread."""

    def __init__(self, make_loader: Callable[[], DataLoader[Any]], *, window: int) -> None:
        self._inbox: Channel[Numbered] = Channel(window)
        self._pass_index = 0
        self._wanted_pass = 0
        self._pass_wanted = threading.Condition()
        self._left = False
        self._loader: DataLoader[Any] | None = None
        self._stream: Iterator[Any] | None = None
        self._start_fault: Fault | None = None
        starting = threading.Thread(target=self._start_workers, args=(make_loader,), daemon=True)
        starting.start()
        starting.join()
        self._thread = threading.Thread(target=self._read, name="dgap-reader", daemon=True)

    def _start_workers(self, make_loader: Callable[[], DataLoader[Any]]) -> None:
        try:
            self._loader = make_loader()
            self._stream = iter(self._loader)
        except BaseException as error:  # whatever it is, the round's report carries it
            self._start_fault = ending_fault(start_error(error))

    def start(self) -> None:
        """Begin to read ahead."""
        self._thread.start()

    def pull(self) -> Pulled:
        """The next samples of the wanted pass; blocks. LEFT once the source is closed."""
        while True:
            try:
                pass_index, item = self._inbox.get()
            except ChannelClosed:
                return SourceSignal.LEFT
            if isinstance(item, Fault):
                return [item]  # of whatever pass: the reader has ended with it
            if pass_index != self._wanted_pass:
                continue
            if isinstance(item, SourceSignal):
                return item
            entries = unpacked(item)
            if entries:
                return entries

    def restart(self) -> None:
        """Want another pass; what is still queued of the present one is passed over."""
        with self._pass_wanted:
            self._wanted_pass += 1
            self._pass_wanted.notify_all()

    def close(self, wait_s: float) -> None:
        """Stop reading and end the workers, and wait so long for the thread that reads.

        A data set whose `__getitem__` never returns keeps that thread, a daemon, to itself.
        """
        with self._pass_wanted:
            self._left = True
            self._pass_wanted.notify_all()
        self._inbox.close()
        if self._thread.is_alive():
            self._thread.join(wait_s)
        self._stream = self._loader = None

    def _read(self) -> None:
        try:
            while self._read_pass():
                self._pass_index += 1
                self._stream = iter(self._loader) if self._loader is not None else None
        except ChannelClosed:
            return
        except BaseException as error:  # a data set that exits must not leave the engine waiting
            self._report(ending_fault(error))
        finally:
            self._stream = None

    def _read_pass(self) -> bool:
        """Queue one pass. True if another pass is wanted after it."""
        if self._start_fault is not None:
            self._inbox.put((self._pass_index, self._start_fault))
        for chunk in self._stream or ():
            if self._wanted_pass > self._pass_index:
                return True
            self._inbox.put((self._pass_index, chunk), weight=max(1, len(chunk.costs)))
        self._inbox.put((self._pass_index, PASS_END))
        with self._pass_wanted:
            self._pass_wanted.wait_for(lambda: self._left or self._wanted_pass > self._pass_index)
        return not self._left

    def _report(self, fault: Fault) -> None:
        try:
            self._inbox.put((self._pass_index, fault))
        except ChannelClosed:
            self._left = True


def unpacked(chunk: Chunk) -> list[Sample | Fault]:
    """The entries of a chunk; one fault if a sample pickled in the worker and does not load."""
    try:
        return list(iterate_chunk(chunk))
    except Exception as error:
        return [Fault.of(FailureCode.SOURCE, None, error, doing="unpacking")]


def ending_fault(error: BaseException) -> Fault:
    """The fault of an error after which nothing is read.

    The frames of its traceback forget their variables: one of them is the DataLoader's iterator,
    and the workers would live for as long as somebody keeps the exception.
    """
    traceback.clear_frames(error.__traceback__)
    return Fault.of(FailureCode.SOURCE, None, error)


def start_error(error: BaseException) -> BaseException:
    """What to raise when the workers could not be started."""
    text = f"{type(error).__name__} {error}".lower()
    if "pickle" not in text and "local object" not in text:
        return error
    hint = ConfigError(
        f"the data set or a function given to the loader cannot be sent to a worker process: "
        f"{error}. Define it at the top level of a module (no lambda, no local class), or use "
        'multiprocessing_context="fork" or num_workers=0'
    )
    hint.__cause__ = error
    return hint
