"""The families of worlds that are explored, each with its bounds and what it must show.

Rules kept here:
1. A family is data: which settings, which sources, what may go wrong, which witnesses it reaches.
2. Every property is watched in every family; only R1 is left out where its map does not reach.
3. The number of reachable states belongs to a family (expected_states.json): another number means
   another protocol, another environment or another family, and is looked at before it is recorded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import Policy, Settings
from dgap.spec.environment import Environment, initial_environment
from dgap.spec.properties import PROPERTIES
from dgap.spec.witnesses import WITNESSES

from .check import Verdict
from .explorer import Exploration, explore
from .watch import PropertyWatch
from .world import Node, World

STATE_LIMIT = 1_000_000
"""Far above the largest family; about 1 GB of memory."""

EXPECTED_STATES = Path(__file__).with_name("expected_states.json")


@dataclass(frozen=True, kw_only=True)
class Family:
    """Worlds of `world_size` ranks, each source having 0..most_samples.

    `settings` are explored one after another. In quota mode every share of 0..most_share is
    combined with every source. `faults`, `stops` and `crashes` may happen on every rank, or on the
    first `troubled_ranks`.
    """

    name: str
    scope: str
    settings: tuple[Settings, ...]
    witnesses: tuple[str, ...]
    world_size: int = 2
    most_samples: int = 2
    most_share: int = 0
    first_window: int = 0
    queue_limit: int = 1
    faults: int = 0
    stops: int = 0
    crashes: int = 0
    troubled_ranks: int | None = None
    unlike: bool = False
    refinement: bool = True
    reduced: bool = False

    def environments(self) -> Iterator[tuple[Environment, ...]]:
        """Every combination of sources and shares over the ranks."""
        troubled = self.world_size if self.troubled_ranks is None else self.troubled_ranks
        return product(*(self._one_rank(rank < troubled) for rank in range(self.world_size)))

    def _one_rank(self, troubled: bool) -> list[Environment]:
        return [
            initial_environment(
                source,
                share=share,
                queue_limit=self.queue_limit,
                unlike=self.unlike,
                faults=self.faults * troubled,
                stops=self.stops * troubled,
                crashes=self.crashes * troubled,
            )
            for source in range(self.most_samples + 1)
            for share in range(self.most_share + 1)
        ]


@dataclass(frozen=True, kw_only=True)
class Explored:
    """A family under one choice of settings, explored."""

    world: World
    exploration: Exploration[Node]


def explore_family(
    family: Family, *, table: Table = TABLE, until_broken: str = ""
) -> tuple[Explored, ...]:
    """One exploration per choice of settings."""
    found = []
    for settings in family.settings:
        world = World(settings, family.world_size, table=table, reduced=family.reduced)
        watch = PropertyWatch(world, (*PROPERTIES, *WITNESSES), refinement=family.refinement)
        roots = [
            world.root(environments, first_window=family.first_window)
            for environments in family.environments()
        ]
        exploration = explore(
            roots,
            world.successors,
            watch,
            state_limit=STATE_LIMIT,
            until_broken=until_broken,
        )
        found.append(Explored(world=world, exploration=exploration))
    return tuple(found)


@cache
def explored(family: Family) -> tuple[Explored, ...]:
    """The family under the protocol's own table, explored once in this process."""
    return explore_family(family)


def as_recorded(name: str, states: int) -> tuple[Verdict, str]:
    """PROVED if the family of that name has the recorded number of states, else REFUTED; why."""
    recorded = expected_states().get(name, 0)
    if states == recorded:
        return Verdict.PROVED, f"exactly {states} states, as recorded"
    return Verdict.REFUTED, (
        f"{states} states instead of {recorded}: table, environment or family have changed; "
        "if that is meant, record the number in proofs/expected_states.json"
    )


def expected_states() -> dict[str, int]:
    """The recorded number of reachable states of each family."""
    recorded: dict[str, int] = json.loads(EXPECTED_STATES.read_text())
    return recorded


_looping = ("one_ahead", "a_loop_is_a_step_ahead", "a_loop_ends")
_joined = (
    *_looping,
    "an_idle_step_is_owed",
    "an_idle_batch_is_trained_on",
    "all_close_with_samples",
)
_full = ("the_least_offer_binds", "samples_are_carried_over", "a_queue_is_full")
_both_policies = (Settings(window=3), Settings(window=3, policy=Policy.PAPER))
_both_tails = (Settings(window=2), Settings(window=2, tail_stop=1))

