"""The first half of the TLA+ module: constants, variables and what their fields mean, the start.

Rule kept here: fields, their meaning and the values of a start are read from vocabulary and
environment; none is listed here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dgap.protocol.vocabulary import Phase, Policy, Report, Settings, State
from dgap.spec.environment import Environment

from .export import FieldHolder, Start, field_meanings
from .tla_text import filled_with, phase_name, policy_name


def constant_names() -> list[str]:
    """The constants: the number of ranks, and each shared setting in capitals."""
    return ["WORLD_SIZE", *(name.upper() for name in Settings._fields)]


def constants() -> list[str]:
    """The lines that declare the constants and number the phases and policies."""
    phases = [f"{each.name} == {each.value}" for each in Phase]
    policies = [f"{policy_name(each.value)} == {each.value}" for each in Policy]
    return [
        "CONSTANTS " + ", ".join(constant_names()),
        "",
        "Ranks == 0..(WORLD_SIZE - 1)",
        *phases,
        *policies,
        "",
    ]


def variables() -> list[str]:
    """The lines that declare the variables, and the types of their fields with their meaning."""
    last = list(Phase)[-1]
    types = {"phase": f"{phase_name(Phase(0))}..{phase_name(last)}"}
    return [
        "VARIABLES",
        "  ranks,         \\* the state of each rank",
        "  around,        \\* what surrounds each rank",
        "  vector,        \\* the reports of a gather that some ranks have left and others not",
        "  vector_known   \\* 1 while there is such a gather",
        "",
        "vars == <<ranks, around, vector, vector_known>>",
        "",
        *_record_set("State", State, types),
        "",
        *_record_set("Environment", Environment, {}),
        "",
        *_record_set("Report", Report, {}),
        "",
        "TypeOK ==",
        "  /\\ ranks \\in [Ranks -> State]",
        "  /\\ around \\in [Ranks -> Environment]",
        "  /\\ vector \\in [Ranks -> Report]",
        "  /\\ vector_known \\in 0..1",
        "",
    ]


def _record_set(name: str, kind: FieldHolder, types: Mapping[str, str]) -> list[str]:
    """A set of records, with what each field means beside it."""
    meanings = field_meanings(kind)
    last = list(meanings)[-1]
    lines = [f"{name} == ["]
    for field, meaning in meanings.items():
        entry = f"  {field}: {types.get(field, 'Nat')}{'' if field == last else ','}"
        lines.append(f"{entry:<22} \\* {meaning or _first_sentence(Phase.__doc__)}")
    return [*lines, "]"]


def _first_sentence(text: str | None) -> str:
    return (text or "").split(".")[0]


def init(starts: Sequence[Sequence[Start]]) -> list[str]:
    """Records of what all starts share; what they may differ in is chosen for each rank."""
    flat = [[_flat(*start) for start in one] for one in starts]
    every = [each for one in flat for each in one]
    differ = [name for name in every[0] if len({each[name] for each in every}) > 1] or ["source"]
    choices = [
        [f"[{', '.join(f'{n} |-> {start[n]}' for n in differ)}]" for start in one] for one in flat
    ]
    fixed = {name: str(value) for name, value in every[0].items()}
    fixed |= {name: f"start[r].{name}" for name in differ}
    fixed["phase"] = phase_name(every[0]["phase"])
    state = [f"{name} |-> {fixed[name]}" for name in State._fields]
    around = [f"{name} |-> {fixed[name]}" for name in Environment._fields]
    empty = [f"{name} |-> 0" for name in Report._fields]
    return [
        "\\* What the starts of rank r differ in.",
        *_starts(choices),
        "",
        "Init ==",
        "  /\\ \\E start \\in [Ranks -> UNION {Starts(r) : r \\in Ranks}] :",
        "       /\\ \\A r \\in Ranks : start[r] \\in Starts(r)",
        *filled_with("       /\\ ranks = [r \\in Ranks |-> [", state, ", ", "]]"),
        *filled_with("       /\\ around = [r \\in Ranks |-> [", around, ", ", "]]"),
        *filled_with("  /\\ vector = [p \\in Ranks |-> [", empty, ", ", "]]"),
        "  /\\ vector_known = 0",
        "",
    ]


def _starts(choices: Sequence[Sequence[str]]) -> list[str]:
    if all(each == choices[0] for each in choices):
        return filled_with("Starts(r) == {", choices[0], ", ", "}")
    lines = ["Starts(r) =="]
    for rank, chosen in enumerate(choices):
        word = "CASE" if rank == 0 else "  []"
        lines += filled_with(f"  {word} r = {rank} -> {{", chosen, ", ", "}")
    return lines


def _flat(state: State, environment: Environment) -> dict[str, int]:
    both = state._asdict() | environment._asdict()
    return {name: int(value) for name, value in both.items()}
