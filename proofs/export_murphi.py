"""The table under its environment as a Murphi model, in the dialect of rumur.

Rules kept here:
1. Rules bear the names of the table's rows and of the environment's moves.
2. An update reads the old values: new values are put into variables first, then written.
3. Numbers have a bound; a model that outgrows it stops with an error, and counts nothing.

A world that stands still where an "at rest" property fails is a deadlock ("stuck") to rumur: the
rule `rest`, which changes nothing, is open to all other worlds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from dgap.protocol.expr import (
    TRUE,
    Arithmetic,
    Both,
    Choose,
    Compare,
    Const,
    Either,
    Every,
    Formula,
    Greatest,
    Least,
    Name,
    Node,
    Not,
    Some,
    Term,
    Total,
    Truth,
    conjoin,
    conjuncts,
)
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import Phase, Report, Settings, State
from dgap.spec.environment import Environment
from dgap.spec.properties import PROPERTIES, Property

from .export import CHOICES, Action, Instance, Start, actions

LIMIT = 63
"""Far above every count in a small instance."""

LEAVE = """\
  for p: rank_type do
    STORE
  endfor;
  if exists p: rank_type do
      p != r & ranks[p].phase = OFFER & ranks[p].rounds = ranks[r].rounds endexists then
    vector_known := true;
  else
    clear vector; vector_known := false;
  endif;
