"""Rules about calls and statements that the packages do without."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.architecture.source import (
    Defect,
    Rule,
    SourceFile,
    dotted,
    in_packages,
    library_code,
    python_file,
)

BROAD = frozenset({"", "Exception", "BaseException"})
# Where text becomes code: the table compiled into the step function, and the formulas of the
# specification, which take their text from the same compiler.
COMPILES = ("protocol/machine.py", "proofs/unfold.py")


def _calls(file: SourceFile) -> Iterator[tuple[ast.Call, str]]:
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Call):
            yield node, dotted(node.func)


def bare_assert(file: SourceFile) -> Iterator[Defect]:
    """An assert vanishes under `python -O` and names no rank, step or sample."""
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Assert):
            yield node.lineno, f"assert {ast.unparse(node.test)}"


def swallowed_exception(file: SourceFile) -> Iterator[Defect]:
    """A broad handler raises again or uses what it caught."""
    for node in ast.walk(file.tree):
        if isinstance(node, ast.ExceptHandler) and _is_broad(node.type) and not _keeps(node):
            yield node.lineno, "a broad handler drops what it caught"
    for call, name in _calls(file):
        if name.split(".")[-1] == "suppress" and any(map(_is_broad, call.args)):
            yield call.lineno, "suppress() of a broad exception"


def _is_broad(caught: ast.expr | None) -> bool:
    types = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(each is None or dotted(each) in BROAD - {""} for each in types)


def _keeps(handler: ast.ExceptHandler) -> bool:
    return any(
        isinstance(node, ast.Raise) or (isinstance(node, ast.Name) and node.id == handler.name)
        for statement in handler.body
        for node in ast.walk(statement)
    )


def sleeping(file: SourceFile) -> Iterator[Defect]:
    """Sleeping is not synchronisation."""
    for call, name in _calls(file):
        if name.split(".")[-1] == "sleep":
            yield call.lineno, f"{name}()"


def printing(file: SourceFile) -> Iterator[Defect]:
    """A library does not write to its user's terminal."""
    for call, name in _calls(file):
        if name == "print":
            yield call.lineno, "print()"


def environment(file: SourceFile) -> Iterator[Defect]:
    """Only an entry point reads the environment."""
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Attribute) and dotted(node) in ("os.environ", "os.getenv"):
            yield node.lineno, dotted(node)
        elif isinstance(node, ast.ImportFrom) and node.module == "os":
            for alias in node.names:
                if alias.name in ("environ", "getenv"):
                    yield node.lineno, f"from os import {alias.name}"


def text_as_code(file: SourceFile) -> Iterator[Defect]:
    """Text becomes code in two places."""
    for call, name in _calls(file):
        if name in ("eval", "exec", "compile"):
            yield call.lineno, f"{name}()"


def hash_order(file: SourceFile) -> Iterator[Defect]:
    """hash() of a text differs from process to process, so ranks would disagree (A9)."""
    for call, name in _calls(file):
        if name == "hash":
            yield call.lineno, "hash()"


def _not_the_compiler(file: SourceFile) -> bool:
    return python_file(file) and str(file.path) not in COMPILES


def _in_packages_or_examples(file: SourceFile) -> bool:
    return python_file(file) and file.folder != "tests"


RULES = (
    Rule(
        name="no assert",
        remedy="raise an error of dgap.protocol.errors that names rank, step and what to do",
        applies_to=in_packages,
        check=bare_assert,
        bad=(("runtime/a.py", "def f(x):\n    assert x\n"),),
        good=(("tests/a.py", "assert True\n"), ("runtime/a.py", "text = 'assert x'\n")),
    ),
    Rule(
        name="no swallowed exception",
        remedy="catch the type you expect, raise it again, or keep it for the round's report",
        applies_to=_in_packages_or_examples,
        check=swallowed_exception,
        bad=(
            ("runtime/a.py", "try: f()\nexcept Exception: pass\n"),
            ("runtime/a.py", "try: f()\nexcept: x = 1\n"),
            ("runtime/a.py", "try: f()\nexcept (ValueError, BaseException) as e: x = 1\n"),
            ("examples/a.py", "with contextlib.suppress(Exception): f()\n"),
        ),
        good=(
            ("runtime/a.py", "try: f()\nexcept BaseException as e: keep(e)\n"),
            ("runtime/a.py", "try: f()\nexcept Exception:\n    g()\n    raise\n"),
            ("runtime/a.py", "try: f()\nexcept KeyError: x = 1\n"),
        ),
    ),
    Rule(
        name="no sleep",
        remedy="wait on a condition, an event, a queue or a pipe, with a timeout",
        applies_to=python_file,
        check=sleeping,
        bad=(("tests/a.py", "time.sleep(1)\n"), ("runtime/a.py", "sleep(0.1)\n")),
        good=(("tests/a.py", "event.wait(1)\n"),),
    ),
    Rule(
        name="no print",
        remedy="return the text, or print it in __main__.py",
        applies_to=library_code,
        check=printing,
        bad=(("proofs/a.py", "print(1)\n"),),
        good=(("proofs/__main__.py", "print(1)\n"), ("examples/a.py", "print(1)\n")),
    ),
    Rule(
        name="no environment",
        remedy="make it a setting of the loader, or read it in __main__.py and pass it on",
        applies_to=library_code,
        check=environment,
        bad=(
            ("runtime/a.py", "import os\nx = os.environ['X']\n"),
            ("runtime/a.py", "import os\nx = os.getenv('X')\n"),
            ("proofs/a.py", "from os import environ\n"),
        ),
        good=(("proofs/__main__.py", "import os\nx = os.environ\n"),),
    ),
    Rule(
        name="no text as code",
        remedy=f"only {' and '.join(COMPILES)} compile, and only expressions of the language; "
        "call a function instead",
        applies_to=_not_the_compiler,
        check=text_as_code,
        bad=(("protocol/expr.py", "eval('1')\n"), ("tests/a.py", "exec('x = 1')\n")),
        good=((COMPILES[0], "exec('x = 1')\n"), ("protocol/expr.py", "re.compile('x')\n")),
    ),
    Rule(
        name="no hash order",
        remedy="order by integers, digest with hashlib",
        applies_to=in_packages,
        check=hash_order,
        bad=(("runtime/a.py", "x = hash('a') % 2\n"),),
        good=(("runtime/a.py", "x = hashlib.sha256(b'a')\n"),),
    ),
)
