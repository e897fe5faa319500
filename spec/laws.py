"""The laws that no state of the protocol shows: costs, weights, age (S7, S8, S12).

They are stated as properties.py states its own, in the language of the table, but about figures
of one group, one batch or one sample. Rules kept here:
1. A law is read at every group of every round, every batch of every step, every sample that was
   read; the names it uses are below, each with its unit.
2. The rules that must fulfil it stand in protocol/figures.py and are not read here.

Numbers of rounds start at 1; the round of a sample read before the first offer is round 1.
"""

from __future__ import annotations

from dataclasses import dataclass

from dgap.protocol.expr import Formula, Name, conjoin, implies
from dgap.protocol.vocabulary import setting


@dataclass(frozen=True, kw_only=True)
class Law:
    """One law. The id is that of a promise in README.md, perhaps with a letter for a part."""

    id: str
    statement: str
    formula: Formula


def named(name: str) -> Name:
    """A figure that a law speaks of."""
    return Name("group", name)


size = named("size")  # samples in a group
cost = named("cost")  # of a group: size x greatest cost (padded), or the sum (packed)
budget = named("budget")  # upper bound on it
numerator, denominator = named("numerator"), named("denominator")  # of a batch's weight
local_targets = named("local_targets")  # in a rank's batch
global_targets = named("global_targets")  # in the step: on all ranks, in all steps of the update
world_size = named("world_size")
local_loss = named("local_loss")  # summed over the targets of the batch, any integer unit
weighted_losses = named("weighted_losses")  # weight x mean loss, summed over ranks, x global
losses = named("losses")  # loss summed over all targets of the step
read_round = named("read_round")  # the round that a sample was read for
group_round = named("group_round")  # the round whose groups it is placed in

LAWS: tuple[Law, ...] = (
    Law(
        id="S7",
        statement="a group of two samples or more never exceeds the budget; a sample above it "
        "stands alone",
        formula=(size <= 1) | (cost <= budget),
    ),
    Law(
        id="S8a",
        statement="weight x local mean is W x the part of the global mean that the batch's "
        "targets have; 0 for an idle batch, and never undefined",
        formula=conjoin(
            denominator >= 1,
            numerator >= 0,
            implies(local_targets.equals(0), numerator.equals(0)),
            (numerator * local_loss * global_targets).equals(
                world_size * local_loss * denominator * local_targets
            ),
        ),
    ),
    Law(
        id="S8b",
        statement="summed over the ranks this is W x the global mean, so that averaging over W "
        "ranks gives the mean over all targets",
        formula=weighted_losses.equals(world_size * losses),
    ),
    Law(
        id="S12",
        statement="a sample read for round k is placed in a group by round k + B - 1, or given "
        "up and counted",
        formula=conjoin(
            read_round <= group_round, group_round <= read_round + setting("window") - 1
        ),
    ),
)
"""What must hold besides PROPERTIES; each id once."""
