"""The text of the compiled step function as Z3 terms: Python, read by its syntax tree.

Rules kept here:
1. Only the few forms that the machine's compiler writes are read; anything else raises TypeError.
2. Nothing is taken from the table: what is read is the text that production executes.
3. An aggregate over `event_reports` is unrolled over the given rows, in Python's own order.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .solver import OPERATORS, Z3, choose, every, negation, number, some, truth

_SYMBOLS: Mapping[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_EACH = "for rank, report in enumerate(event_reports)"


@dataclass(frozen=True, kw_only=True)
class Branch:
    """One `if` of a step function: its condition, the next state, the effects by name."""

    guard: Z3
    state: tuple[Z3, ...]
    effects: tuple[tuple[str, Z3], ...]


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """What a step function is called with: the fields of state and event, the gathered reports."""

    state: Sequence[Z3]
    event: Sequence[Z3]
    """All fields but the last, which is the reports."""
    reports: Sequence[Sequence[Z3]] = ()


@dataclass(frozen=True, kw_only=True)
class _Scope:
    names: Mapping[str, Z3]
    reports: Sequence[Sequence[Z3]]
    report: Sequence[Z3] = ()


class StepSource:
    """The source of a compiled table. Raises TypeError for a form that is not understood."""

    def __init__(self, source: str) -> None:
        module = ast.parse(source)
        self._functions = {
            node.name: node for node in module.body if isinstance(node, ast.FunctionDef)
        }
        self.rows = _rows(module.body[-1])
        """Which function answers which (phase, event)."""

    def branches(self, name: str, inputs: Inputs) -> tuple[Branch, ...]:
        """What a step function returns, branch by branch; None where no condition holds."""
        function = self._function(name, ["state", "event"])
        body = list(function.body)
        names = _unpacked(body.pop(0), "state", inputs.state)
        names |= _unpacked(body.pop(0), "event", (*inputs.event, number(0)))
        last = body.pop()
        if not (isinstance(last, ast.Return) and ast.unparse(last) == "return None"):
            raise _strange(last)
        scope = _Scope(names=names, reports=inputs.reports)
        return tuple(_branch(node, scope) for node in body)

    def report(self, state: Sequence[Z3]) -> tuple[Z3, ...]:
        """What the function `report` returns."""
        function = self._function("report", ["state"])
        unpack, result = function.body
        scope = _Scope(names=_unpacked(unpack, "state", state), reports=())
        if not (isinstance(result, ast.Return) and isinstance(result.value, ast.Call)):
            raise _strange(result)
        if ast.unparse(result.value.func) != "Report" or result.value.keywords:
            raise _strange(result)
        return tuple(_value(part, scope) for part in result.value.args)

    def _function(self, name: str, parameters: list[str]) -> ast.FunctionDef:
        function = self._functions[name]
        if [each.arg for each in function.args.args] != parameters:
            raise _strange(function)
        return function


def _rows(node: ast.stmt) -> dict[tuple[int, int], str]:
    if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)):
        raise _strange(node)
    if [ast.unparse(target) for target in node.targets] != ["ROWS"]:
        raise _strange(node)
    pairs = zip(node.value.keys, node.value.values, strict=True)
    return {ast.literal_eval(key): ast.unparse(value) for key, value in pairs if key is not None}


def _unpacked(node: ast.stmt, whole: str, values: Sequence[Z3]) -> dict[str, Z3]:
    """`a, b, ... = whole`, with the values for a, b, ..."""
    if not (isinstance(node, ast.Assign) and ast.unparse(node.value) == whole):
        raise _strange(node)
    (target,) = node.targets
    if not isinstance(target, ast.Tuple):
        raise _strange(node)
    return dict(zip((ast.unparse(name) for name in target.elts), values, strict=True))


def _branch(node: ast.stmt, scope: _Scope) -> Branch:
    if not (isinstance(node, ast.If) and len(node.body) == 1 and not node.orelse):
        raise _strange(node)
    result = node.body[0]
    if not (isinstance(result, ast.Return) and isinstance(result.value, ast.Tuple)):
        raise _strange(result)
    state, effects = result.value.elts
    if not isinstance(effects, ast.Tuple):
        raise _strange(effects)
    return Branch(
        guard=_value(node.test, scope),
        state=tuple(_value(part, scope) for part in _made(state, "State")),
        effects=tuple(_effect(effect, scope) for effect in effects.elts),
    )


def _effect(node: ast.expr, scope: _Scope) -> tuple[str, Z3]:
    kind, argument = _made(node, "Effect")
    return ast.unparse(kind), _value(argument, scope)


def _made(node: ast.expr, what: str) -> list[ast.expr]:
    """The parts of `make(what, (...))`."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "make" and len(node.args) == 2:
        name, parts = node.args
        if ast.unparse(name) == what and isinstance(parts, ast.Tuple):
            return parts.elts
    raise _strange(node)


