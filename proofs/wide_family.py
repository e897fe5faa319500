"""What a wide family is: worlds up to large bounds, for the compiled explorer.

Rules kept here:
1. A family is data, and its scope in words is made from that data: it says exactly what was
   explored, every combination of what it lists.
2. Trouble is single: one fault, one early leave or one crash, at any point, on the first rank.
3. One order of the ranks stands for all orders that differ by exchanging ranks.

Why rule 3 loses nothing. A rank's number is read in one place: a verdict names the lowest rank
that failed or stopped. No guard reads that name and no property does more than compare it between
ranks, each of which takes it from the same vector. So exchanging ranks turns runs into runs and
breaks or keeps the same properties; the names alone differ. The rank that has trouble is the first
one, and the others come in any one order. Tests count both orders of small instances.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from dgap.protocol.vocabulary import Policy, Settings
from dgap.spec.environment import Environment, initial_environment

from .compiled import Job

Rank = tuple[int, int]
"""Samples of the source, and the share of the quota."""

POLICIES = (Policy.PAPER, Policy.FILL)
TROUBLES = {"faults": "a fault", "stops": "an early leave", "crashes": "a crash"}


@dataclass(frozen=True, kw_only=True)
class WideFamily:
    """Every combination of these settings with every vector of samples.

    A vector has 0..most_samples a rank and most_total in all, or 0..box a rank. `most_share` and
    `total_share` bound the shares likewise; quota mode where they are not 0. `trouble` is a key of
    `TROUBLES`. Accumulations and first windows above a window are left out.
    """

    name: str
    witnesses: tuple[str, ...]
    world_size: int = 2
    most_samples: int = 6
    most_total: int = 8
    box: int = 0
    most_share: int = 0
    total_share: int = 0
    windows: tuple[int, ...] = (1, 2, 3, 4)
    queues: tuple[int, ...] = (1, 2, 3)
    tails: tuple[int, ...] = (0, 1)
    policies: tuple[Policy, ...] = POLICIES
    accumulations: tuple[int, ...] = (1,)
    first_windows: tuple[int, ...] = (0,)
    trouble: str = ""
    reduced: bool = False

    @property
    def scope(self) -> str:
        """What is explored, in words."""
        parts = [f"W={self.world_size}", self._samples_in_words()]
        if self.most_share:
            parts.append(f"shares of 0..{self.most_share}, {self.total_share} in all")
        parts.append(f"windows {_listed(self.windows)}")
        if self.first_windows != (0,):
            parts.append(f"the first window {_listed(self.first_windows)}")
        if self.accumulations != (1,):
            parts.append(f"accumulation {_listed(self.accumulations)}")
        parts.append(f"queues of {_listed(self.queues)}")
        parts.append(
            "both tails" if len(self.tails) == 2 else f"tail {tail_in_words(self.tails[0])}"
        )
        both = len(self.policies) == 2
        parts.append("both policies" if both else f"policy {self.policies[0].name}")
        if self.trouble:
            parts.append(f"{TROUBLES[self.trouble]} on one rank at any point")
        parts.append("reduced interleavings" if self.reduced else "every interleaving")
        return ", ".join(parts)

    @property
    def refinement(self) -> bool:
        """Whether R1 is watched: its map does not reach early leaves and deaths."""
        return self.trouble not in ("stops", "crashes")

    def _samples_in_words(self) -> str:
        words = f"0..{self.most_samples} samples a rank, {self.most_total} in all"
        if self.box * self.world_size > self.most_total:
            words += f" (and all of 0..{self.box} a rank)"
        return words

    def vectors(self) -> Iterator[tuple[Rank, ...]]:
        """One vector for all that differ by exchanging ranks; those without trouble are sorted."""
        most, share = max(self.most_samples, self.box), self.most_share
        one = list(product(range(most + 1), range(share + 1)))
        fixed = 1 if self.trouble else 0
        for vector in product(one, repeat=self.world_size):
            alike = vector[fixed:]
            if list(alike) == sorted(alike, reverse=True) and self._is_within(vector):
                yield vector

    def _is_within(self, vector: tuple[Rank, ...]) -> bool:
        sources = [source for source, _ in vector]
        few = max(sources) <= self.most_samples and sum(sources) <= self.most_total
        boxed = max(sources) <= self.box
        return (few or boxed) and sum(share for _, share in vector) <= self.total_share

    def jobs(self) -> Iterator[Job]:
        """A job per choice of settings, with all queues and vectors."""
        roots = tuple(
            tuple(self._start(rank, source, share, queue) for rank, (source, share) in at)
            for queue in self.queues
            for at in (tuple(enumerate(vector)) for vector in self.vectors())
        )
        for settings, first_window in self._settings():
            yield Job(
                settings=settings,
                roots=roots,
                witnesses=self.witnesses,
                first_window=first_window,
                reduced=self.reduced,
                refinement=self.refinement,
            )

    def _settings(self) -> Iterator[tuple[Settings, int]]:
        choices = (self.windows, self.first_windows, self.accumulations, self.tails, self.policies)
        for window, first, accumulation, tail, policy in product(*choices):
            settings = Settings(
                window=window,
                accumulation=accumulation,
                quota=int(self.most_share > 0),
                policy=policy,
                tail_stop=tail,
            )
            if accumulation <= (first or window) <= window:
                yield settings, first

    def _start(self, rank: int, source: int, share: int, queue: int) -> Environment:
        times = {name: int(name == self.trouble and rank == 0) for name in TROUBLES}
        return initial_environment(
            source,
            share=share,
            queue_limit=queue,
            faults=times["faults"],
            stops=times["stops"],
            crashes=times["crashes"],
        )


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers))


def tail_in_words(tail_stop: int) -> str:
    """The name of the tail, "idle" or "stop"."""
    return "stop" if tail_stop else "idle"
