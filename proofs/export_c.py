"""The table under its environment as C: the part of a compiled explorer that knows the protocol.

Rules kept here:
1. Guards, updates, properties, the map of R1 and PROGRESS are those of table and specification;
   the search itself (search.c) knows only records, moves and masks.
2. An update reads the old record and writes the new one; a count that does not fit is marked.
3. Settings are variables of the program, so that one compilation serves every instance.

A record is a rank: the fields of its state, then those of its environment, one small integer
each. An aggregate becomes a function over `ranks`, which are records, or in a gather reports.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from dgap.protocol.expr import (
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
    Total,
    Truth,
    conjoin,
    conjuncts,
    has_aggregate,
)
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Table
from dgap.protocol.vocabulary import Phase, Report, Settings
from dgap.spec.abstract import CHANGE, GOAL, PERMITS, RECEIVED, STATUS, STEPS
from dgap.spec.progress import PROGRESS
from dgap.spec.properties import PROPERTIES, Property
from dgap.spec.witnesses import WITNESSES

from .export import Action, actions
from .unfold import RANK_FIELDS, fields_read
from .world import EAGER

REFINEMENT_INDEX = len(PROPERTIES)
"""R1's place in a mask of broken properties, after those of `PROPERTIES`."""

WORLD = "const cell *const *ranks, int size, const cell *r"
"""What is known at a rank: all ranks (or reports), how many they are, and the rank itself."""


@dataclass(frozen=True, kw_only=True)
class Pen:
    """Writes expressions. `prefix` says of what an aggregate's fields are: F of ranks, R of
    reports, C of the changes that R1 looks at. `functions` keeps the name of each aggregate."""

    prefix: str = "F"
    functions: dict[tuple[str, Node], str] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)

    def text(self, node: Node) -> str:
        """The node, in parentheses where it needs them."""
        match node:
            case Const(value) | Truth(value):
                return str(int(value))
            case Name():
                return self._name(node)
            case Arithmetic(operator, left, right) | Compare(operator, left, right):
                return f"({self.text(left)} {operator} {self.text(right)})"
            case Choose(condition, then, other):
                words = [self.text(part) for part in (condition, then, other)]
                return "({} ? {} : {})".format(*words)
            case Both(left, right):
                return f"({self.text(left)} && {self.text(right)})"
            case Either(left, right):
                return f"({self.text(left)} || {self.text(right)})"
            case Not(body):
                return f"!({self.text(body)})"
            case Every() | Some() | Least() | Greatest() | Total():
                return f"{self._function(node)}(ranks, size, r)"
        raise TypeError(f"the exporter knows no node {type(node).__name__}")

    def _name(self, node: Name) -> str:
        match node.scope:
            case "state":
                return f"r[F_{node.name}]"
            case "world":
                return f"r[{'C' if self.prefix == 'C' else 'F'}_{node.name}]"
            case "setting":
                return f"settings[S_{node.name}]"
            case "event":
                return f"event_{node.name}"
        return "rank" if node.name == "rank" else f"p[{self.prefix}_{node.name}]"

    def _function(self, node: Node) -> str:
        key = (self.prefix, node)
        if key not in self.functions:
            text = self._aggregate(node)
            name = self.functions[key] = f"aggregate_{len(self.functions) + 1}"
            self.texts.append(f"static number {name}({WORLD}) {{\n  (void)r;\n{text}}}\n")
        return self.functions[key]

    def _aggregate(self, node: Node) -> str:
        loop = "  for (int rank = 0; rank < size; rank++) {\n    const cell *p = ranks[rank];\n"
        loop += "    (void)p;\n"
        match node:
            case Every(body):
                return f"{loop}    if (!{self.text(body)}) return 0;\n  }}\n  return 1;\n"
            case Some(body):
                return f"{loop}    if ({self.text(body)}) return 1;\n  }}\n  return 0;\n"
            case Total(body, where):
                change, default = f"found += {self.text(body)};", Const(0)
            case Least(body, where, default) | Greatest(body, where, default):
                better = "<" if isinstance(node, Least) else ">"
                value = self.text(body)
                change = f"if (!seen || {value} {better} found) found = {value};"
            case _:
                raise TypeError(f"no aggregate: {type(node).__name__}")
        return (
            f"  number found = 0;\n  int seen = 0;\n{loop}"
            f"    if ({self.text(where)}) {{ {change} seen = 1; }}\n"
            f"  }}\n  return seen ? found : {self.text(default)};\n"
        )


def model(table: Table = TABLE) -> str:
    """The header that search.c includes."""
    pen = Pen()
    moves = actions(table)
    bodies = [
        *_actions(moves, pen),
        *_masks(pen),
        *_refinement(pen),
        *_report(table, pen),
        _function("number", "progress", "const cell *r", pen.text(PROGRESS)),
        _function("int", "eager", "const cell *r", pen.text(EAGER)),
    ]
    return "\n".join([*_declarations(), *pen.texts, *bodies, ""])


def _declarations() -> Iterator[str]:
    yield "/* Written by export_c.py from the table and the specification. */"
    for prefix, names in (
        ("F", RANK_FIELDS),
        ("R", Report._fields),
        ("C", CHANGE),
        ("S", Settings._fields),
    ):
        words = ", ".join(f"{prefix}_{name}" for name in names)
        yield f"enum {{ {words}, {prefix}_COUNT }};"
    yield f"enum {{ {', '.join(f'{phase.name} = {phase.value}' for phase in Phase)} }};"
    yield f"enum {{ R1 = {REFINEMENT_INDEX}, PROPERTY_COUNT }};"
    # A multiple of eight bytes, so that records are compared and hashed by words.
    yield f"enum {{ RECORD = {-(-len(RANK_FIELDS) // 8) * 8} }};"
    yield "static number settings[S_COUNT];"


