"""A schedule as a sequence diagram in text: a column per rank and per training loop.

Rules kept here:
1. One line per move, in the column of who moves; time runs downwards.
2. What a rank says in a gather stands beside what it holds, since that is where runs go wrong.
3. The violated part of the property comes last, with the values that break it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dgap.protocol.diagram import infix
from dgap.protocol.expr import Both, Either, Formula, Name, Node, Not, walk
from dgap.protocol.vocabulary import Phase
from dgap.spec.oracle_expr import Reading, holds
from dgap.spec.properties import PROPERTIES

from .schedule import Move, Schedule, report_of, worlds_of
from .world import Node as WorldNode
from .world import World

LOOP = ("take", "train", "finish", "leave", "train_breaks")
GAP = "  "

_LOOP_TEXTS = {
    "train": "step done",
    "finish": "sees the end",
    "leave": "leaves early",
    "train_breaks": "step broke",
}


def draw(schedule: Schedule) -> tuple[str, ...]:
    """The diagram: where each rank starts, its moves, and what is violated."""
    size = len(schedule.surroundings)
    heads = [text for rank in range(size) for text in (f"rank {rank}", f"loop {rank}")]
    starts = [text for each in schedule.surroundings for text in (_start(each), "")]
    lines = [heads, starts, *(_cells(move, size) for move in schedule.moves)]
    widths = [max(len(line[column]) for line in lines) for column in range(2 * size)]
    rule = ["-" * width for width in widths]
    drawn = (
        GAP.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in (lines[0], rule, *lines[1:])
    )
    return (*drawn, *violated(schedule))


def _start(surroundings: Mapping[str, int]) -> str:
    share = f", share {surroundings['share']}" if surroundings["share"] else ""
    return counted(surroundings["source"], "sample") + share


def _cells(move: Move, size: int) -> list[str]:
    cells = [""] * (2 * size)
    cells[2 * move.rank + (move.name in LOOP)] = text_of(move)
    return cells


def text_of(move: Move) -> str:
    """A move in a few words."""
    if not move.event:
        if move.name == "take":
            hand = move.changes.get("hand", 0)
            return f"takes {counted(hand, 'sample')}" if hand else "takes an idle batch"
        return "DIES" if move.name == "crash" else _LOOP_TEXTS[move.name]
    return _protocol_text(move)


def _protocol_text(move: Move) -> str:
    changes, arguments = move.changes, move.arguments
    match move.event:
        case "READ":
            return f"reads, holds {changes['held']}"
        case "EXHAUST":
            return "source has ended"
        case "OFFER":
            report = report_of(move)
            shown = (f"{name}={value}" for name, value in report._asdict().items() if value)
            said = " ".join(shown) or "nothing"
            held = changes.get("offered", report.offered)
            return f"says {said}" + ("" if held == report.offered else f" but holds {held}")
        case "GATHERED":
            steps = f" T={changes['owed_steps']}" if move.row == "verdict_step" else ""
            verdict = move.row.removeprefix("verdict_").upper()
            return f"hears {verdict}{steps}"
        case "SUMMED":
            groups = changes.get("owed_groups", 0)
            placed = counted(arguments.get("assigned", 0), "sample")
            return f"puts {placed} into {counted(groups, 'group')}"
        case "DELIVER":
            return f"queues {counted(arguments['samples'], 'sample')}"
        case "IDLE":
            return "ends the iterator" if move.row == "end" else "queues an idle batch"
        case "TURN" if move.row == "turn":
            return "round is over"
        case "FAIL":
            return "USER CODE FAILS"
        case "BREAK":
            return "collective broke"
    return move.row


def counted(count: int, what: str) -> str:
    """ "1 sample", "2 samples"."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def violated(schedule: Schedule) -> Iterator[str]:
    """What the last world of the schedule breaks; nothing for a sound run."""
    known = {each.id: each for each in PROPERTIES}
    if schedule.broken not in known:
        return
    broken = known[schedule.broken]
    yield ""
    yield f"violated: {broken.id}: {broken.statement}"
    if broken.kind == "at rest":
        yield "  nobody can move any more, and"
    world, nodes = worlds_of(schedule)
    for rank in range(world.world_size):
        reading = reading_at(world, nodes[-1], rank)
        part = failing(broken.formula, reading)
        if part is not None:
            yield f"  at rank {rank} this is false: {infix(part)}"
            yield f"  since {values_in(part, reading)}"


def reading_at(world: World, node: WorldNode, rank: int) -> Reading:
    """What the names of a property mean at one rank of a world."""
    ranks = [world.ranks[number] for number in node[:-1]]
    state, environment = ranks[rank]
    return Reading(
        own={
            "state": state._asdict(),
            "world": environment._asdict(),
            "setting": world.settings._asdict(),
        },
        ranks=[{**state._asdict(), **environment._asdict()} for state, environment in ranks],
    )


def failing(formula: Formula, reading: Reading) -> Formula | None:
    """The smallest part of a conjunction, also behind a premise, that does not hold."""
    if holds(formula, reading):
        return None
    match formula:
        case Both(left, right):
            return failing(left, reading) or failing(right, reading)
        case Either(Not(premise), conclusion) if holds(premise, reading):
            return failing(conclusion, reading)
    return formula


def values_in(node: Node, reading: Reading) -> str:
    """The values of the rank's own names in a formula."""
    names = {part for part in walk(node) if isinstance(part, Name) and part.scope != "report"}
    shown = []
    for name in sorted(names, key=lambda name: name.name):
        value = reading.own[name.scope][name.name]
        is_phase = (name.scope, name.name) == ("state", "phase")
        shown.append(f"{name.name} is {Phase(value).name if is_phase else value}")
    return ", ".join(shown) or "the ranks differ"
