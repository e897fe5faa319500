"""Turns formulas of the specification into Python functions over the ranks of one world.

Rules kept here:
1. Aggregates are unfolded for a fixed number of ranks *in the language*; the text then comes from
   the compiler of the machine, so that there is one translation into Python.
2. A rank is one flat tuple here: the fields of its state, then those of its environment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dgap.protocol.expr import (
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
    conjoin,
    rebuild,
    walk,
)
from dgap.protocol.machine import python
from dgap.protocol.vocabulary import Settings, State
from dgap.spec.environment import Environment

RANK_FIELDS = (*State._fields, *Environment._fields)
POSITION = {name: index for index, name in enumerate(RANK_FIELDS)}

if len(POSITION) != len(RANK_FIELDS):
    raise ValueError("a name means a field of the state and one of the environment")


def unfold(node: Node, *, own: int, world_size: int, ranged: int | None = None) -> Node:
    """The same value without aggregates: names become `field_rank` in the scope `world`.

    Least and Greatest grow as 2**world_size; worlds have a handful of ranks.
    """

    def at(rank: int, body: Node) -> Any:
        return unfold(body, own=own, world_size=world_size, ranged=rank)

    ranks = range(world_size)
    match node:
        case Name("report", "rank"):
            return Const(_inside(ranged))
        case Name("report", name):
            return Name("world", f"{name}_{_inside(ranged)}")
        case Name("state" | "world", name):
            return Name("world", f"{name}_{own}")
        case Every(body):
            return conjoin(*(at(rank, body) for rank in ranks))
        case Some(body):
            return Not(conjoin(*(Not(at(rank, body)) for rank in ranks)))
        case Total(body, where):
            total: Term = Const(0)
            for rank in ranks:
                total += Choose(at(rank, where), at(rank, body), Const(0))
            return total
        case Least(body, where, default) | Greatest(body, where, default):
            pairs = [(at(rank, where), at(rank, body)) for rank in ranks]
            better = "<" if isinstance(node, Least) else ">"
            found: Formula = conjoin(*(Not(holds) for holds, _ in pairs))
            best = Choose(found, at(own, default), pairs[0][1])
            return _best(pairs, better, best)
    return rebuild(node, lambda part: unfold(part, own=own, world_size=world_size, ranged=ranged))


def _best(pairs: Sequence[tuple[Formula, Term]], better: str, default: Term) -> Term:
    """The best value where its condition holds, else the default."""
    seen: Formula = conjoin() & Compare("==", Const(0), Const(1))
    best = default
    for holds, value in pairs:
        improves = Compare(better, value, best)  # type: ignore[arg-type]
        best = Choose(holds & Either(Not(seen), improves), value, best)
        seen = Either(seen, holds)
    return best


def _inside(ranged: int | None) -> int:
    if ranged is None:
        raise ValueError("a name of a ranged-over rank stands outside every aggregate")
    return ranged


def fields_read(nodes: Sequence[Node]) -> tuple[str, ...]:
    """The fields of ranks that the nodes depend on."""
    names = (part for node in nodes for part in walk(node) if isinstance(part, Name))
    return tuple(sorted({name.name for name in names if name.scope != "setting"}))


def over_ranks(
    nodes: Sequence[Node],
    settings: Settings,
    *,
    world_size: int,
    own: int | None = None,
    fields: Sequence[str] = RANK_FIELDS,
) -> Callable[..., tuple[Any, ...]]:
    """A function of `world_size` flat ranks that returns the nodes' values, one per node.

    A flat rank is a tuple of its `fields`, in their order.
    `own` is the rank at which the nodes are read; None reads each at every rank in turn, so that
    the function returns the values of the first node at all ranks, then those of the second.
    """
    owners = range(world_size) if own is None else (own,)
    flat = [unfold(node, own=at, world_size=world_size) for node in nodes for at in owners]
    parts = (part for node in flat for part in walk(node))
    names = sorted({p.name for p in parts if isinstance(p, Name) and p.scope == "world"})
    ranks = [f"rank_{index}" for index in range(world_size)]
    lines = [f"def function({', '.join(ranks)}):"]
    for name in names:
        field, _, rank = name.rpartition("_")
        lines.append(f"    world_{name} = rank_{rank}[{fields.index(field)}]")
    lines.append(f"    return ({''.join(python(node, settings) + ', ' for node in flat)})")
    return define("\n".join(lines))


def over_one_rank(
    nodes: Sequence[Node], settings: Settings, *, parameters: str = ""
) -> Callable[..., tuple[Any, ...]]:
    """A function of one state and environment, and of what `parameters` lists, as `event_*`."""
    unpack = [
        f"    {', '.join(f'state_{name}' for name in State._fields)} = state",
        f"    {', '.join(f'world_{name}' for name in Environment._fields)} = environment",
    ]
    values = "".join(python(node, settings) + ", " for node in nodes)
    head = f"def function(state, environment{parameters}):"
    return define("\n".join([head, *unpack, f"    return ({values})"]))


def define(source: str) -> Callable[..., tuple[Any, ...]]:
    """The function called `function` that the source defines."""
    namespace: dict[str, Any] = {}
    exec(compile(source, "<unfolded>", "exec"), namespace)  # text made by the machine's compiler
    function: Callable[..., tuple[Any, ...]] = namespace["function"]
    return function