def _function(kind: str, name: str, parameters: str, value: str) -> str:
    silent = "(void)ranks; (void)size; " if "ranks" in parameters else ""
    return f"static {kind} {name}({parameters}) {{ {silent}(void)r; return {value}; }}"


def _actions(moves: Sequence[Action], pen: Pen) -> Iterator[str]:
    entries = []
    joints: dict[Formula, str] = {}
    for index, action in enumerate(moves):
        parts = list(conjuncts(action.occasion))
        alone = conjoin(*(part for part in parts if not has_aggregate(part)))
        joint = conjoin(*(part for part in parts if has_aggregate(part)))
        yield f"/* {action.name} */"
        yield _function("int", f"alone_{index}", "const cell *r", pen.text(alone))
        if has_aggregate(joint) and joint not in joints:
            joints[joint] = f"joint_{index}"
            yield _function("int", joints[joint], WORLD, pen.text(joint))
        yield _moves(index, action, pen)
        phase = -1 if action.row is None else int(action.row.phase)
        words = [f"{phase}, {int(action.gathers)}, alone_{index}"]
        words += [joints.get(joint, "NULL"), f"moves_{index}"]
        entries.append(f"  {{ {', '.join(words)} }}, /* {action.name} */")
    yield "static const struct action actions[] = {"
    yield from entries
    yield "};"


def _moves(index: int, action: Action, pen: Pen) -> str:
    over = replace(pen, prefix="R") if action.gathers else pen
    reads: list[Node] = [action.guard, *(value for _, value in action.state)]
    if not action.gathers and any(map(has_aggregate, reads)):
        raise ValueError(f"{action.name}: outside a gather no guard ranges over reports")
    loops = [
        f"  for (number {word} = {pen.text(each.low)}; {word} <= {pen.text(each.high)}; {word}++)\n"
        for each in action.choices
        for word in [f"event_{each.argument}"]
    ]
    writes = [
        f"    n[F_{name}] = fit({over.text(value)});\n"
        for name, value in (*action.state, *action.environment)
    ]
    return (
        f"static void moves_{index}({WORLD}) {{\n  (void)ranks; (void)size;\n{''.join(loops)}"
        f"  if ({over.text(action.guard)}) {{\n"
        f"    cell n[RECORD];\n    memcpy(n, r, RECORD);\n{''.join(writes)}    moved(n);\n  }}\n}}"
    )


def _masks(pen: Pen) -> Iterator[str]:
    """Which properties are broken, and which witnesses shown, as bits."""
    always = [(at, each) for at, each in enumerate(PROPERTIES) if each.kind == "always"]
    resting = [(at, each) for at, each in enumerate(PROPERTIES) if each.kind == "at rest"]
    alone = [pair for pair in always if not has_aggregate(pair[1].formula)]
    joint = [pair for pair in always if has_aggregate(pair[1].formula)]
    seen = list(enumerate(WITNESSES))
    yield _mask("broken_alone", "const cell *r", alone, pen, broken=True)
    yield _mask("broken_jointly", WORLD, joint, pen, broken=True)
    yield _mask("broken_at_rest", WORLD, resting, pen, broken=True)
    yield _mask("shown", f"{WORLD}, mask wanted", seen, pen, broken=False)
    yield _view("joint_view", [each.formula for _, each in joint])


def _mask(
    name: str, parameters: str, chosen: Sequence[tuple[int, Property]], pen: Pen, *, broken: bool
) -> str:
    lines = []
    for at, each in chosen:
        text = pen.text(each.formula)
        wanted = "" if broken else f"wanted >> {at} & 1 && "
        lines.append(
            f"  if ({wanted}{'!' if broken else ''}({text})) found |= (mask)1 << {at};"
            f" /* {each.id} */\n"
        )
    silent = "  (void)ranks; (void)size;\n" if "ranks" in parameters else ""
    body = f"{silent}  (void)r;\n  mask found = 0;\n{''.join(lines)}  return found;\n"
    return f"static mask {name}({parameters}) {{\n{body}}}"


def _view(name: str, nodes: Sequence[Node]) -> str:
    """The fields that the nodes read: a move that leaves them alone leaves the values alone."""
    fields = fields_read(nodes)
    words = ", ".join(f"F_{field}" for field in fields)
    count = f"enum {{ {name.upper()}_COUNT = {len(fields)} }};"
    return f"{count}\nstatic const int {name}[] = {{ {words} }};"


def _refinement(pen: Pen) -> Iterator[str]:
    """What R1 sees of a rank, and which changes of it are permitted."""
    image = {"steps": STEPS, "status": STATUS, "received": RECEIVED, "goal": GOAL}
    names = [*(name.removesuffix("_before") for name in CHANGE if "_after" not in name)]
    looks = [f"  image[{at}] = fit({pen.text(image[name])});" for at, name in enumerate(names)]
    writes = [
        f"  change[C_{name}] = {'after' if name.endswith('_after') else 'before'}"
        f"[{names.index(name.rpartition('_')[0] or name)}];"
        for name in CHANGE
    ]
    yield f"enum {{ IMAGE = {len(names)} }};"
    yield "\n".join([f"static void image_of({WORLD}, cell *image) {{", *looks, "}"])
    change = "static void change_of(const cell *before, const cell *after, cell *change) {"
    yield "\n".join([change, *writes, "}"])
    yield _function("int", "permits", WORLD, replace(pen, prefix="C").text(PERMITS))
    yield _view("image_view", tuple(image.values()))


def _report(table: Table, pen: Pen) -> Iterator[str]:
    writes = "".join(
        f"  report[R_{name}] = fit({pen.text(value)});\n" for name, value in table.report
    )
    yield f"static void report_of(const cell *r, cell *report) {{\n{writes}}}"