def _value(node: ast.expr, scope: _Scope) -> Z3:
    match node:
        case ast.Constant(bool(value)):
            return truth(value)
        case ast.Constant(int(value)):
            return number(value)
        case ast.UnaryOp(ast.USub(), ast.Constant(int(value))):
            return number(-value)
        case ast.Name(name):
            return scope.names[name]
        case ast.Subscript(ast.Name("report"), ast.Constant(int(index))):
            return scope.report[index]
        case ast.BinOp(left, operator, right) | ast.Compare(left, [operator], [right]):
            return OPERATORS[_SYMBOLS[type(operator)]](_value(left, scope), _value(right, scope))
        case ast.IfExp(test, body, orelse):
            return choose(*(_value(part, scope) for part in (test, body, orelse)))
        case ast.BoolOp(operator, parts):
            values = [_value(part, scope) for part in parts]
            return every(values) if isinstance(operator, ast.And) else some(values)
        case ast.UnaryOp(ast.Not(), body):
            return negation(_value(body, scope))
        case ast.Call(ast.Name(name), [ast.GeneratorExp() as each], keywords):
            return _aggregate(name, each, keywords, scope)
    raise _strange(node)


def _aggregate(name: str, each: ast.GeneratorExp, keywords: list[ast.keyword], scope: _Scope) -> Z3:
    found = _elements(each, scope)
    if name in ("any", "all") and not keywords:
        conditions = [element for _, element in found]
        return some(conditions) if name == "any" else every(conditions)
    if name == "sum" and not keywords:
        total = number(0)
        for where, element in found:
            total = total + choose(where, element, number(0))
        return total
    if name in ("min", "max") and [keyword.arg for keyword in keywords] == ["default"]:
        better = OPERATORS["<" if name == "min" else ">"]
        return _extreme(found, better, _value(keywords[0].value, scope))
    raise _strange(each)


def _elements(each: ast.GeneratorExp, scope: _Scope) -> list[tuple[Z3, Z3]]:
    """(condition, element) for each report, in order."""
    (loop,) = each.generators
    if f"for {ast.unparse(loop.target).strip('()')} in {ast.unparse(loop.iter)}" != _EACH:
        raise _strange(each)
    found = []
    for index, report in enumerate(scope.reports):
        names = {**scope.names, "rank": number(index)}
        inner = _Scope(names=names, reports=(), report=report)
        where = every(_value(test, inner) for test in loop.ifs)
        found.append((where, _value(each.elt, inner)))
    return found


def _extreme(found: Sequence[tuple[Z3, Z3]], better: Callable[[Z3, Z3], Z3], default: Z3) -> Z3:
    """As Python's min and max: the first of the best elements, the default if there is none."""
    best, seen = default, truth(False)
    for where, element in found:
        best = choose(every((where, some((negation(seen), better(element, best))))), element, best)
        seen = some((seen, where))
    return best


def _strange(node: ast.AST) -> TypeError:
    return TypeError(f"the compiler of the machine writes no such thing: {ast.unparse(node)[:80]}")
