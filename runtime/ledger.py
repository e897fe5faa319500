"""The ledger of an epoch on one rank: where every sample that was read has gone.

Rule kept here: at the end `read` equals the sum of all the ways a sample can leave (S4); the
check is `balance`, and what is skipped is counted by its reason.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from .step import Step


@dataclass(kw_only=True)
class Ledger:
    """Counts of samples unless the name says otherwise. Written by the engine's thread only."""

    read: int = 0
    """Samples and faults taken from the source."""
    skipped_empty: int = 0
    skipped_over_budget: int = 0
    skipped_error: int = 0
    truncated: int = 0
    """Over-budget samples that were cut; they are delivered and counted there too."""
    over_budget: int = 0
    """Samples over the budget that were delivered alone."""
    delivered: int = 0
    """Samples in batches handed to the queue of the training loop."""
    withdrawn: int = 0
    """Samples held or owed when the epoch failed or was left early, or a pass restarted."""
    faults: int = 0
    """Errors that ended the epoch."""
    steps: int = 0
    idle_steps: int = 0
    tokens: int = 0
    padded_tokens: int = 0
    targets: int = 0
    rounds: int = 0
    passes: int = 1

    @property
    def skipped(self) -> int:
        """Samples left out by a policy."""
        return self.skipped_empty + self.skipped_over_budget + self.skipped_error

    @property
    def balance(self) -> int:
        """0 when every sample read is accounted for."""
        return self.read - self.skipped - self.delivered - self.withdrawn - self.faults

    @property
    def padding_ratio(self) -> float:
        """Share of the delivered tokens that is padding."""
        return 1 - self.tokens / self.padded_tokens if self.padded_tokens else 0.0

    def count(self, step: Step) -> None:
        """Enter a step that is handed over."""
        self.steps += 1
        self.idle_steps += step.idle
        self.delivered += step.samples
        self.tokens += step.tokens
        self.padded_tokens += step.padded_tokens
        self.targets += step.targets

    def as_dict(self) -> dict[str, int]:
        """The counts as plain data."""
        return asdict(self)
