"""The settings of a loader, checked when they are built, before any process starts.

Rules kept here:
1. One spelling for each setting; no environment variable is read.
2. A wrong value raises `ConfigError`, which says what is allowed.
3. What all ranks must share is listed once (`shared_words`); the first round compares it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from dgap.protocol.codec import word
from dgap.protocol.errors import ConfigError
from dgap.protocol.vocabulary import Policy, Settings

from .boundaries import BudgetKind

Mode = Literal["join", "quota"]
Tail = Literal["idle", "stop"]
PolicyName = Literal["paper", "fill"]
OnEmpty = Literal["error", "skip"]
OnOverBudget = Literal["alone", "skip", "error", "truncate"]
OnError = Literal["raise", "skip"]

POLICIES: dict[str, Policy] = {"paper": Policy.PAPER, "fill": Policy.FILL}


@dataclass(frozen=True, kw_only=True)
class LoaderConfig:
    """Every setting of `DynamicBatchLoader` that is a plain value.

    Raises ConfigError when built with a value that is not allowed.
    """

    token_budget: int
    """Upper bound on the cost of a group of two or more samples, in tokens."""
    budget_kind: BudgetKind = "padded"
    """What a group costs: "padded" is size x longest sample, "packed" is the sum."""
    window: int = 4096
    """Samples in one offer at most (B), the same on all ranks. Padding falls about like 1 / B, and
    memory grows like B: a rank holds a window and reads ahead into the next. With text samples of
    1,200 to 1,700 tokens in three int64 tensors, all processes of a rank were measured to hold 170
    to 220 MB more than a plain loader's. Samples of a megabyte each need a smaller window."""
    first_window: int | None = None
    """Samples in the first offer, so that the first batch comes early; later windows double. None:
    a 64th of the window, 16 at least."""
    mode: Mode = "join"
    """"join": every sample exactly once. "quota": passes repeat until `quota` is delivered."""
    quota: int | None = None
    """Quota mode: samples delivered in an epoch by all ranks together. None: as many as the
    smallest shard allows is not guessed; it must be given."""
    policy: PolicyName = "fill"
    """How the number of steps of a round is chosen."""
    tail: Tail = "idle"
    """A rank without samples takes batches of weight 0 ("idle") or ends ("stop", under Join)."""
    accumulation_steps: int = 1
    """Micro-steps per optimizer step; every round holds whole optimizer steps."""
    on_empty: OnEmpty = "error"
    """A sample that is None or costs 0."""
    on_over_budget: OnOverBudget = "alone"
    """A single sample that costs more than the budget."""
    on_error: OnError = "raise"
    """An exception of the data set or the cost function."""
    error_limit: int = 100
    """on_error="skip": so many samples of an epoch are skipped, the next error is raised."""
    queue_size: int = 4
    """Batches that wait for the training loop at most (Q)."""
    chunk_size: int = 32
    """Samples in one message of a worker at most."""
    timeout_s: float = 300.0
    """A peer that gives no sign of life for so long is held to be dead. A loop that pauses is
    not: signs of life do not depend on it."""
    seed: int = 0
    """Orders the samples (with `shuffle`) and the batches of a round, the same on all ranks."""
    shuffle: bool = False
    """Permute the samples anew in every epoch."""
    allow_same_data: bool = False
    """Accept ranks whose first samples are the same."""
    pin_memory: bool = False
    """Copy tensors of a batch into pinned memory (needs CUDA)."""
    trace_dir: str | None = None
    """A folder for the trace of each epoch and rank, to be replayed against the table
    (`python -m dgap.proofs replay`). None costs nothing."""

    def __post_init__(self) -> None:
        for name in ("token_budget", "window", "accumulation_steps", "queue_size", "chunk_size"):
            self._check_count(name, least=1)
        self._check_count("error_limit", least=0)
        if type(self.seed) is not int or not 0 <= self.seed < 2**62:
            raise ConfigError(f"seed must be an integer in [0, 2**62), not {self.seed!r}")
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                words = ", ".join(repr(choice) for choice in allowed)
                raise ConfigError(f"{name} must be one of {words}, not {getattr(self, name)!r}")
        for name in ("shuffle", "allow_same_data", "pin_memory"):
            if type(getattr(self, name)) is not bool:
                raise ConfigError(f"{name} must be True or False, not {getattr(self, name)!r}")
        is_number = type(self.timeout_s) in (int, float)
        if not is_number or not 0 < self.timeout_s < float("inf"):
            raise ConfigError(f"timeout_s must be positive and finite, not {self.timeout_s!r}")
        if self.trace_dir is not None and (type(self.trace_dir) is not str or not self.trace_dir):
            raise ConfigError(f"trace_dir must be the path of a folder, not {self.trace_dir!r}")
        self._check_windows()
        self._check_mode()

    def _check_count(self, name: str, *, least: int) -> None:
        value = getattr(self, name)
        if type(value) is not int or not least <= value < 2**62:
            raise ConfigError(f"{name} must be an integer of at least {least}, not {value!r}")

    def _check_windows(self) -> None:
        if self.window < self.accumulation_steps:
            raise ConfigError(
                f"window {self.window} must hold at least accumulation_steps "
                f"{self.accumulation_steps} samples"
            )
        if self.first_window is not None:
            self._check_count("first_window", least=self.accumulation_steps)
            if self.first_window > self.window:
                raise ConfigError(
                    f"first_window {self.first_window} must not exceed window {self.window}"
                )

    def _check_mode(self) -> None:
        if (self.mode == "quota") != (self.quota is not None):
            raise ConfigError(
                'mode="quota" needs quota=<samples of all ranks together>, and only it takes one'
            )
        if self.quota is not None:
            self._check_count("quota", least=1)
        if self.tail == "stop" and self.accumulation_steps > 1:
            raise ConfigError(
                'tail="stop" ends an iterator in the middle of an accumulation; use tail="idle"'
            )

    @property
    def first_target(self) -> int:
        """Samples in the first offer."""
        if self.first_window is not None:
            return self.first_window
        return max(self.accumulation_steps, min(self.window, max(16, self.window // 64)))

    def quota_share(self, rank: int, world_size: int) -> int:
        """Samples that this rank delivers in quota mode; the shares add up to the quota (S6)."""
        quota = self.quota or 0
        return quota // world_size + (rank < quota % world_size)

    def settings(self) -> Settings:
        """The settings of the transition table."""
        return Settings(
            window=self.window,
            accumulation=self.accumulation_steps,
            quota=int(self.mode == "quota"),
            policy=POLICIES[self.policy],
            tail_stop=int(self.tail == "stop"),
        )

    def shared_words(self, epoch: int) -> tuple[tuple[str, int], ...]:
        """The settings that all ranks must share (A6), as (name, word) pairs in one order."""
        numbers = {
            "token_budget": self.token_budget,
            "window": self.window,
            "first_window": self.first_target,
            "quota": self.quota or 0,
            "accumulation_steps": self.accumulation_steps,
            "error_limit": self.error_limit,
            "seed": self.seed,
            "shuffle": int(self.shuffle),
            "allow_same_data": int(self.allow_same_data),
            "epoch": epoch,
        }
        texts = {name: word(getattr(self, name)) for name in _CHOICES}
        return tuple({**numbers, **texts}.items())


_CHOICES: dict[str, tuple[str, ...]] = {
    "budget_kind": get_args(BudgetKind),
    "mode": get_args(Mode),
    "policy": get_args(PolicyName),
    "tail": get_args(Tail),
    "on_empty": get_args(OnEmpty),
    "on_over_budget": get_args(OnOverBudget),
    "on_error": get_args(OnError),
}
