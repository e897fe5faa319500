"""Rules about who may import what.

The directions are one table, `LAYERS`; everything else here reads import statements, wherever
they stand (inside functions and under TYPE_CHECKING too: a hidden import is still an import).
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from tests.architecture.source import (
    PACKAGES,
    Defect,
    Rule,
    SourceFile,
    dotted,
    in_packages,
    library_code,
    python_file,
)


@dataclass(frozen=True, kw_only=True)
class Layer:
    """What a package may import beside itself and the standard library."""

    ours: tuple[str, ...] = ()
    third_party: tuple[str, ...] = ()


LAYERS = {
    "protocol": Layer(),
    # The vocabulary, never the rules: a specification that used the decision would agree with it.
    "spec": Layer(
        ours=(
            "dgap.protocol.errors",
            "dgap.protocol.expr",
            "dgap.protocol.vocabulary",
        )
    ),
    "proofs": Layer(ours=("dgap.protocol", "dgap.spec"), third_party=("cvc5", "networkx", "z3")),
    "runtime": Layer(ours=("dgap.protocol",), third_party=("torch",)),
}

# Clocks, randomness, threads and I/O come into the pure packages as arguments.
IMPURE = frozenset(
    "asyncio concurrent datetime io logging multiprocessing os pathlib queue random secrets "
    "selectors signal socket subprocess sys tempfile threading time uuid warnings".split()
)

# The engine turns events into table steps; who calls it owns threads, clocks and collectives.
SANS_IO = frozenset(
    f"runtime/{stem}.py" for stem in "boundaries engine grouping intake ledger plan weights".split()
)
ENGINE_MAY_NOT = ("torch.distributed", "torch.multiprocessing")


def imported(tree: ast.Module) -> Iterator[tuple[int, int, str]]:
    """(line, leading dots, dotted name) of each import; `from a import b` counts as `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, 0, alias.name
        elif isinstance(node, ast.ImportFrom):
            prefix = f"{node.module}." if node.module else ""
            for alias in node.names:
                yield node.lineno, node.level, prefix + alias.name


def wrong_direction(file: SourceFile) -> Iterator[Defect]:
    """Imports follow `LAYERS`."""
    layer = LAYERS[file.folder]
    for line, level, name in imported(file.tree):
        top = name.split(".")[0]
        if level or top in sys.stdlib_module_names:
            continue
        allowed = layer.ours if top == "dgap" else layer.third_party
        if name.startswith(f"dgap.{file.folder}."):
            yield line, f"{name} names its own package absolutely"
        elif not any(f"{name}.".startswith(f"{each}.") for each in allowed):
            yield line, f"{file.folder} may not import {name}"


def bare_package(file: SourceFile) -> Iterator[Defect]:
    """Nobody imports `protocol.x` beside `dgap.protocol.x`: that would be a second copy of it."""
    for line, level, name in imported(file.tree):
        if level == 0 and name.split(".")[0] in PACKAGES:
            yield line, f"{name} is a second copy of dgap.{name}"
        if level > 1:
            yield line, f"an import with {level} dots leaves its package"


def tests_imported(file: SourceFile) -> Iterator[Defect]:
    """Nothing that is used depends on what is only tested with."""
    for line, level, name in imported(file.tree):
        if level == 0 and name.split(".")[0] in ("tests", "pytest", "hypothesis"):
            yield line, f"{name} is for tests"


def impure(file: SourceFile) -> Iterator[Defect]:
    """protocol and spec are functions of their arguments."""
    for line, level, name in imported(file.tree):
        if level == 0 and name.split(".")[0] in IMPURE:
            yield line, f"{name} reaches outside the arguments"
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Call) and dotted(node.func) in ("open", "input"):
            yield node.lineno, f"{dotted(node.func)}() is I/O"


def engine_io(file: SourceFile) -> Iterator[Defect]:
    """The same engine runs over Gloo, over a loopback of N ranks, and in the simulator."""
    for line, level, name in imported(file.tree):
        outside = name.split(".")[0] in IMPURE - {"random"} or name.startswith(ENGINE_MAY_NOT)
        if level == 0 and outside:
            yield line, f"{name} is I/O"


def _sans_io(file: SourceFile) -> bool:
    return str(file.path) in SANS_IO


def _outside_tests(file: SourceFile) -> bool:
    return python_file(file) and file.folder != "tests"


def _pure_package(file: SourceFile) -> bool:
    return library_code(file) and file.folder in ("protocol", "spec")


RULES = (
    Rule(
        name="import direction",
        remedy="see LAYERS in tests/architecture/imports.py; one dot inside a package, dgap.x "
        "across; move what both need down",
        applies_to=in_packages,
        check=wrong_direction,
        bad=(
            ("protocol/a.py", "import torch\n"),
            ("protocol/a.py", "def f():\n    from dgap.spec import oracle\n"),
            ("spec/a.py", "from dgap.protocol import decision\n"),
            ("spec/a.py", "from dgap.protocol.table import TABLE\n"),
            ("spec/a.py", "from dgap.protocol.expression import x\n"),
            ("proofs/a.py", "import dgap.runtime.engine\n"),
            ("runtime/a.py", "from dgap.spec.properties import s1\n"),
            ("runtime/a.py", "import numpy\n"),
            ("runtime/a.py", "from dgap.runtime.engine import Engine\n"),
        ),
        good=(
            ("protocol/a.py", "import json\nfrom .expr import Const\nfrom . import expr\n"),
            ("spec/a.py", "from dgap.protocol import vocabulary\n"),
            ("spec/a.py", "from dgap.protocol.expr import Const\n"),
            ("proofs/a.py", "import z3\nfrom dgap.protocol.table import TABLE\n"),
            (
                "runtime/a.py",
                "import torch.distributed as dist\nfrom dgap.protocol import machine\n",
            ),
        ),
    ),
    Rule(
        name="one name per module",
        remedy="write dgap.protocol (spec, proofs, runtime) across packages, one dot inside one",
        applies_to=python_file,
        check=bare_package,
        bad=(
            ("tests/a.py", "import protocol.table\n"),
            ("examples/a.py", "from runtime import loader\n"),
            ("runtime/a.py", "from ..protocol import table\n"),
        ),
        good=(("tests/a.py", "import dgap.protocol.table\nfrom .protocol import x\n"),),
    ),
    Rule(
        name="no test code in use",
        remedy="move what is needed into the package that owns it",
        applies_to=_outside_tests,
        check=tests_imported,
        bad=(("examples/a.py", "from tests.processes import run_ranks\n"),),
        good=(("tests/a.py", "from tests.processes import run_ranks\n"),),
    ),
    Rule(
        name="purity",
        remedy="take the clock, the randomness, the file or the text as an argument",
        applies_to=_pure_package,
        check=impure,
        bad=(
            ("protocol/a.py", "import time\n"),
            ("spec/a.py", "from os import path\n"),
            ("spec/a.py", "text = open('x').read()\n"),
        ),
        good=(
            ("protocol/a.py", "import hashlib\nfrom .time import x\n"),
            ("protocol/__main__.py", "import sys\n"),
            ("proofs/a.py", "import time\n"),
        ),
    ),
    Rule(
        name="sans-I/O engine",
        remedy="ask the caller for it: yield a request, or take the value as an argument",
        applies_to=_sans_io,
        check=engine_io,
        bad=(
            ("runtime/engine.py", "import torch.distributed as dist\n"),
            ("runtime/plan.py", "from torch import distributed\n"),
            ("runtime/grouping.py", "import threading\n"),
        ),
        good=(
            ("runtime/engine.py", "import torch\nfrom .queue import x\n"),
            ("runtime/plan.py", "import random\n"),
            ("runtime/torch_transport.py", "import torch.distributed\nimport threading\n"),
        ),
    ),
)
