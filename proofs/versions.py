"""The version of every tool that a verdict depends on, as the tool itself gives it.

Rules kept here:
1. A tool that is missing, or does not answer, is "not installed"; the checks that need it fail.
2. Nothing is guessed: no version of a tool is read off what brought it.
"""

from __future__ import annotations

import platform
import re
import shutil
from collections.abc import Callable, Sequence
from importlib import metadata

from . import cvc5_solver, solver
from .foreign_tools import MissingTool, output_of, tlc_jar
from .source_contract import esbmc_binary

NOT_INSTALLED = "not installed"
ANSWER_LIMIT_S = 30.0


def versions() -> dict[str, str]:
    """Tool and version, all of them."""
    return {
        "python": platform.python_version(),
        "z3": solver.version(),
        "cvc5": cvc5_solver.version(),
        "tlc": _asked(_tlc, r"TLC2 Version (.*)"),
        "rumur": _asked(lambda: ["rumur", "--version"], r"Rumur version (.*)"),
        "gcc": _asked(lambda: ["gcc", "-dumpfullversion"], r"(\d+(?:\.\d+)*)"),
        "java": _asked(lambda: ["java", "-version"], r'version "([^"]+)"'),
        "crosshair": _distribution("crosshair-tool"),
        "esbmc": _asked(lambda: [str(esbmc_binary()), "--version"], r"ESBMC version (\S+)"),
    }


def _tlc() -> list[str]:
    return ["java", "-cp", str(tlc_jar()), "tlc2.TLC", "-h"]


def _asked(command: Callable[[], Sequence[str]], pattern: str) -> str:
    """What the pattern finds in the tool's answer."""
    try:
        words = command()
    except MissingTool:
        return NOT_INSTALLED
    if shutil.which(words[0]) is None:
        return NOT_INSTALLED
    found = re.search(pattern, output_of(words, ".", limit_s=ANSWER_LIMIT_S))
    return found[1].strip() if found else NOT_INSTALLED


def _distribution(name: str) -> str:
    """For a tool that is a Python package: it has no other way to say its version."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return NOT_INSTALLED
