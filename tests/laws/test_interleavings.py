"""Random tables of costs under random schedules, on the real engine, checked after every move.

Each example is one schedule of one world. The seed of the schedule is part of the example, so
that a failure printed by Hypothesis is run again by its arguments alone.
"""

from __future__ import annotations

from collections import Counter

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from dgap.protocol.errors import CollectiveFailed, PeerFailed, PeerStopped
from dgap.protocol.vocabulary import Phase
from dgap.runtime.config import LoaderConfig, Mode, Tail
from dgap.runtime.loopback import Loopback, LoopbackRank
from tests.laws.worlds import Plan, PlantedError, build_world

BUDGET = 20
INTERLEAVINGS = 700
"""Per test; the three tests together run more than 2,000."""

SEED = 20_260_619
thorough = settings(
    max_examples=INTERLEAVINGS,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)

cost_tables = st.lists(st.lists(st.integers(1, 30), max_size=9), min_size=1, max_size=4)
schedules = st.integers(0, 2**32 - 1)


@st.composite
def configs(draw: st.DrawFn, *, mode: Mode = "join") -> LoaderConfig:
    window = draw(st.integers(1, 6))
    accumulation = draw(st.integers(1, min(2, window)))
    tails: list[Tail] = ["idle", "stop"] if accumulation == 1 else ["idle"]
    return LoaderConfig(
        token_budget=BUDGET,
        budget_kind=draw(st.sampled_from(["padded", "packed"])),
        window=window,
        first_window=draw(st.integers(accumulation, window)),
        accumulation_steps=accumulation,
        policy=draw(st.sampled_from(["paper", "fill"])),
        tail=draw(st.sampled_from(tails)),
        queue_size=draw(st.integers(1, 3)),
        mode=mode,
        quota=draw(st.integers(1, 12)) if mode == "quota" else None,
    )


class Watch:
    """Checks the safety properties after every move and remembers what must not change."""

    def __init__(self, config: LoaderConfig) -> None:
        self.config = config
        self.step_count_of_round: dict[int, int] = {}

    def __call__(self, world: Loopback) -> None:
        for rank in world.ranks:
            self.check_rank(rank)
        running = [len(r.taken) for r in world.ranks if not (r.dead or r.left or r.loop_over)]
        if self.config.tail == "idle" and running:
            assert max(running) - min(running) <= 1, f"S2: {world.describe()}"

    def check_rank(self, rank: LoopbackRank) -> None:
        state = rank.engine.state
        assert 0 <= state.held <= state.target <= self.config.window, "S9: window"
        assert len(rank.queue) <= self.config.queue_size, "S9: queue"
        assert state.owed_groups <= min(state.owed_steps, state.owed_samples), "S3"
        if state.phase == Phase.TALLY:
            known = self.step_count_of_round.setdefault(state.rounds, state.owed_steps)
            assert known == state.owed_steps, "S1: another T in the same round"
        for _, step in rank.taken[-1:]:
            budget = self.config.token_budget
            assert step.samples <= 1 or step.padded_tokens <= budget, "S7"


def delivered(rank: LoopbackRank) -> Counter[int]:
    return Counter(index for _, step in rank.taken for index in step.sample_indices)


def check_totals(world: Loopback) -> None:
    """S8: what was announced for a step is the sum of what was delivered in it."""
    steps = zip(*([step for _, step in rank.taken] for rank in world.ranks), strict=False)
    for together in steps:
        assert len({step.index for step in together}) == 1
        assert sum(step.samples for step in together) == together[0].global_samples
        assert sum(step.targets for step in together) == together[0].global_targets


@seed(SEED)
@thorough
@given(costs=cost_tables, config=configs(), schedule=schedules)
def test_every_schedule_delivers_each_sample_once_in_equally_many_steps(
    costs: list[list[int]], config: LoaderConfig, schedule: int
) -> None:
    world = build_world(
        config, [Plan(costs=row) for row in costs], seed=schedule, check=Watch(config)
    )
    world.run()
    for rank, row in zip(world.ranks, costs, strict=True):
        assert delivered(rank) == Counter(range(len(row))), "S5"
        assert rank.engine.ledger.balance == 0, "S4"
        assert rank.error is None
        assert rank.engine.state.rounds <= max(map(len, costs)) + 1, "L2"
    if config.tail == "idle":
        assert len({len(rank.taken) for rank in world.ranks}) == 1, "S2"
        check_totals(world)


@seed(SEED)
@thorough
@given(
    costs=st.lists(st.lists(st.integers(1, 30), min_size=1, max_size=6), min_size=1, max_size=3),
    config=configs(mode="quota"),
    schedule=schedules,
)
def test_every_schedule_closes_the_quota_exactly(
    costs: list[list[int]], config: LoaderConfig, schedule: int
) -> None:
    world = build_world(
        config, [Plan(costs=row) for row in costs], seed=schedule, check=Watch(config)
    )
    world.run()
    total = sum(sum(delivered(rank).values()) for rank in world.ranks)
    assert total == config.quota, "S6"
    for rank in world.ranks:
        assert rank.error is None
        assert rank.engine.ledger.balance == 0, "S4"
        passes = rank.engine.ledger.passes
        assert max(delivered(rank).values(), default=0) <= passes, "S6: twice within a pass"


@st.composite
def troubled_plans(draw: st.DrawFn) -> list[Plan]:
    """Two to four ranks, one of which fails, leaves or dies somewhere."""
    rows = draw(st.lists(st.lists(st.integers(1, 30), max_size=8), min_size=2, max_size=4))
    victim = draw(st.integers(0, len(rows) - 1))
    kind = draw(st.sampled_from(list(Plan.__dataclass_fields__)[1:]))
    moment = draw(st.integers(0, 12))
    return [
        Plan(costs=row, **({kind: moment} if rank == victim else {}))
        for rank, row in enumerate(rows)
    ]


@seed(SEED)
@thorough
@given(plans=troubled_plans(), config=configs(), schedule=schedules)
def test_every_schedule_ends_alike_on_all_ranks_when_one_is_in_trouble(
    plans: list[Plan], config: LoaderConfig, schedule: int
) -> None:
    world = build_world(config, plans, seed=schedule, check=Watch(config))
    world.run()
    survivors = [rank for rank in world.ranks if not rank.dead]
    listening = [rank for rank in survivors if not rank.left and not rank.iterator_ended]
    expected = (PlantedError, PeerFailed, PeerStopped, CollectiveFailed)
    assert all(rank.error is None or isinstance(rank.error, expected) for rank in survivors)
    if len(survivors) == len(world.ranks):
        assert len({rank.error is None for rank in listening}) <= 1, "S10: only some raise"
        assert len({len(rank.taken) for rank in listening}) <= 1, "S10: at different steps"
        assert all(rank.engine.ledger.balance == 0 for rank in survivors), "S4"
    for rank in survivors:
        assert max(delivered(rank).values(), default=0) <= 1, "S5: delivered twice"
