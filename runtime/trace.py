"""The trace of a run: a machine that writes down each of its steps.

Rules kept here:
1. Off costs nothing: without a folder the engine is given the plain machine itself.
2. A line is written and handed to the operating system before the effects of its step are
   performed, so that the trace of a process that hangs or is killed shows its last step.
3. Only what the table sees is written (protocol/trace.py): no sample and no text of the user.

A trace that cannot be written (disk full) ends the epoch with the OSError, on the peers with
`CollectiveFailed`: it is asked for to find a fault, and a gap in it would hide one. The file of
an earlier run of the same epoch and rank is replaced.

    python -m dgap.proofs replay FOLDER/*.ndjson      replays the traces of all ranks
"""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from dgap.protocol.machine import Machine, Transition
from dgap.protocol.trace import Start, start_line, taken_line
from dgap.protocol.vocabulary import LIVE, Event, State


def trace_path(folder: str, *, epoch: int, rank: int) -> Path:
    """Where the trace of one rank in one epoch is written."""
    return Path(folder) / f"trace-epoch{epoch}-rank{rank}.ndjson"


def traced(
    machine: Machine, folder: str | None, *, state: State, epoch: int, rank: int, world_size: int
) -> Machine:
    """The machine itself if there is no folder, else one that writes its steps into a file there.

    `state` is the state before the first event. Makes the folder. Raises OSError.
    """
    if folder is None:
        return machine
    path = trace_path(folder, epoch=epoch, rank=rank)
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("w", buffering=1, encoding="ascii")  # flushed at the end of each line
    start = Start(
        digest=machine.table.digest(),
        rank=rank,
        world_size=world_size,
        epoch=epoch,
        settings=machine.settings,
        state=state,
    )
    file.write(start_line(start) + "\n")
    return TracedMachine(machine, file)


class TracedMachine(Machine):
    """A machine that writes each step that it takes; what is only asked (`permits`) is not one.

    Serves one rank in one epoch. The file is closed by the step that ends the epoch.
    """

    def __init__(self, machine: Machine, file: TextIO) -> None:
        super().__init__(machine.settings, machine.table)
        self._file = file
        self._line = 0

    def attempt(self, state: State, event: Event) -> Transition | None:
        """As `Machine.attempt`, and written down. A refused event is not a step."""
        taken = super().attempt(state, event)
        if taken is not None:
            after, effects = taken
            self._line += 1
            self._file.write(taken_line(self._line, state, event, after, effects) + "\n")
            if after.phase not in LIVE:
                self._file.close()
        return taken

    def permits(self, state: State, event: Event) -> bool:
        """As `Machine.permits`; a question is not written down."""
        return super().attempt(state, event) is not None
