"""Models of the solver as text: who is where, what was reported, what the action changes.

Rule kept here: names that denote one rank are shown as one rank, and zeros are left out.
"""

from __future__ import annotations

from dgap.protocol.vocabulary import Event, Phase, Policy, Report, Settings, State

from .actions import ACTOR, GHOSTS
from .parametric import Scene, plainly
from .solver import RANK, Z3, Model, constant, holds, value
from .terms import of_rank, said

_ARGUMENTS = Event._fields[1:-1]


def describe(scene: Scene, model: Model) -> tuple[str, ...]:
    """The settings, the named ranks, the gathered reports if any, and what changes."""
    groups = _groups(scene, model)
    lines = [f"settings: {_settings(model)}"]
    named = {rank.name for rank in scene.ranks}
    for names in groups:
        if names[0] in named:  # of the others only the reports matter
            shown = "=".join(name for name in names if name in named)
            lines.append(f"rank {shown}: {_rank(model, constant(names[0], RANK))}")
    if scene.action is None:
        return tuple(lines)
    arguments = {name: value(model, constant(f"event_{name}")) for name in _ARGUMENTS}
    given = " ".join(f"{name}={number}" for name, number in arguments.items() if number)
    lines += _reports(scene, model, groups)
    lines.append(f"action of rank a: {scene.action.name} {given}".rstrip())
    changes = (
        f"{name}: {value(model, of_rank(name, constant(ACTOR.name, RANK)))} -> {value(model, new)}"
        for name, new in scene.changes.items()
        if name != "phase"
    )
    phase = scene.changes.get("phase")
    goes = [f"phase -> {Phase(value(model, phase)).name}"] if phase is not None else []
    return (*lines, "then rank a: " + ", ".join([*goes, *changes]))


def _settings(model: Model) -> str:
    values = {name: value(model, constant(f"setting_{name}")) for name in Settings._fields}
    values["policy"] = Policy(values["policy"]) if values["policy"] in (0, 1) else 0
    shown = (
        f"policy={number.name}" if isinstance(number, Policy) else f"{name}={number}"
        for name, number in values.items()
    )
    return " ".join(shown)


def _groups(scene: Scene, model: Model) -> list[list[str]]:
    """The names of named ranks and witnesses, those of one rank together."""
    names = [rank.name for rank in scene.ranks]
    names += [str(voice) for voice in scene.vector.voices([])]
    groups: list[list[str]] = []
    for name in names:
        rank = constant(name, RANK)
        for group in groups:
            if holds(model, constant(group[0], RANK) == rank):
                group.append(name)
                break
        else:
            groups.append([name])
    named = {rank.name for rank in scene.ranks}
    return [sorted(group, key=lambda name: name not in named) for group in groups]


def _rank(model: Model, rank: Z3) -> str:
    values = {name: value(model, of_rank(name, rank)) for name in (*State._fields, *GHOSTS)}
    phase = values.pop("phase")
    name = Phase(phase).name if phase in list(Phase) else str(phase)
    shown = (f"{name}={number}" for name, number in values.items() if number)
    return " ".join((name, *shown))


def _reports(scene: Scene, model: Model, groups: list[list[str]]) -> list[str]:
    if not scene.vector.aggregates:
        return []
    gather = plainly(ACTOR["entered"])
    lines = []
    for names in groups:
        rank = constant(names[0], RANK)
        values = {name: value(model, said(name, gather, rank)) for name in Report._fields}
        shown = " ".join(f"{name}={number}" for name, number in values.items() if number)
        lines.append(f"report of {names[0]} in gather {value(model, gather)}: {shown or 'all 0'}")
    return lines
