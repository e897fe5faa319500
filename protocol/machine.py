"""The interpreter: the table, compiled once into a function, and looked up row by row.

Rules kept here:
1. `step` is the only way a state changes. It is pure: values in, values out.
2. Nothing of the protocol is decided here; guards, updates and effects are the table's.
3. An event without a row raises `IllegalTransition`, and nothing has happened.

The compiled source is kept in `Machine.source`, so that a reader or a model checker sees the
very text that production calls.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

from .errors import IllegalTransition
from .expr import (
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
from .table import TABLE
from .transition import Row, Table
from .vocabulary import (
    Effect,
    EffectKind,
    Event,
    EventKind,
    Figures,
    Phase,
    Report,
    Settings,
    State,
)

Transition = tuple[State, tuple[Effect, ...]]
Compiled = Callable[[State, Event], Transition | None]


class Machine:
    """One table under one choice of the shared settings.

    `step` costs a few microseconds: it unpacks the state, tests the guards of the rows for its
    phase and event in table order, and builds the next state.
    """

    def __init__(self, settings: Settings, table: Table = TABLE) -> None:
        """Compile the table. Raises ValueError for settings that no rank may run with."""
        check_settings(settings)
        self.settings = settings
        self.table = table
        self.source = compile_source(table, settings)
        namespace: dict[str, object] = {
            "State": State,
            "Effect": Effect,
            "Report": Report,
            "make": tuple.__new__,
        }
        namespace.update({kind.name: kind for kind in EffectKind})
        exec(compile(self.source, "<transition table>", "exec"), namespace)  # the compiled table
        self._rows: dict[tuple[int, int], Compiled] = namespace["ROWS"]  # type: ignore[assignment]
        self._report: Callable[[State], Report] = namespace["report"]  # type: ignore[assignment]

    def step(self, state: State, event: Event) -> Transition:
        """The next state and what the engine has to do. Raises IllegalTransition."""
        result = self.attempt(state, event)
        if result is None:
            raise IllegalTransition(
                f"no row for event {event.kind.name} in phase {Phase(state.phase).name}; "
                f"state {state}, event {event}"
            )
        return result

    def attempt(self, state: State, event: Event) -> Transition | None:
        """As `step`, but None where the table has no row."""
        rows = self._rows.get((state.phase, event.kind))
        return None if rows is None else rows(state, event)

    def permits(self, state: State, event: Event) -> bool:
        """Whether the table has a row for the event in this state."""
        return self.attempt(state, event) is not None

    def report(self, state: State) -> Report:
        """What this rank says when it enters the gather (phase OFFER)."""
        return self._report(state)


def check_settings(settings: Settings) -> None:
    """Raise ValueError unless 1 <= accumulation <= window and the flags are flags."""
    if not 1 <= settings.accumulation <= settings.window:
        raise ValueError(f"1 <= accumulation <= window does not hold: {settings}")
    if settings.quota not in (0, 1) or settings.tail_stop not in (0, 1):
        raise ValueError(f"quota and tail_stop are 0 or 1: {settings}")


def initial_state(settings: Settings, *, first_window: int = 0, quota_share: int = 0) -> State:
    """A rank before its first sample.

    `first_window` is the size of the first window (0: the full window); later windows double
    up to `settings.window`. `quota_share` is what this rank delivers in quota mode.
    Raises ValueError if the first window holds no whole accumulation unit.
    """
    check_settings(settings)
    target = first_window or settings.window
    if not settings.accumulation <= target <= settings.window:
        raise ValueError(
            f"first_window {target} is not between accumulation {settings.accumulation} "
            f"and window {settings.window}"
        )
    if quota_share < 0 or (quota_share and not settings.quota):
        raise ValueError(f"quota_share {quota_share} needs quota mode and must not be negative")
    return State(target=target, remaining=quota_share)


def compile_source(table: Table, settings: Settings) -> str:
    """Python source with one function per (phase, event), the dict ROWS, and `report`."""
    lines: list[str] = []
    names: list[str] = []

    def place(row: Row) -> tuple[int, int]:
        return (row.phase, row.event)

    for (phase, event), rows in groupby(sorted(table.rows, key=place), key=place):
        name = f"{Phase(phase).name.lower()}_{EventKind(event).name.lower()}"
        names.append(f"({phase}, {event}): {name}")
        lines += [f"def {name}(state, event):", f"    {unpack_state()}"]
        lines.append(f"    {', '.join(f'event_{n}' for n in Event._fields)} = event")
        for row in rows:
            lines += _row_source(row, settings)
        lines += ["    return None", ""]
    report = ", ".join(python(value, settings) for _, value in table.report)
    lines += ["def report(state):", f"    {unpack_state()}", f"    return Report({report})", ""]
    lines.append(f"ROWS = {{{', '.join(names)}}}")
    return "\n".join(lines) + "\n"


def compile_figures(node: Term) -> Callable[[Figures], int]:
    """An expression over the figures of a group as a function of them."""
    parameters = ", ".join(f"group_{name}" for name in Figures._fields)
    lines = ["def value(figures):", f"    {parameters} = figures"]
    lines.append(f"    return {python(node, Settings())}")
    namespace: dict[str, Callable[[Figures], int]] = {}
    exec(compile("\n".join(lines) + "\n", "<figures>", "exec"), namespace)
    return namespace["value"]


def unpack_state() -> str:
    """The statement that gives each field of the state a local name."""
    return f"{', '.join(f'state_{name}' for name in State._fields)} = state"


def _row_source(row: Row, settings: Settings) -> list[str]:
    updates = dict(row.updates)
    values = [
        str(int(row.target))
        if name == "phase"
        else python(updates[name], settings)
        if name in updates
        else f"state_{name}"
        for name in State._fields
    ]
    asks = [f"make(Effect, ({a.kind.name}, {python(a.argument, settings)}))" for a in row.asks]
    return [
        f"    if {python(row.guard, settings)}:  # {row.name}",
        f"        return make(State, ({', '.join(values)})), ({''.join(a + ', ' for a in asks)})",
    ]


def python(node: Node, settings: Settings) -> str:
    """A node as a Python expression over the locals `state_*`, `event_*` and `event_reports`."""

    def each(body: Node, where: Formula | None = None) -> str:
        condition = "" if where is None else f" if {python(where, settings)}"
        return f"{python(body, settings)} for rank, report in enumerate(event_reports){condition}"

    match node:
        case Const(value) | Truth(value):
            return str(int(value)) if isinstance(node, Const) else str(value)
        case Name("setting", name):
            return str(int(getattr(settings, name)))
        case Name("report", "rank"):
            return "rank"
        case Name("report", name):
            return f"report[{Report._fields.index(name)}]"
        case Name(scope, name):
            return f"{scope}_{name}"
        case Arithmetic(operator, left, right) | Compare(operator, left, right):
            return f"({python(left, settings)} {operator} {python(right, settings)})"
        case Choose(condition, then, otherwise):
            pieces = (python(part, settings) for part in (then, condition, otherwise))
            return "({} if {} else {})".format(*pieces)
        case Least(body, where, default):
            return f"min(({each(body, where)}), default={python(default, settings)})"
        case Greatest(body, where, default):
            return f"max(({each(body, where)}), default={python(default, settings)})"
        case Total(body, where):
            return f"sum({each(body, where)})"
        case Both(left, right):
            return f"({python(left, settings)} and {python(right, settings)})"
        case Either(left, right):
            return f"({python(left, settings)} or {python(right, settings)})"
        case Not(body):
            return f"(not {python(body, settings)})"
        case Every(body):
            return f"all({each(body)})"
        case Some(body):
            return f"any({each(body)})"
    raise TypeError(f"the compiler knows no node {type(node).__name__}")