"""
"""The vector of a gather is fixed once a rank leaves, and kept until the last one has left."""


@dataclass(frozen=True, kw_only=True)
class Pen:
    """Writes expressions. Aggregates range over ranks, or over the reports of a gather.

    Murphi has no least and no greatest: each such term becomes a function, kept in `functions`.
    """

    settings: Settings
    reports: bool = False
    functions: dict[Node, str] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)

    def text(self, node: Node) -> str:
        """The node, in parentheses where it needs them."""
        match node:
            case Const(value):
                return str(int(value))
            case Truth(value):
                return str(value).lower()
            case Name():
                return self._name(node)
            case Arithmetic(operator, left, right):
                return f"({self.text(left)} {operator} {self.text(right)})"
            case Compare(operator, left, right):
                symbol = "=" if operator == "==" else operator
                return f"({self.text(left)} {symbol} {self.text(right)})"
            case Choose(Compare("<=" | ">=" as operator, a, b), then, other) if (a, b) == (
                then,
                other,
            ):
                word = "lesser" if operator == "<=" else "larger"
                return f"{word}({self.text(a)}, {self.text(b)})"
            case Choose(condition, then, other):
                words = [self.text(part) for part in (condition, then, other)]
                return "({} ? {} : {})".format(*words)
            case Both(left, right):
                return f"({self.text(left)} & {self.text(right)})"
            case Either(left, right):
                return f"({self.text(left)} | {self.text(right)})"
            case Not(body):
                return f"!({self.text(body)})"
            case Every(body):
                return f"(forall p: rank_type do {self.text(body)} endforall)"
            case Some(body):
                return f"(exists p: rank_type do {self.text(body)} endexists)"
            case Least() | Greatest() | Total():
                return f"{self._function(node)}(r)"
        raise TypeError(f"the exporter knows no node {type(node).__name__}")

    def _name(self, node: Name) -> str:
        match node.scope:
            case "state":
                return f"ranks[r].{node.name}"
            case "world":
                return f"around[r].{node.name}"
            case "setting":
                return node.name.upper()
            case "event":
                return node.name
        if node.name == "rank":
            return "p"
        if self.reports:
            return f"report_{node.name}(p)"
        return f"{'ranks' if node.name in State._fields else 'around'}[p].{node.name}"

    def _function(self, node: Least | Greatest | Total) -> str:
        key = Both(Truth(self.reports), Compare("==", node, Const(0)))
        if key not in self.functions:
            name = f"aggregate_{len(self.functions) + 1}"
            self.functions[key] = name
            self.texts.append(self._aggregate(name, node))
        return self.functions[key]

    def _aggregate(self, name: str, node: Least | Greatest | Total) -> str:
        where, body = self.text(node.where), self.text(node.body)
        if isinstance(node, Total):
            start, improved = "0", f"found := found + {body};"
        else:
            better = "<" if isinstance(node, Least) else ">"
            start = self.text(node.default)
            improved = (
                f"if !seen | {body} {better} found then found := {body}; endif; seen := true;"
            )
        return (
            f"function {name}(r: rank_type): number;\n"
            "var found: number; seen: boolean;\n"
            f"begin\n  seen := false; found := {start};\n"
            f"  for p: rank_type do if {where} then {improved} endif; endfor;\n"
            "  return found;\nend;\n"
        )


CHOOSING = [
    "function lesser(a: number; b: number): number; begin return a <= b ? a : b; end;",
    "function larger(a: number; b: number): number; begin return a >= b ? a : b; end;",
]


def murphi(
    instance: Instance, *, table: Table = TABLE, properties: Sequence[Property] = PROPERTIES
) -> str:
    """The model of an instance. "sometimes" properties are left out."""
    pen = Pen(settings=instance.settings)
    over = replace(pen, reports=True)
    rules = [_rule(action, pen, over) for action in actions(table)]
    always = [each for each in properties if each.kind == "always"]
    at_rest = [each for each in properties if each.kind == "at rest"]
    invariants = [
        f'invariant "{each.id}" forall r: rank_type do {pen.text(each.formula)} endforall;'
        for each in always
    ]
    resting = pen.text(conjoin(*(each.formula for each in at_rest)))
    return "\n".join(
        [
            f"-- {instance.name}: {instance.scope}",
            *_declarations(instance),
            *CHOOSING,
            *(_report(name, value, pen) for name, value in table.report),
            *pen.texts,
            *_start(instance.starts),
            *rules,
            f'rule "rest" forall r: rank_type do {resting} endforall ==> begin end;',
            *invariants,
            "",
        ]
    )


def _declarations(instance: Instance) -> Iterator[str]:
    tried = {
        choice.high.name
        for choices in CHOICES.values()
        for choice in choices
        if isinstance(choice.high, Name)
    }
    yield f"const WORLD_SIZE: {instance.world_size};"
    for name, value in instance.settings._asdict().items():
        yield f"  {name.upper()}: {int(value)};"
    for phase in Phase:
        yield f"  {phase.name}: {phase.value};"
    yield "type rank_type: 0..WORLD_SIZE - 1;"
    yield f"  number: 0..{LIMIT};"
    yield "  in_window: 0..WINDOW;"
    for kind in (State, Environment, Report):
        fields = " ".join(
            f"{name}: {'in_window' if name in tried else 'number'};" for name in kind._fields
        )
        yield f"  {kind.__name__.lower()}_type: record {fields} end;"
    yield "var ranks: array[rank_type] of state_type;"
    yield "  around: array[rank_type] of environment_type;"
    yield "  vector: array[rank_type] of report_type;"
    yield "  vector_known: boolean;"


def _report(name: str, value: Term, pen: Pen) -> str:
    return (
        f"function report_{name}(r: rank_type): number;\n"
        f"begin return vector_known ? vector[r].{name} : {pen.text(value)}; end;\n"
    )


def _start(starts: Sequence[Sequence[Start]]) -> Iterator[str]:
    ranges = "; ".join(f"start_{rank}: 0..{len(one) - 1}" for rank, one in enumerate(starts))
    yield f'ruleset {ranges} do startstate "start" begin'
    yield "  clear ranks; clear around; clear vector; vector_known := false;"
    for rank, one in enumerate(starts):
        yield f"  switch start_{rank}"
        for index, (state, environment) in enumerate(one):
            yield f"  case {index}:"
            for holder, values in (("ranks", state), ("around", environment)):
                for name, value in values._asdict().items():
                    if value:
                        yield f"    {holder}[{rank}].{name} := {int(value)};"
        yield "  endswitch;"
    yield "end; end;"


def _rule(action: Action, pen: Pen, over: Pen) -> str:
    ranges = ["r: rank_type", *(f"{each.argument}: in_window" for each in action.choices)]
    legal = [
        f"{over.text(each.low)} <= {each.argument} & {each.argument} <= {over.text(each.high)}"
        for each in action.choices
    ]
    phase, *guards = [over.text(each) for each in members(action.guard)] or ["true"]
    guard = " & ".join([phase, *legal, pen.text(action.occasion), *guards])
    new = [
        *(("ranks", name, over.text(value)) for name, value in action.state),
        *(("around", name, over.text(value)) for name, value in action.environment),
    ]
    store = " ".join(f"vector[p].{name} := report_{name}(p);" for name in Report._fields)
    return "\n".join(
        [
            f'ruleset {"; ".join(ranges)} do rule "{action.name}" {guard} ==>',
            *(f"  var new_{name}: number;" for _, name, _ in new),
            "begin",
            *(f"  new_{name} := {text};" for _, name, text in new),
            *([LEAVE.replace("STORE", store)] if action.gathers else []),
            *(f"  {holder}[r].{name} := new_{name};" for holder, name, _ in new),
            "end; end;",
        ]
    )


def members(formula: Formula) -> Iterator[Formula]:
    """The members of a conjunction that are not simply true."""
    return (each for each in conjuncts(formula) if each != TRUE)
