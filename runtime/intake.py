"""What becomes of a sample that breaks the rules: skipped and counted, cut, or an error.

Rules kept here:
1. Nothing is lost in silence: each sample read is passed on, counted as skipped, or a `Fault`.
2. The decision is the settings' (`on_empty`, `on_over_budget`, `on_error`) and local to the rank;
   no choice can bring ranks out of step, since it is made before the sample is offered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dgap.protocol.errors import EmptySample, OverBudget
from dgap.protocol.vocabulary import FailureCode

from .chunks import Fault, Sample
from .config import LoaderConfig
from .ledger import Ledger

Truncate = Callable[[Any, int], Any]
"""Given a sample and the budget, a sample that costs no more than the budget."""
Remeasure = Callable[[int, Any], Sample]
"""Index and value to a measured sample; may raise BadCost or what the cost function raises."""


class Intake:
    """Applies the policies of one loader to what the workers read."""

    def __init__(
        self,
        config: LoaderConfig,
        ledger: Ledger,
        *,
        truncate: Truncate | None = None,
        remeasure: Remeasure | None = None,
    ) -> None:
        self._config = config
        self._ledger = ledger
        self._truncate = truncate
        self._remeasure = remeasure

    def accept(self, entries: Iterable[Sample | Fault]) -> Iterator[Sample | Fault]:
        """What the engine gets of these entries, in order; every entry is counted."""
        for entry in entries:
            self._ledger.read += 1
            kept = self._accept_fault(entry) if isinstance(entry, Fault) else self._accept(entry)
            if kept is not None:
                yield kept

    def _accept_fault(self, fault: Fault) -> Fault | None:
        skips = self._config.on_error == "skip" and fault.skippable
        if not skips or self._ledger.skipped_error >= self._config.error_limit:
            return fault
        self._ledger.skipped_error += 1
        return None

    def _accept(self, sample: Sample) -> Sample | Fault | None:
        if sample.cost == 0:
            return self._accept_empty(sample)
        if sample.cost > self._config.token_budget:
            return self._accept_over_budget(sample)
        return sample

    def _accept_empty(self, sample: Sample) -> Fault | None:
        if self._config.on_empty == "skip":
            self._ledger.skipped_empty += 1
            return None
        message = (
            f"sample {sample.index} is empty (None or cost 0); "
            'mend the data set or set on_empty="skip"'
        )
        return Fault.of(FailureCode.SAMPLE, sample.index, EmptySample(message))

    def _accept_over_budget(self, sample: Sample) -> Sample | Fault | None:
        policy = self._config.on_over_budget
        if policy == "skip":
            self._ledger.skipped_over_budget += 1
            return None
        if policy == "alone":
            self._ledger.over_budget += 1
            return sample
        if policy == "truncate" and self._truncate and self._remeasure:
            return self._cut(sample, self._truncate, self._remeasure)
        return self._over_budget(sample, "")

    def _cut(self, sample: Sample, truncate: Truncate, remeasure: Remeasure) -> Sample | Fault:
        budget = self._config.token_budget
        try:
            shorter = remeasure(sample.index, truncate(sample.value, budget))
        except Exception as error:
            return Fault.of(FailureCode.SAMPLE, sample.index, error)
        if not 0 < shorter.cost <= budget:
            return self._over_budget(sample, f" after truncate_fn ({shorter.cost})")
        self._ledger.truncated += 1
        return shorter

    def _over_budget(self, sample: Sample, when: str) -> Fault:
        message = (
            f"sample {sample.index} costs {sample.cost} tokens, over the budget of "
            f"{self._config.token_budget}{when}; raise token_budget, or set on_over_budget to "
            '"alone", "skip" or "truncate"'
        )
        return Fault.of(FailureCode.SAMPLE, sample.index, OverBudget(message))
