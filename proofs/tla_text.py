"""Expressions of the table as TLA+ text: on one line where it fits, as bulleted lists where not.

Rules kept here:
1. What protocol or spec gives a name is written by that name, and defined once.
2. Names of the acting rank read `ranks[r]` (state) and `around[r]` (environment); an aggregate
   ranges over p, and reads `ranks[p]` and `around[p]`, or `reports[p]`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
)
from dgap.protocol.vocabulary import Phase, Policy, State

from .tla_names import Definition, Over, known_names

WIDTH = 96
INDENT = "  "
SYMBOLS = {"<=": "<=", ">=": ">=", "==": "=", "!=": "#", "<": "<", ">": ">"}
AND, OR = "/\\ ", "\\/ "


def phase_name(value: int) -> str:
    """How a phase is written."""
    return Phase(value).name


def policy_name(value: int) -> str:
    """How a policy is written; a phase is called FILL too."""
    return f"POLICY_{Policy(value).name}"


ENUMERATED: Mapping[str, Callable[[int], str]] = {"phase": phase_name, "policy": policy_name}
"""Fields whose constants are written by name."""


@dataclass(frozen=True, kw_only=True)
class Writer:
    """Writes expressions. `used` collects the definitions that the text needs, as lines, each
    after those that it needs itself."""

    known: Mapping[tuple[Node, Over], Definition]
    over: Over = "ranks"
    peer: str = "p"
    used: dict[str, Sequence[str]] = field(default_factory=dict)

    def reading(self, over: Over) -> Writer:
        """The same writer for expressions whose aggregates range over `over`."""
        return replace(self, over=over)

    def block(self, node: Node, width: int = WIDTH) -> list[str]:
        """The node in lines of at most `width`, if it can be broken so far."""
        if (node, self.over) in self.known:
            return [self.text(node)]
        return self.broken(node, width)

    def members(self, formula: Formula) -> list[Node]:
        """The members of a conjunction; one that has a name, or none, is its only member."""
        whole = (formula, self.over) in self.known
        every = [formula] if whole else self._members(formula, Both)
        return [each for each in every if each != TRUE]

    def bulleted(self, nodes: Sequence[Node], width: int = WIDTH) -> list[str]:
        """A bulleted list of the nodes."""
        return self._bullets(AND, nodes, width)

    def _members(
        self, node: Node, kind: type[Both] | type[Either], top: bool = True
    ) -> Iterator[Node]:
        """The members of a chain of conjunctions or disjunctions; named ones stay whole."""
        if isinstance(node, kind) and (top or (node, self.over) not in self.known):
            yield from self._members(node.left, kind, top=False)
            yield from self._members(node.right, kind, top=False)
        else:
            yield node

    def text(self, node: Node) -> str:
        """The node on one line, in parentheses if it may stand inside another."""
        definition = self.known.get((node, self.over))
        if definition is None:
            return self._plain(node)
        self._define(definition)
        return definition.call(
            [self.peer if name in ("p", "report") else name for name in definition.parameters]
        )

    def _define(self, definition: Definition) -> None:
        if definition.name in self.used:
            return
        peer = "p" if definition.over == "ranks" else "report"
        writer = replace(self, over=definition.over, peer=peer)
        head = f"{definition.call(definition.parameters)} =="
        body = writer.broken(definition.node, WIDTH - len(INDENT))
        short = len(body) == 1 and len(head) + 1 + len(body[0]) <= WIDTH
        lines = [f"{head} {body[0]}"] if short else [head, *(INDENT + line for line in body)]
        self.used[definition.name] = lines

    def broken(self, node: Node, width: int) -> list[str]:
        """As `block`, but a node that has a name is written out."""
        one = bare(self._plain(node))
        if len(one) <= width:
            return [one]
        match node:
            case Either(Not(premise), conclusion):
                then = self.hanging("=> ", conclusion, width)
                return [*self.block(premise, width), *then]
            case Both():
                return self._bullets(AND, self._members(node, Both), width)
            case Either():
                return self._bullets(OR, self._members(node, Either), width)
            case Every(body) | Some(body):
                quantifier = "\\A" if isinstance(node, Every) else "\\E"
                inner = self._ranged().block(body, width - len(INDENT))
                return [f"{quantifier} p \\in Ranks :", *(INDENT + line for line in inner)]
            case Choose(condition, then_, otherwise):
                pieces = (("IF ", condition), ("THEN ", then_), ("ELSE ", otherwise))
                return [line for word, part in pieces for line in self.hanging(word, part, width)]
        return [one]

    def _bullets(self, bullet: str, nodes: Iterable[Node], width: int) -> list[str]:
        return [line for node in nodes for line in self.hanging(bullet, node, width)]

    def hanging(self, head: str, node: Node, width: int) -> list[str]:
        """The node after a head, its later lines as far to the right."""
        first, *rest = self.block(node, width - len(head))
        return [head + first, *(" " * len(head) + line for line in rest)]

    def _ranged(self) -> Writer:
        return replace(self, peer="p" if self.over == "ranks" else "reports[p]")

    def _plain(self, node: Node) -> str:
        match node:
            case Const(value):
                return str(int(value))
            case Truth(value):
                return str(value).upper()
            case Name():
                return self._name(node)
            case Compare(operator, Name(_, name) as left, Const(value)) if name in ENUMERATED:
                return f"{self._name(left)} {SYMBOLS[operator]} {ENUMERATED[name](value)}"
            case Compare(operator, left, right):
                return f"{bare(self.text(left))} {SYMBOLS[operator]} {bare(self.text(right))}"
            case Arithmetic(operator, left, right):
                return f"({self._addend(left, operator)} {operator} {self.text(right)})"
            case Choose(Compare("<=" | ">=" as operator, a, b), then, other) if (a, b) == (
                then,
                other,
            ):
                word = "Lesser" if operator == "<=" else "Larger"
                return f"{word}({bare(self.text(a))}, {bare(self.text(b))})"
            case Choose(condition, then, other):
                words = [bare(self.text(part)) for part in (condition, then, other)]
                return "(IF {} THEN {} ELSE {})".format(*words)
            case Least() | Greatest() | Total():
                return self._aggregate(node)
        return self._formula(node)

    def _addend(self, left: Term, operator: str) -> str:
        """A sum of sums needs no parentheses on its left."""
        text = self.text(left)
        return text if operator == "*" or isinstance(left, Choose) else bare(text)

    def _formula(self, node: Node) -> str:
        match node:
            case Either(Not(premise), conclusion):
                return f"({self.text(premise)} => {self.text(conclusion)})"
            case Both():
                return "(" + f" {AND}".join(map(self.text, self._members(node, Both))) + ")"
            case Either():
                return "(" + f" {OR}".join(map(self.text, self._members(node, Either))) + ")"
            case Not(body):
                named = (body, self.over) in self.known
                return f"~{self.text(body)}" if named else f"~({bare(self.text(body))})"
            case Every(body):
                return f"(\\A p \\in Ranks : {bare(self._ranged().text(body))})"
            case Some(body):
                return f"(\\E p \\in Ranks : {bare(self._ranged().text(body))})"
        raise TypeError(f"the exporter knows no node {type(node).__name__}")

    def _aggregate(self, node: Least | Greatest | Total) -> str:
        ranged = self._ranged()
        where, body = bare(ranged.text(node.where)), bare(ranged.text(node.body))
        chosen = "Ranks" if node.where == TRUE else f"{{p \\in Ranks : {where}}}"
        if isinstance(node, Total):
            return f"Total([p \\in Ranks |-> {body}], {chosen})"
        values = f"{{{body} : p \\in {chosen}}}"
        return f"{type(node).__name__}({values}, {bare(self.text(node.default))})"

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
        if self.over == "reports":
            return f"{self.peer}.{node.name}"
        holder = "ranks" if node.name in State._fields else "around"
        return f"{holder}[{self.peer}].{node.name}"


def writer(taken: frozenset[str]) -> Writer:
    """A writer that gives no definition a name in `taken`."""
    return Writer(known=known_names(taken))


def bare(text: str) -> str:
    """The text without parentheses around all of it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for index, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and index < len(text) - 1:
            return text
    return text[1:-1]


def filled(head: str, pieces: Sequence[Sequence[str]], between: str, end: str = "") -> list[str]:
    """The pieces one after another, in lines of at most WIDTH as far to the right as the first.
    A piece of several lines stands by itself."""
    room = WIDTH - len(head) - len(end)
    lines: list[str] = []
    for first, *rest in pieces:
        if not lines:
            lines = [first, *rest]
        elif not rest and len(lines[-1]) + len(between) + len(first) <= room:
            lines[-1] += between + first
        else:
            lines[-1] += between.rstrip()
            lines += [first, *rest]
    lines[-1] += end
    return [head + lines[0], *(" " * len(head) + line for line in lines[1:])]


def filled_with(head: str, pieces: Sequence[str], between: str, end: str = "") -> list[str]:
    """As `filled`, for pieces of one line each."""
    return filled(head, [[piece] for piece in pieces], between, end)
