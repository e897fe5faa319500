"""Each solver and graph library is imported by one module of proofs, and by nobody else.

So a check states its claim in the table's own expressions, and the same claim goes to any solver.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import PurePosixPath

from tests.architecture.imports import LAYERS, imported
from tests.architecture.source import SourceFile, in_packages, read_files

LIBRARIES = frozenset(LAYERS["proofs"].third_party)


def importers(files: Iterable[SourceFile]) -> dict[str, set[str]]:
    """Which modules of the packages import each library."""
    found: dict[str, set[str]] = defaultdict(set)
    for file in filter(in_packages, files):
        for _, level, name in imported(file.tree):
            if level == 0 and name.split(".")[0] in LIBRARIES:
                found[name.split(".")[0]].add(str(file.path))
    return found


def test_each_library_is_imported_by_one_module() -> None:
    remedy = "call the module that owns the library, or move the code into it"
    shared = {name: sorted(at) for name, at in importers(read_files()).items() if len(at) > 1}
    assert not shared, f"{shared}. Remedy: {remedy}"


def test_a_library_imported_in_two_places_is_found() -> None:
    files = [
        SourceFile(PurePosixPath("proofs/solver.py"), "import z3\n"),
        SourceFile(PurePosixPath("proofs/obligations.py"), "from z3 import Int\n"),
        SourceFile(PurePosixPath("tests/proofs/test_solver.py"), "import z3\n"),
    ]
    assert importers(files) == {"z3": {"proofs/obligations.py", "proofs/solver.py"}}
