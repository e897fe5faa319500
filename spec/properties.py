"""The properties of the protocol as named predicates, data in the language of the table.

A formula is read at one rank of a world: `state` and `world` names are that rank's, an aggregate
ranges over all ranks (`ranked`). Rules kept here:
1. "always": holds at every rank of every reachable world. "at rest": at every rank of every world
   in which nothing more can happen. "sometimes": at some rank of some reachable world.
2. Each always or at-rest property names a "sometimes" property (witnesses.py) as its witness:
   where the witness is reached, the property is not empty words.
3. Ids are for ever. A letter after the number is one conjunct of that property.

S7, S8 and S12 speak of costs, weights and age, which these counts do not show: laws.py states
them. S11 speaks of saved states, which the runtime does not have yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dgap.protocol.expr import (
    TRUE,
    Choose,
    Const,
    Every,
    Formula,
    Greatest,
    Some,
    conjoin,
    implies,
    larger,
)
from dgap.protocol.vocabulary import Phase, setting, state

from .environment import done, in_queue, ranked, world
from .predicates import (
    both_or_neither,
    complete,
    in_loop,
    in_phase,
    in_same_round,
    join,
    nobody_crashed,
    promised_steps,
    ranked_in_loop,
    ranked_in_phase,
    ranked_promised_steps,
    same,
    somebody_crashed,
    untroubled,
)

Kind = Literal["always", "at rest", "sometimes"]


@dataclass(frozen=True, kw_only=True)
class Property:
    """One property. `witness` is the id of a "sometimes" property; empty for those themselves."""

    id: str
    statement: str
    formula: Formula
    kind: Kind = "always"
    witness: str = ""


SAFETY: tuple[Property, ...] = (
    Property(
        id="S1a",
        statement="ranks that have left the same number of gathers have the same verdicts behind "
        "them: the same passes, the same end, the same named rank",
        formula=Every(
            implies(
                in_same_round,
                conjoin(
                    same("passes"),
                    both_or_neither(ranked_in_phase(Phase.CLOSED), in_phase(Phase.CLOSED)),
                    both_or_neither(ranked_in_phase(Phase.FAILED), in_phase(Phase.FAILED)),
                    ranked("named").equals(world("named")),
                ),
            )
        ),
        witness="one_ahead",
    ),
    Property(
        id="S1b",
        statement="they owe the same number of steps: steps taken plus steps owed are equal",
        formula=Every(
            implies(
                in_same_round & ranked("ended").equals(0) & state("ended").equals(0),
                ranked_promised_steps.equals(promised_steps),
            )
        ),
        witness="one_ahead",
    ),
    Property(
        id="S1c",
        statement="no rank is more than one round ahead of another",
        formula=Every(ranked("rounds") <= state("rounds") + 1),
        witness="one_ahead",
    ),
    Property(
        id="S2a",
        statement="the training loops' step counts never differ by more than one",
        formula=implies(
            in_loop, Every(implies(ranked_in_loop, ranked("taken") <= world("taken") + 1))
        ),
        witness="a_loop_is_a_step_ahead",
    ),
    Property(
        id="S2b",
        statement="loops that have ended, by CLOSED or by FAILED, have taken equally many steps",
        formula=implies(
            conjoin(in_loop, world("finished").equals(1), nobody_crashed),
            Every(
                implies(
                    ranked_in_loop & ranked("finished").equals(1),
                    ranked("trained").equals(world("trained")),
                )
            ),
        ),
        witness="a_loop_ends",
    ),
    Property(
        id="S3a",
        statement="T is at most the offer of every rank that offers samples (with accumulation A: "
        "or T is A), so each such rank can fill its steps",
        formula=implies(
            in_phase(Phase.TALLY) & (state("offered") > 0),
            state("owed_steps") <= larger(state("offered"), setting("accumulation")),
        ),
        witness="the_least_offer_binds",
    ),
    Property(
        id="S3b",
        statement="a rank owes a step without a group only after its last sample: it is drained",
        formula=implies(
            in_phase(Phase.EMIT) & untroubled,
            conjoin(
                state("owed_groups") <= state("owed_steps"),
                state("owed_groups") <= state("owed_samples"),
                both_or_neither(state("owed_groups").equals(0), state("owed_samples").equals(0)),
                implies(
                    state("owed_groups") < state("owed_steps"),
                    state("held").equals(0)
                    & (state("exhausted").equals(1) | (~join & state("remaining").equals(0))),
                ),
            ),
        ),
        witness="an_idle_step_is_owed",
    ),
    Property(
        id="S4a",
        statement="every sample read is held, owed, delivered, lost after trouble or dropped at a "
        "restart, and is so once; what is not read is unread",
        formula=conjoin(
            world("drawn").equals(
                state("held")
                + state("owed_samples")
                + state("delivered")
                + state("lost")
                + state("dropped")
            ),
            (world("unread") + state("read")).equals(world("source")),
            implies(join, state("dropped").equals(0)),
            implies(untroubled, state("lost").equals(0)),
        ),
        witness="samples_are_carried_over",
    ),
    Property(
        id="S4b",
        statement="what was delivered is in the queue or was received by the training loop",
        formula=implies(
            world("left").equals(0),
            state("delivered").equals(world("received") + in_queue),
        ),
        witness="a_queue_is_full",
    ),
    Property(
        id="S5",
        statement="join mode: at CLOSED every sample of the source was delivered, and is received "
        "when the loop ends",
        formula=implies(
            join & complete,
            conjoin(
                state("delivered").equals(world("source")),
                state("lost").equals(0),
                implies(world("finished").equals(1), world("received").equals(world("source"))),
            ),
        ),
        witness="all_close_with_samples",
    ),
    Property(
        id="S6",
        statement="quota mode: at CLOSED exactly the share was delivered; no pass reads a sample "
        "twice",
        formula=implies(
            ~join,
            (state("read") <= world("source"))
            & implies(complete, state("delivered").equals(world("share"))),
        ),
        witness="a_pass_is_repeated",
    ),
    Property(
        id="S9",
        statement="window and queue keep their bounds",
        formula=conjoin(
            state("offered") <= state("held"),
            state("held") <= state("target"),
            state("target") <= setting("window"),
            world("queued") <= world("queue_limit"),
        ),
        witness="a_queue_is_full",
    ),
    Property(
        id="S10",
        statement="a failure ends all ranks: all reach FAILED at the same step and name the same "
        "rank, and no failure is swallowed",
        kind="at rest",
        formula=implies(
            nobody_crashed & Some(ranked_in_phase(Phase.FAILED) | (ranked("failed") > 0)),
            conjoin(
                in_phase(Phase.FAILED),
                Every(ranked("named").equals(world("named"))),
                implies(
                    in_loop,
                    Every(implies(ranked_in_loop, ranked("trained").equals(world("trained")))),
                ),
            ),
        ),
        witness="a_failure_reaches_a_peer",
    ),
)

rounds_bound = Choose(
    join,
    Greatest(ranked("source"), TRUE, Const(0)) + 1,
    larger(Greatest(ranked("share"), TRUE, Const(0)) * 2, 1),
)
"""Join: each round but the last takes a sample from every rank that has one. Quota: before each
restart is a round that delivers, and each of those takes a sample from every rank that is short of
its share. Both bounds are met (witnesses.py)."""

LIVENESS: tuple[Property, ...] = (
    Property(
        id="L1",
        statement="nothing stands still before all is done: each rank CLOSED or FAILED, each "
        "training loop ended",
        kind="at rest",
        formula=done,
        witness="a_loop_ends",
    ),
    Property(
        id="L2",
        statement="join: at most max samples + 1 rounds; quota: at most 2 x max share, and "
        "one where nothing is to be delivered",
        formula=state("rounds") <= rounds_bound,
        witness="a_loop_ends",
    ),
    Property(
        id="L3",
        statement="after a crash every survivor reaches FAILED, unless the dead rank had entered "
        "the survivor's last gather",
        kind="at rest",
        formula=implies(
            somebody_crashed & world("crashed").equals(0),
            in_phase(Phase.FAILED)
            | (
                in_phase(Phase.CLOSED)
                & Every(implies(ranked("crashed").equals(1), ranked("gathers") >= state("rounds")))
            ),
        ),
        witness="a_survivor_fails",
    ),
)

PROPERTIES: tuple[Property, ...] = (*SAFETY, *LIVENESS)
"""What must hold; each id once."""
