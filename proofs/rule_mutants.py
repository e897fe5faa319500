"""Mutants of the rules of cost and weight: each is refuted by a law, or makes the same fraction.

Rules kept here:
1. A rule is changed as a row of the table is: the same generator, every node.
2. What no obligation refutes is proved to weigh and cost the same, or the check is refuted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

from dgap.protocol.expr import Term, conjoin
from dgap.protocol.transition import Row, Table
from dgap.protocol.vocabulary import EventKind, Phase
from dgap.spec.laws import named

from .asking import Obligation, discharge
from .check import Check, Outcome, Reach, Verdict
from .mutants import mutants
from .obligations_groups import PROTOCOL, Rules, about, scene


def _as_row(name: str, rule: Term) -> Row:
    updates = ((name, rule),)
    return Row(
        name=name, phase=Phase.FILL, event=EventKind.READ, target=Phase.FILL, updates=updates
    )


def changed_rules() -> Iterator[tuple[str, Rules]]:
    """Every small change to one of the rules, with its id."""
    for field in fields(Rules):
        row = _as_row(field.name, getattr(PROTOCOL, field.name))
        for mutant in mutants(Table(rows=(row,), report=())):
            changed = dict(mutant.table.rows[0].updates) if mutant.table.rows else {}
            rule = changed.get(field.name)
            if rule is not None and rule != row.updates[0][1]:
                yield mutant.id, replace(PROTOCOL, **{field.name: rule})


def _is_refuted(rules: Rules) -> bool:
    return any(discharge(each).verdict == Verdict.REFUTED for each in about(rules))


def _makes_the_same(rules: Rules) -> bool:
    """The same fraction whatever the batch, and the same costs."""
    local, everywhere = named("local_targets"), named("global_targets")
    batch = conjoin(local >= 0, local <= everywhere)
    goal = conjoin(
        (rules.numerator * PROTOCOL.denominator).equals(PROTOCOL.numerator * rules.denominator),
        rules.denominator >= 1,
        rules.padded.equals(PROTOCOL.padded),
        rules.packed.equals(PROTOCOL.packed),
    )
    same = Obligation(name="the same", scene=scene(batch), goal=goal)
    return discharge(same).verdict == Verdict.PROVED


def account(changed: dict[str, Rules]) -> Outcome:
    """PROVED if there are changed rules, and each is refuted or makes the same."""
    left = {id_: rules for id_, rules in changed.items() if not _is_refuted(rules)}
    unseen = tuple(id_ for id_, rules in left.items() if not _makes_the_same(rules))
    verdict = Verdict.REFUTED if unseen or not changed else Verdict.PROVED
    same = len(left) - len(unseen)
    detail = f"{len(changed)} changed rules: {len(changed) - len(left)} refuted, {same} the same"
    return Outcome(verdict=verdict, detail=detail, trace=unseen)


def rule_mutant_checks() -> tuple[Check, ...]:
    """Every small change to the rules is accounted for."""
    return (
        Check(
            id="mutants.rules",
            property="mutation",
            statement="every small change to the rules of cost and weight breaks a law, or "
            "changes nothing",
            reach=Reach.ALL_RANKS,
            scope="each node of each rule",
            expected=Verdict.PROVED,
            run=lambda: account(dict(changed_rules())),
        ),
    )
