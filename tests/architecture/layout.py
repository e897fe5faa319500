"""Rules about the shape of files: length, docstrings, frozen values."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.architecture.source import Defect, Rule, SourceFile, in_packages, python_file

MAX_FILE_LINES = 300
MAX_FUNCTION_LINES = 50

Function = ast.FunctionDef | ast.AsyncFunctionDef


def long_file(file: SourceFile) -> Iterator[Defect]:
    """Files stay below MAX_FILE_LINES."""
    count = file.text.count("\n")
    if count >= MAX_FILE_LINES:
        yield count, f"the file has {count} lines, the limit is below {MAX_FILE_LINES}"


def long_function(file: SourceFile) -> Iterator[Defect]:
    """Functions stay below MAX_FUNCTION_LINES; a docstring does not count against its function."""
    for node in ast.walk(file.tree):
        if isinstance(node, Function):
            count = (node.end_lineno or node.lineno) - node.lineno + 1 - _docstring_lines(node)
            if count >= MAX_FUNCTION_LINES:
                yield node.lineno, f"{node.name} has {count} lines without its docstring"


def _docstring_lines(node: Function) -> int:
    if ast.get_docstring(node, clean=False) is None:
        return 0
    first = node.body[0]
    return (first.end_lineno or first.lineno) - first.lineno + 1


def missing_module_docstring(file: SourceFile) -> Iterator[Defect]:
    """Every module opens by saying what it is for."""
    if ast.get_docstring(file.tree) is None:
        yield 1, "the module has no docstring"


def missing_docstring(file: SourceFile) -> Iterator[Defect]:
    """Every public class, function and method says what it does."""
    yield from _undocumented(file.tree.body, "")


def _undocumented(body: list[ast.stmt], prefix: str) -> Iterator[Defect]:
    for node in body:
        if not isinstance(node, ast.ClassDef | Function) or node.name.startswith("_"):
            continue
        if _implements_something_documented(node):
            continue
        if ast.get_docstring(node) is None:
            yield node.lineno, f"{prefix}{node.name} has no docstring"
        if isinstance(node, ast.ClassDef):
            yield from _undocumented(node.body, f"{node.name}.")


def _implements_something_documented(node: ast.ClassDef | Function) -> bool:
    """An overload or a property's setter: the function it belongs to has the docstring."""
    return any(
        ast.unparse(decorator).endswith(("overload", ".setter"))
        for decorator in node.decorator_list
    )


def thawed_dataclass(file: SourceFile) -> Iterator[Defect]:
    """A dataclass of the pure packages cannot be changed once built."""
    for node in ast.walk(file.tree):
        if not isinstance(node, ast.ClassDef):
            continue
        for decorator in node.decorator_list:
            text = ast.unparse(decorator)
            if text.startswith(("dataclass", "dataclasses.dataclass")):
                if "frozen=True" not in text:
                    yield node.lineno, f"{node.name} is a dataclass that can be changed"


def _pure_package(file: SourceFile) -> bool:
    return in_packages(file) and file.folder in ("protocol", "spec")


_DOCUMENTED = '"""Doc."""\n'

RULES = (
    Rule(
        name="file length",
        remedy="split the file: one idea each",
        applies_to=python_file,
        check=long_file,
        bad=(("spec/a.py", "x = 1\n" * MAX_FILE_LINES),),
        good=(("spec/a.py", "x = 1\n" * (MAX_FILE_LINES - 1)),),
    ),
    Rule(
        name="function length",
        remedy="ifs up, loops down, leaves pure: move one of them into a function of its own",
        applies_to=python_file,
        check=long_function,
        bad=(
            ("tests/a.py", "def f():\n" + "    x = 1\n" * (MAX_FUNCTION_LINES - 1)),
            ("spec/a.py", "async def f():\n" + "    x = 1\n" * (MAX_FUNCTION_LINES - 1)),
        ),
        good=(
            ("tests/a.py", "def f():\n" + "    x = 1\n" * (MAX_FUNCTION_LINES - 2)),
            ("spec/a.py", 'def f():\n    """' + "Doc.\n" * MAX_FUNCTION_LINES + '"""\n'),
        ),
    ),
    Rule(
        name="module docstring",
        remedy="open the file with what it is for and the two or three rules it keeps",
        applies_to=python_file,
        check=missing_module_docstring,
        bad=(("tests/a.py", "x = 1\n"), ("examples/a.py", "# A comment.\n")),
        good=(("tests/a.py", _DOCUMENTED),),
    ),
    Rule(
        name="public docstring",
        remedy="say shapes, units, special cases and what is raised; or make the name private",
        applies_to=in_packages,
        check=missing_docstring,
        bad=(
            ("spec/a.py", "def f(): ...\n"),
            ("spec/a.py", "class C:\n    x: int\n"),
            ("spec/a.py", f"class C:\n    {_DOCUMENTED}\n    def f(self): ...\n"),
        ),
        good=(
            ("spec/a.py", "def _f(): ...\nclass _C:\n    def f(self): ...\n"),
            ("spec/a.py", "from typing import overload\n@overload\ndef f(x: int): ...\n"),
            ("spec/a.py", f"class C:\n    {_DOCUMENTED}\n    def __len__(self): ...\n"),
        ),
    ),
    Rule(
        name="frozen values",
        remedy="write @dataclass(frozen=True): a pure package has no state to change",
        applies_to=_pure_package,
        check=thawed_dataclass,
        bad=(
            ("protocol/a.py", "@dataclass\nclass C: ...\n"),
            ("spec/a.py", "@dataclass(kw_only=True)\nclass C: ...\n"),
        ),
        good=(
            ("protocol/a.py", "@dataclass(frozen=True, slots=True)\nclass C: ...\n"),
            ("runtime/a.py", "@dataclass\nclass C: ...\n"),
        ),
    ),
)
