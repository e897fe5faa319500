"""Each module of the four packages has its own test module, and each of those its module.

A test module that grew long may be split by aspect: `test_loader_exit.py` beside `test_loader.py`.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import PurePosixPath

import pytest

from tests.architecture.source import PACKAGES, read_files

# Nothing to test by itself: the first only names the package's contents, the second is run as a
# command (make verify) and by the tests of what it calls.
EXEMPT = frozenset({"__init__.py", "__main__.py"})


def mapping_findings(paths: Collection[PurePosixPath]) -> list[str]:
    """What is missing on either side, one line each; `paths` are all files of the repository."""
    modules = {
        path
        for path in paths
        if path.parts[0] in PACKAGES and path.suffix == ".py" and path.name not in EXEMPT
    }
    expected = {PurePosixPath("tests", path.parent, f"test_{path.name}") for path in modules}
    present = {
        path
        for path in paths
        if path.parts[0] == "tests" and path.name.startswith("test_") and path.parts[1] in PACKAGES
    }
    commands = {path.with_name("test_main.py") for path in expected}
    missing = [f"{path} is missing. Remedy: test the module there" for path in expected - present]
    orphans = [
        f"{path} tests no module of that name. Remedy: rename it, or move a law that spans "
        "modules to tests/laws/"
        for path in present - expected - commands
        if not is_aspect(path, expected & present)
    ]
    return sorted(missing + orphans)


def is_aspect(path: PurePosixPath, modules: Collection[PurePosixPath]) -> bool:
    """Whether this test module is a part, by aspect, of one that stands beside it."""
    return any(
        path.parent == module.parent and path.stem.startswith(f"{module.stem}_")
        for module in modules
    )


def test_every_module_has_its_test_module_and_the_reverse() -> None:
    findings = mapping_findings([file.path for file in read_files()])
    assert not findings, "\n".join(findings)


@pytest.mark.parametrize(
    ("paths", "count"),
    [
        (["spec/a.py", "tests/spec/test_a.py"], 0),
        (["spec/__init__.py", "proofs/__main__.py", "spec/DGAP.md"], 0),
        (["tests/laws/test_alignment.py", "tests/test_processes.py"], 0),
        (["spec/a.py", "tests/spec/test_a.py", "tests/spec/test_a_long.py"], 0),
        (["spec/a.py", "spec/__main__.py", "tests/spec/test_a.py", "tests/spec/test_main.py"], 0),
        (["spec/a.py", "tests/spec/test_a_long.py"], 2),
        (["spec/a.py"], 1),
        (["spec/a.py", "tests/proofs/test_a.py"], 2),
        (["tests/spec/test_a.py"], 1),
    ],
)
def test_a_module_without_tests_and_tests_without_a_module_are_found(
    paths: list[str], count: int
) -> None:
    assert len(mapping_findings([PurePosixPath(path) for path in paths])) == count
