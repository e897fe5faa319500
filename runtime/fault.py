"""A fault: what went wrong with one sample, fit to cross a process boundary.

Two rules: the original exception is carried where it survives pickling both ways, and described
in words where it does not; its traceback is kept as text, since tracebacks never cross.
"""

from __future__ import annotations

import pickle
import traceback
from dataclasses import dataclass

from torch.utils.data import get_worker_info

from dgap.protocol.errors import DataError
from dgap.protocol.vocabulary import FailureCode

# Reasons that on_error="skip" may pass over; empty and over-budget samples have their own policy.
_SKIPPABLE_CODES = frozenset({FailureCode.SOURCE, FailureCode.COST})

_DOING = {
    FailureCode.SOURCE: "reading",
    FailureCode.COST: "measuring",
    FailureCode.SAMPLE: "accepting",
}


class WorkerTraceback(Exception):
    """Not raised: the cause of an exception that came from a worker, to print its traceback."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return f"\n{self.text}"


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Why the entry at `index` of the data set is no sample; index None: reading ended altogether.

    error: the exception itself, or None where it cannot cross to the main process.
    doing: what was done to the sample, as in "reading".
    """

    code: FailureCode
    index: int | None
    error: BaseException | None
    type_name: str
    message: str
    traceback_text: str
    doing: str

    @classmethod
    def of(
        cls,
        code: FailureCode,
        index: int | None,
        error: BaseException,
        *,
        doing: str | None = None,
    ) -> Fault:
        """The fault of an exception that was just caught."""
        carried: BaseException | None = error
        text = ""
        if get_worker_info() is not None:
            text = "".join(traceback.format_exception(error))
            obstacle = _obstacle_to_pickling(error)
            if obstacle:
                carried, text = None, f"{text}(described in words, since it {obstacle})\n"
        return cls(
            code=code,
            index=index,
            error=carried,
            type_name=type(error).__qualname__,
            message=_text_of(error),
            traceback_text=text,
            doing=doing or _DOING.get(code, "handling"),
        )

    @property
    def skippable(self) -> bool:
        """Whether on_error="skip" may pass over it: one sample is at fault, and only it."""
        return self.index is not None and self.code in _SKIPPABLE_CODES

    def exception(self) -> BaseException:
        """The exception to raise: the original, else a DataError that describes it.

        From a worker, its cause is a `WorkerTraceback`.
        """
        error = self.error
        if error is None:
            error = DataError(f"{self.describe()} (the exception itself does not pickle)")
        if self.traceback_text and error.__cause__ is None:
            error.__cause__ = WorkerTraceback(self.traceback_text)
        return error

    def describe(self) -> str:
        """One line: type, message, and the sample's index."""
        where = "" if self.index is None else f" ({self.doing} the sample at index {self.index})"
        return f"{self.type_name}: {self.message}{where}"


def _obstacle_to_pickling(error: BaseException) -> str:
    """Empty if it survives both ways; one with its own `__init__` often pickles, never loads."""
    try:
        copy = pickle.loads(pickle.dumps(error))
    except Exception as failure:
        return f"does not pickle: {type(failure).__name__}: {failure}"
    return "" if type(copy) is type(error) else f"pickles as {type(copy).__name__}"


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as failure:
        return f"(its message cannot be read: {type(failure).__qualname__})"
