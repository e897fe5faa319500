"""Groups and weights, for any costs and any number of ranks: the laws S7 and S8, and min(n, T).

Rules kept here:
1. The rules of cost and weight are those of protocol/figures.py, which the runtime compiles; the
   laws are those of spec/laws.py. Only what lies between the two is written here.
2. A group is known by its size, greatest cost and sum. What is shown of these holds of every
   grouping that starts from groups under the budget, takes samples out, or splits.
3. Sums over groups and ranks are inductions: the sum so far, and one more.
4. Weights are fractions, compared by cross-multiplying integers: no division, no rounding.

What is not shown here: that the runtime's grouping is made of these steps. The twins in
spec/oracle_grouping.py say so of every window that the tests try.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dgap.protocol.expr import Formula, Name, Node, Term, conjoin, rebuild
from dgap.protocol.figures import (
    PACKED_COST,
    PADDED_COST,
    WEIGHT_DENOMINATOR,
    WEIGHT_NUMERATOR,
)
from dgap.protocol.table import TABLE
from dgap.spec.laws import LAWS, named

from .asking import Obligation, parametric
from .check import Check
from .parametric import Scene


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What a group costs and what a batch weighs."""

    padded: Term = PADDED_COST
    packed: Term = PACKED_COST
    numerator: Term = WEIGHT_NUMERATOR
    denominator: Term = WEIGHT_DENOMINATOR


PROTOCOL = Rules()
_LAW: Mapping[str, Formula] = {law.id: law.formula for law in LAWS}


def scene(*assumed: Formula) -> Scene:
    """Figures of which nothing is known but what is assumed."""
    return Scene(TABLE, (), None, assumed=assumed)


def with_figures(node: Node, values: Mapping[str, Term]) -> Node:
    """The node with figures replaced by terms; others stay."""

    def change(part: Node) -> Node:
        if isinstance(part, Name) and part.scope == "group":
            return values.get(part.name, part)
        return rebuild(part, change)

    return change(node)


@dataclass(frozen=True)
class Group:
    """The figures of one group by the name of the group."""

    name: str

    def __getitem__(self, figure: str) -> Term:
        return named(f"{self.name}_{figure}")

    @property
    def exists(self) -> Formula:
        """What the figures of any non-empty group obey, each cost being 1 at least (A5)."""
        size, largest, total = self["size"], self["largest"], self["total"]
        return conjoin(
            size >= 1, largest >= 1, total >= largest + size - 1, total <= size * largest
        )

    def cost(self, rule: Term) -> Term:
        """What it costs by a rule."""
        own = {name: self[name] for name in ("size", "largest", "total")}
        found = with_figures(rule, own)
        if not isinstance(found, Term):
            raise TypeError(f"{rule} did not stay a term")
        return found

    def lawful(self, rule: Term) -> Formula:
        """S7 of this group."""
        return _formula("S7", {"size": self["size"], "cost": self.cost(rule)})


def _formula(law: str, values: Mapping[str, Term]) -> Formula:
    found = with_figures(_LAW[law], values)
    if not isinstance(found, Formula):
        raise TypeError(f"{law} did not stay a formula")
    return found


WHOLE, REST, SINGLE = Group("whole"), Group("rest"), Group("single")

_taken = conjoin(
    WHOLE.exists,
    REST.exists,
    SINGLE.exists,
    SINGLE["size"].equals(1),
    SINGLE["largest"].equals(SINGLE["total"]),
    REST["size"].equals(WHOLE["size"] - 1),
    REST["total"].equals(WHOLE["total"] - SINGLE["total"]),
    SINGLE["largest"] <= WHOLE["largest"],
    REST["largest"] <= WHOLE["largest"],
)
"""One sample of a group of two or more stands alone, the rest stays together."""


def _kinds(rules: Rules) -> Mapping[str, Term]:
    return {"padded": rules.padded, "packed": rules.packed}


def _parts(rules: Rules) -> Iterator[Obligation]:
    """A group that fits still fits when a sample is taken out: by induction, each part of it."""
    for kind, rule in _kinds(rules).items():
        cheaper = REST.cost(rule) <= WHOLE.cost(rule)
        yield Obligation(name=f"{kind}: cheaper", scene=scene(_taken), goal=cheaper)
        at = scene(_taken, WHOLE.lawful(rule))
        yield Obligation(name=f"{kind}: the rest fits", scene=at, goal=REST.lawful(rule))
        yield Obligation(name=f"{kind}: alone it may stand", scene=at, goal=SINGLE.lawful(rule))


_MOST = named("quotient")  # budget // greatest cost


def _costs(rules: Rules) -> Iterator[Obligation]:
    """A cost is what spec says: nothing is left out of it, and a padded group is filled."""
    size, largest, total = WHOLE["size"], WHOLE["largest"], WHOLE["total"]
    padded, packed = WHOLE.cost(rules.padded), WHOLE.cost(rules.packed)
    exists = scene(WHOLE.exists)
    yield Obligation(name="packed is the sum", scene=exists, goal=packed.equals(total))
    yield Obligation(name="padded holds it", scene=exists, goal=padded >= total)
    alike = scene(WHOLE.exists, total.equals(size * largest))
    yield Obligation(name="without padding it is", scene=alike, goal=padded.equals(total))
    budget = named("budget")
    divided = conjoin(_MOST * largest <= budget, budget < (_MOST + 1) * largest, _MOST >= 0)
    few = scene(WHOLE.exists, divided, (size <= _MOST) | (size <= 1))
    yield Obligation(name="budget // cost fit", scene=few, goal=WHOLE.lawful(rules.padded))
    many = scene(WHOLE.exists, divided, size > _MOST, size >= 2)
    yield Obligation(name="one more does not", scene=many, goal=~WHOLE.lawful(rules.padded))