FAMILIES: tuple[Family, ...] = (
    Family(
        name="join",
        scope="W=2, 0..3 samples a rank, window 3, queue of 2, both policies, tail idle",
        settings=_both_policies,
        witnesses=(*_joined, *_full),
        most_samples=3,
        queue_limit=2,
    ),
    Family(
        name="join-growing",
        scope="W=2, 0..3 samples a rank, windows of 1, 2, 3, queue of 1, both policies, tail idle",
        settings=_both_policies,
        witnesses=(*_joined, *_full, "as_many_rounds_as_samples_allow"),
        most_samples=3,
        first_window=1,
    ),
    Family(
        name="join-stop",
        scope="W=2, 0..3 samples a rank, window 2, queue of 1, tail stop",
        settings=(Settings(window=2, tail_stop=1),),
        witnesses=(*_looping, "an_iterator_ends_early", "all_close_with_samples"),
        most_samples=3,
    ),
    Family(
        name="join-three",
        scope="W=3, 0..2 samples a rank, window 2, queue of 1, tail idle, every interleaving",
        settings=(Settings(window=2),),
        witnesses=(*_joined, *_full),
        world_size=3,
    ),
    Family(
        name="stop-three",
        scope="W=3, 0..2 samples a rank, window 2, queue of 1, tail stop, reduced interleavings",
        settings=(Settings(window=2, tail_stop=1),),
        witnesses=(*_looping, "an_iterator_ends_early", "all_close_with_samples"),
        world_size=3,
        reduced=True,
    ),
    Family(
        name="one-rank",
        scope="W=1, 0..5 samples, window 3, queue of 2, both policies, a fault",
        settings=_both_policies,
        witnesses=("a_loop_ends", "all_close_with_samples", "a_queue_is_full"),
        world_size=1,
        most_samples=5,
        queue_limit=2,
        faults=1,
    ),
    Family(
        name="accumulation",
        scope="W=2, 0..3 samples a rank, window 3, accumulation 2, queue of 1, both tails",
        settings=(
            Settings(window=3, accumulation=2),
            Settings(window=3, accumulation=2, tail_stop=1),
        ),
        witnesses=(*_looping, "an_idle_step_is_owed", "all_close_with_samples"),
        most_samples=3,
    ),
    Family(
        name="quota",
        scope="W=2, 0..2 samples a pass, shares of 0..3, window 2, queue of 1, tail idle",
        settings=(Settings(window=2, quota=1),),
        witnesses=(*_joined, *_full, "a_pass_is_repeated", "as_many_rounds_as_shares_allow"),
        most_share=3,
    ),
    Family(
        name="quota-trouble",
        scope="W=2, 0..1 samples a pass, shares of 0..2, window 2, a fault on each rank, both "
        "tails",
        settings=(Settings(window=2, quota=1), Settings(window=2, quota=1, tail_stop=1)),
        witnesses=(*_looping, "a_pass_is_repeated", "a_failure_reaches_a_peer"),
        most_samples=1,
        most_share=2,
        faults=1,
    ),
    Family(
        name="faults",
        scope="W=2, 0..2 samples a rank, window 2, queue of 1, a fault of user code on each rank "
        "at any point, both tails",
        settings=_both_tails,
        witnesses=(*_looping, *_full, "a_failure_reaches_a_peer"),
        faults=1,
    ),
    Family(
        name="faults-three",
        scope="W=3, 0..1 samples a rank, window 2, queue of 1, a fault on each rank at any "
        "point, tail idle, reduced interleavings",
        settings=(Settings(window=2),),
        witnesses=(*_looping, "a_failure_reaches_a_peer"),
        world_size=3,
        most_samples=1,
        faults=1,
        reduced=True,
    ),
    Family(
        name="leaving",
        scope="W=2, 0..2 samples a rank, window 2, queue of 1, each loop may leave early at any "
        "step, both tails",
        settings=_both_tails,
        witnesses=(*_looping, "a_stop_reaches_a_peer"),
        stops=1,
        refinement=False,
    ),
    Family(
        name="crash",
        scope="W=2, 0..2 samples a rank, window 2, queue of 1, each rank may die at any point, "
        "both tails",
        settings=_both_tails,
        witnesses=(*_looping, "a_survivor_fails"),
        crashes=1,
        refinement=False,
    ),
    Family(
        name="crash-three",
        scope="W=3, 0..1 samples a rank, window 1, queue of 1, rank 0 may die at any point",
        settings=(Settings(window=1),),
        witnesses=(*_looping, "a_survivor_fails"),
        world_size=3,
        most_samples=1,
        crashes=1,
        troubled_ranks=1,
        refinement=False,
    ),
    Family(
        name="all-trouble",
        scope="W=2, 0..1 samples a rank, window 2, queue of 1, a fault, an early leave and a "
        "crash on each rank, in any order",
        settings=(Settings(window=2),),
        witnesses=(
            *_looping,
            "a_survivor_fails",
            "a_stop_reaches_a_peer",
            "a_failure_reaches_a_peer",
        ),
        most_samples=1,
        faults=1,
        stops=1,
        crashes=1,
        refinement=False,
    ),
    Family(
        name="unlike",
        scope="W=2, 0..1 samples a rank, ranks not started alike",
        settings=(Settings(window=2),),
        witnesses=("the_ranks_are_refused",),
        most_samples=1,
        unlike=True,
    ),
)
