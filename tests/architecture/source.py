"""What the house rules read: the files of this repository, and what a rule is made of.

1. A rule is a value: a check, where it applies, the remedy it prints, and its own controls.
2. A rule has controls: snippets it must flag and snippets it must leave alone. A rule that flags
   nothing on a planted defect checks nothing, and `test_rules.py` refuses it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("protocol", "spec", "proofs", "runtime")
FOLDERS = (*PACKAGES, "tests", "examples", "benchmarks", "docs", ".ci")
TEXT_SUFFIXES = frozenset({"", ".md", ".py", ".toml", ".txt", ".json", ".sh", ".cfg", ".yml"})

# A defect inside one file: its line, and what is wrong there.
Defect = tuple[int, str]


@dataclass(frozen=True)
class SourceFile:
    """A text file, by its path from the repository root."""

    path: PurePosixPath
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree; only for Python files."""
        return ast.parse(self.text, filename=str(self.path))

    @property
    def folder(self) -> str:
        """The folder at the top that holds the file ("" for a file of the root)."""
        return self.path.parts[0] if len(self.path.parts) > 1 else ""


def python_file(file: SourceFile) -> bool:
    """Any Python file of the repository."""
    return file.path.suffix == ".py"


def in_packages(file: SourceFile) -> bool:
    """A Python file of the four packages."""
    return python_file(file) and file.folder in PACKAGES


def library_code(file: SourceFile) -> bool:
    """A file of the four packages that is not an entry point (`__main__.py`)."""
    return in_packages(file) and file.path.name != "__main__.py"


def text_file(file: SourceFile) -> bool:
    """Every file that the repository holds as text, but for the one that lists banned words."""
    return file.path.name != "words.py"


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A house rule. `bad` and `good` are its controls, as (path, text)."""

    name: str
    remedy: str
    applies_to: Callable[[SourceFile], bool]
    check: Callable[[SourceFile], Iterator[Defect]]
    bad: tuple[tuple[str, str], ...] = field(repr=False)
    good: tuple[tuple[str, str], ...] = field(repr=False)

    def findings(self, file: SourceFile) -> list[str]:
        """One line for each defect, with the remedy; empty where the rule does not apply."""
        if not self.applies_to(file):
            return []
        return [
            f"{file.path}:{line}: {problem}. Remedy: {self.remedy}"
            for line, problem in self.check(file)
        ]


def read_files() -> list[SourceFile]:
    """All text files of the repository, in a fixed order; symlinks are not followed."""
    paths = [path for path in ROOT.iterdir() if path.is_file() and not path.name.startswith(".")]
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                paths.append(path)
    return [
        SourceFile(PurePosixPath(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))
        for path in sorted(paths)
        if path.suffix in TEXT_SUFFIXES and not _below_a_symlink(path)
    ]


def _below_a_symlink(path: Path) -> bool:
    return path.resolve() != path


def dotted(node: ast.expr) -> str:
    """`a.b.c` for a chain of attributes on a name, "" for any other expression."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        prefix = dotted(node.value)
        return f"{prefix}.{node.attr}" if prefix else ""
    return ""
