"""Every tool says its own version, or that it is not there."""

from __future__ import annotations

import shutil

import pytest

from dgap.proofs import versions as module
from dgap.proofs.foreign_tools import MissingTool
from dgap.proofs.versions import NOT_INSTALLED, versions

TOOLS = ("python", "z3", "cvc5", "tlc", "rumur", "gcc", "java", "crosshair", "esbmc")


def test_all_tools_are_installed_where_the_tests_run() -> None:
    found = versions()
    assert tuple(found) == TOOLS
    assert NOT_INSTALLED not in found.values()
    assert all(any(letter.isdigit() for letter in each) for each in found.values())


def test_a_missing_tool_is_said_to_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> None:
        raise MissingTool("not here")

    monkeypatch.setattr(module, "tlc_jar", absent)
    monkeypatch.setattr(module, "esbmc_binary", absent)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    found = versions()
    gone = ("tlc", "rumur", "gcc", "java", "esbmc")
    assert all(found[name] == NOT_INSTALLED for name in gone)