_groups, _samples, _needed, _steps = (
    named(name) for name in ("groups", "samples", "needed", "steps")
)
_wanted = named("wanted")  # min(n, T)
_minimum = conjoin(
    _wanted <= _samples,
    _wanted <= _steps,
    _wanted.equals(_samples) | _wanted.equals(_steps),
)


def _counts() -> Iterator[Obligation]:
    """Exactly min(n, T): fewer groups can be split, more than T can be left for later."""
    start = scene(_groups.equals(0), _samples.equals(0))
    yield Obligation(name="no group holds none", scene=start, goal=_samples <= _groups)
    one_more = scene(_samples <= _groups, WHOLE.exists, WHOLE["size"] <= 1)
    after = {"samples": _samples + WHOLE["size"], "groups": _groups + 1}
    holds = after["samples"] <= after["groups"]
    yield Obligation(name="groups of one hold as many", scene=one_more, goal=holds)
    at_least = scene(_samples >= _groups, WHOLE.exists)
    full = after["samples"] >= after["groups"]
    yield Obligation(name="no group is empty", scene=at_least, goal=full)
    fewer = scene(_minimum, _groups < _wanted)
    goal = ~(_samples <= _groups)
    yield Obligation(name="fewer than min(n, T): one holds two", scene=fewer, goal=goal)
    split = scene(_taken)
    kept = (SINGLE["size"] + REST["size"]).equals(WHOLE["size"]) & (REST["size"] >= 1)
    yield Obligation(name="a split keeps all samples", scene=split, goal=kept)
    grown = scene(_minimum, _groups < _wanted)
    yield Obligation(name="a split does not pass it", scene=grown, goal=_groups + 1 <= _wanted)
    recycled = scene(_minimum, _steps >= 1, _needed <= _samples, _needed >= _steps)
    yield Obligation(name="T of those needed", scene=recycled, goal=_wanted.equals(_steps))


def _weights(rules: Rules) -> Iterator[Obligation]:
    """S8 at one batch. A rank without targets has no loss to weigh."""
    local, everywhere = named("local_targets"), named("global_targets")
    batch = conjoin(local >= 0, local <= everywhere, named("world_size") >= 1, everywhere >= 0)
    values = {"numerator": rules.numerator, "denominator": rules.denominator}
    yield Obligation(name="weight", scene=scene(batch), goal=_formula("S8a", values))


def _sums(rules: Rules) -> Iterator[Obligation]:
    """S8 over all ranks and steps of an update: the sum so far, and one batch more."""
    law, ranks = _LAW["S8b"], named("world_size")
    empty = scene(named("weighted_losses").equals(0), named("losses").equals(0))
    yield Obligation(name="no batch", scene=empty, goal=law)
    # by S8a a batch adds W x its loss to the sum of weight x mean, both sides times global
    more = {
        "weighted_losses": named("weighted_losses") + ranks * named("local_loss"),
        "losses": named("losses") + named("local_loss"),
    }
    yield Obligation(name="one batch more", scene=scene(law), goal=_formula("S8b", more))
    local, so_far, sent = (named(n) for n in ("local_targets", "targets", "global_targets"))
    counted = scene(so_far >= 0, local >= 0, so_far + local <= sent)
    within = (local <= sent) & (so_far + local >= so_far)
    yield Obligation(name="local targets are part of all", scene=counted, goal=within)
    weighed = rules.numerator + ranks * so_far
    total = weighed.equals(ranks * (so_far + local))
    yield Obligation(name="all weights together are W", scene=scene(), goal=total)


def about(rules: Rules) -> Iterator[Obligation]:
    """All obligations that read a rule."""
    yield from (*_parts(rules), *_costs(rules), *_weights(rules), *_sums(rules))


def group_checks() -> tuple[Check, ...]:
    """The laws of groups and weights. They read no row of the table."""
    return (
        parametric(
            "groups.cost",
            "S7",
            "a packed group costs its sum, a padded one no less; budget // cost samples fit",
            lambda: _costs(PROTOCOL),
        ),
        parametric(
            "groups.part",
            "S7",
            "a part of a group that fits fits, so taking out and splitting keep the budget",
            lambda: _parts(PROTOCOL),
        ),
        parametric(
            "groups.count",
            "S3",
            "while there are fewer groups than min(n, T) one can be split, and to no more",
            _counts,
        ),
        parametric(
            "weights.batch",
            "S8",
            "weight x local mean is W x the batch's part of the global mean, never undefined",
            lambda: _weights(PROTOCOL),
        ),
        parametric(
            "weights.sum",
            "S8",
            "summed over ranks and steps the parts are W x the global mean, the weights W",
            lambda: _sums(PROTOCOL),
        ),
    )
