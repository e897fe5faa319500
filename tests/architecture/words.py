"""Rules about words that no file of the repository holds, but for this one, which lists them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.architecture.source import Defect, Rule, SourceFile, text_file

UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
NOT_WRITTEN = "NotImplementedError"
MACHINE_PATH = re.compile(r"(?<![\w.*}>])/(work|root|home|Users|tmp|opt|mnt|scratch)/\w")


def _matching_lines(file: SourceFile, pattern: re.Pattern[str]) -> Iterator[Defect]:
    for line, text in enumerate(file.text.splitlines(), start=1):
        if found := pattern.search(text):
            yield line, f"the text holds {found.group()!r}"


def unfinished(file: SourceFile) -> Iterator[Defect]:
    """What is left to do stands in an issue, where somebody will look for it."""
    return _matching_lines(file, UNFINISHED)


def not_written(file: SourceFile) -> Iterator[Defect]:
    """What is not there is not offered."""
    return _matching_lines(file, re.compile(NOT_WRITTEN))


def machine_path(file: SourceFile) -> Iterator[Defect]:
    """No file knows the machine it was written on."""
    return _matching_lines(file, MACHINE_PATH)


RULES = (
    Rule(
        name="nothing unfinished",
        remedy="do it now or file it; state a weakness as a fact",
        applies_to=text_file,
        check=unfinished,
        bad=(("runtime/a.py", "# TODO: later\n"), ("docs/a.md", "(FIXME)\n")),
        good=(("docs/a.md", "TODOS are not words of ours.\n"),),
    ),
    Rule(
        name="nothing unwritten",
        remedy="leave the function out, or refuse the argument with ConfigError",
        applies_to=text_file,
        check=not_written,
        bad=(("runtime/a.py", f"raise {NOT_WRITTEN}\n"),),
        good=(("runtime/a.py", "return NotImplemented\n"),),
    ),
    Rule(
        name="no machine paths",
        remedy="name files from the repository root, or take a temporary folder",
        applies_to=text_file,
        check=machine_path,
        bad=(
            ("docs/a.md", "see /work/main/x\n"),
            ("tests/a.py", "path = '/tmp/x'\n"),
        ),
        good=(("docs/a.md", "see docs/work/main and https://example.org/home/x\n"),),
    ),
)
