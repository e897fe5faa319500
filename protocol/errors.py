"""Every error that dgap raises, in one tree. Siblings say whose fault it is.

    DgapError
    ├── ConfigError             yours, before any process starts: a setting or an argument is wrong
    ├── DataError               yours, while reading: a sample breaks the rules you chose
    │   ├── EmptySample         cost 0 or None under on_empty="error"
    │   ├── OverBudget          cost above the token budget under on_over_budget="error"
    │   ├── BadCost             the cost function did not return a positive integer
    │   ├── SampleChanged       a data set whose length lies: an index it promised is not there
    │   └── BadBatch            the collate function returned nothing
    ├── RanksDiffer             yours, in the first round: the ranks were not started alike
    │   ├── VersionsDiffer      another dgap version or another transition table
    │   ├── SettingsDiffer      another value of a shared setting
    │   └── SameData            two ranks read the same samples
    ├── PeerError               a peer's: another rank ended the pass
    │   ├── PeerFailed          an exception on that rank; all ranks raise at the same step
    │   └── PeerStopped         that rank's loop left early (break, close)
    ├── CollectiveFailed        the transport's: a peer died or was silent for too long
    └── ProtocolError           ours: a defect in dgap
        ├── IllegalTransition   an event that the table refuses in this phase
        ├── MalformedReport     a vector that no rank of this version could have sent
        └── BrokenAssumption    an assumption of the ledger (spec/assumptions.py) does not hold

An exception of the user's own dataset, cost or collate function is raised as itself on the
rank where it happened; its peers raise `PeerFailed`.
"""

from __future__ import annotations

from functools import partial


class DgapError(Exception):
    """Base of all errors raised by dgap."""


class ConfigError(DgapError, ValueError):
    """A setting is wrong; raised when it is built, before any process starts."""


class DataError(DgapError):
    """A sample breaks the rules that the settings chose; raised at the same step on all ranks."""


class EmptySample(DataError):
    """A sample is None or costs nothing, and `on_empty` is "error"."""


class OverBudget(DataError):
    """A single sample costs more than the budget, and `on_over_budget` is "error"."""


class BadCost(DataError):
    """The cost function returned something that is not a positive integer below 2**63."""


class SampleChanged(DataError):
    """The data set has no sample at an index below its own length."""


class BadBatch(DataError):
    """The collate function returned None."""


class RanksDiffer(DgapError):
    """The ranks were not started alike; raised on all ranks in the first round."""


class VersionsDiffer(RanksDiffer):
    """The ranks run different versions of dgap or different transition tables (A6)."""


class SettingsDiffer(RanksDiffer):
    """A setting that all ranks must share has different values (A6)."""


class SameData(RanksDiffer):
    """Two ranks read the same samples: the source is not sharded."""


class PeerError(DgapError):
    """Another rank ended the pass. `rank` is that rank, `step` the steps all ranks had taken."""

    def __init__(self, message: str, *, rank: int, step: int) -> None:
        super().__init__(message)
        self.rank = rank
        self.step = step

    def __reduce__(self) -> tuple[object, ...]:
        """Keyword arguments do not survive pickling by themselves."""
        return (partial(type(self), rank=self.rank, step=self.step), self.args)


class PeerFailed(PeerError):
    """Another rank raised an exception (S10); its message is quoted."""


class PeerStopped(PeerError):
    """Another rank's training loop left early while this one went on."""


class CollectiveFailed(DgapError):
    """A collective did not complete: a peer died or was silent. `ranks` names them if known."""

    def __init__(self, message: str, *, ranks: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.ranks = ranks

    def __reduce__(self) -> tuple[object, ...]:
        """Keyword arguments do not survive pickling by themselves."""
        return (partial(type(self), ranks=self.ranks), self.args)


class ProtocolError(DgapError):
    """A defect in dgap itself; please report it with the message."""


class IllegalTransition(ProtocolError):
    """The table has no row for this event in this state; nothing has happened."""


class MalformedReport(ProtocolError):
    """A gathered vector is not one that ranks of this version could have sent."""


class BrokenAssumption(ProtocolError):
    """A monitored assumption (A1..A9) does not hold."""
