"""The one list of obligations: complete, without repetition, and all that the table is asked."""

from __future__ import annotations

from pathlib import Path

from dgap.proofs import obligations
from dgap.proofs.obligations import CHEAP, CORE, OBLIGATIONS, OTHERS, by_id
from dgap.protocol.table import TABLE

NOT_OF_TABLES = {"obligations_groups", "obligations_planted"}
"""Groups are about rules that no table holds; planted bugs ask the others."""


def test_every_module_of_obligations_is_listed_once() -> None:
    folder = Path(obligations.__file__).parent
    modules = {path.stem for path in folder.glob("obligations_*.py")} - NOT_OF_TABLES
    listed = [build.__module__.rpartition(".")[2] for build in OBLIGATIONS]
    assert sorted(listed) == sorted(modules)


def test_the_parts_of_the_list_are_in_it() -> None:
    assert set(CHEAP) | set(OTHERS) < set(OBLIGATIONS)
    assert set(CORE) < set(OBLIGATIONS)


def test_no_two_obligations_have_one_id() -> None:
    assert len(by_id(TABLE)) == sum(len(build(TABLE)) for build in OBLIGATIONS)
