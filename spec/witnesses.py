"""What must be reachable: the "sometimes" properties, so that no "always" is empty words.

Each is reached in at least one family of worlds (proofs/families.py), by a shortest trace.
"""

from __future__ import annotations

from dgap.protocol.expr import Every, Formula, Some, conjoin
from dgap.protocol.vocabulary import Phase, state

from .environment import at_rest, in_step, ranked, running, world
from .predicates import (
    complete,
    in_loop,
    in_phase,
    join,
    ranked_in_loop,
    ranked_in_phase,
    untroubled,
)
from .properties import Property, rounds_bound


def _sometimes(name: str, statement: str, formula: Formula) -> Property:
    return Property(id=name, statement=statement, formula=formula, kind="sometimes")


WITNESSES: tuple[Property, ...] = (
    _sometimes(
        "one_ahead",
        "a rank has left a gather while a peer is still inside it",
        in_phase(Phase.OFFER) & Some(ranked("rounds") > state("rounds")),
    ),
    _sometimes(
        "a_loop_is_a_step_ahead",
        "a training loop has entered a step collective that a peer has not entered yet",
        in_loop & Some(ranked_in_loop & (ranked("taken") > world("taken"))),
    ),
    _sometimes(
        "a_loop_ends",
        "a training loop has seen the end and has trained",
        (world("finished").equals(1) | world("left").equals(1)) & (world("trained") > 0),
    ),
    _sometimes(
        "an_idle_step_is_owed",
        "an untroubled rank owes a step and no group, while a peer delivers one",
        conjoin(
            in_phase(Phase.EMIT),
            untroubled,
            state("owed_groups") < state("owed_steps"),
            Some(ranked("owed_groups") > 0),
        ),
    ),
    _sometimes(
        "the_least_offer_binds",
        "a rank owes as many steps as it offered samples, while a peer offered more",
        conjoin(
            in_phase(Phase.TALLY),
            state("offered") > 0,
            state("owed_steps").equals(state("offered")),
            Some(ranked("offered") > state("offered")),
        ),
    ),
    _sometimes(
        "samples_are_carried_over",
        "samples stay in the window while the steps of a round are emitted",
        in_phase(Phase.EMIT) & (state("held") > 0),
    ),
    _sometimes(
        "a_queue_is_full",
        "an output queue is full while a step is owed",
        conjoin(
            in_phase(Phase.EMIT),
            state("owed_steps") > 0,
            world("queued").equals(world("queue_limit")),
        ),
    ),
    _sometimes(
        "all_close_with_samples",
        "every rank has delivered samples and closed",
        complete & Every((ranked("delivered") > 0) & ranked_in_phase(Phase.CLOSED)),
    ),
    _sometimes(
        "a_pass_is_repeated",
        "every rank has read its source again, and closed",
        conjoin(~join, complete, state("passes") > 0, state("delivered") > world("source")),
    ),
    _sometimes(
        "as_many_rounds_as_samples_allow",
        "join: the epoch closes after max samples + 1 rounds, with two samples or more",
        conjoin(
            join,
            complete,
            Some(ranked("source") >= 2),
            state("rounds").equals(rounds_bound),
        ),
    ),
    _sometimes(
        "as_many_rounds_as_shares_allow",
        "quota: the epoch closes after 2 x max share rounds, with a share of two or more",
        conjoin(
            ~join,
            complete,
            Some(ranked("share") >= 2),
            state("rounds").equals(rounds_bound),
        ),
    ),
    _sometimes(
        "a_failure_reaches_a_peer",
        "a rank without a failure of its own fails after steps, since a peer failed",
        conjoin(in_phase(Phase.FAILED), state("failed").equals(0), world("trained") > 0),
    ),
    _sometimes(
        "a_stop_reaches_a_peer",
        "a rank whose loop went on closes, since a peer's loop left early",
        conjoin(in_phase(Phase.CLOSED), running, Some(ranked("stopped").equals(1))),
    ),
    _sometimes(
        "an_iterator_ends_early",
        "under tail stop a loop has ended while a peer's goes on",
        conjoin(state("ended").equals(1), ~running, ~at_rest, Some(ranked("owed_groups") > 0)),
    ),
    _sometimes(
        "a_survivor_fails",
        "a survivor has failed after a step, since a peer died",
        conjoin(in_phase(Phase.FAILED), world("broken").equals(1), world("trained") > 0),
    ),
    _sometimes(
        "the_ranks_are_refused",
        "ranks that were not started alike fail in the first round",
        in_phase(Phase.FAILED) & state("rounds").equals(1) & world("unlike").equals(1),
    ),
    _sometimes(
        "an_idle_batch_is_trained_on",
        "a training loop is in a step with a batch without samples",
        in_step & world("hand").equals(0),
    ),
)
