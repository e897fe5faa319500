"""The exported C says what the expressions say, and names every row."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from dgap.proofs.export import actions
from dgap.proofs.export_c import REFINEMENT_INDEX, Pen, model
from dgap.protocol.expr import (
    Choose,
    Const,
    Every,
    Formula,
    Greatest,
    Least,
    Node,
    Some,
    Term,
    Total,
)
from dgap.protocol.table import TABLE
from dgap.protocol.vocabulary import reported, setting, state
from dgap.spec.oracle_expr import Reading, holds, value_of
from dgap.spec.properties import PROPERTIES

HELD = reported("offered")
NODES: tuple[Node, ...] = (
    state("held") * 2 - 3,
    Choose(state("held") > 1, Const(7), Const(8)),
    ~(state("held") <= 1) | setting("window").differs(4),
    Every(HELD >= 0),
    Some(state("held") < HELD),
    Least(HELD, HELD > 0, Const(9)),
    Least(reported("rank"), HELD > 2, state("held") - 1),
    Greatest(HELD * 2, HELD < 2, Const(-1)),
    Total(HELD + reported("rank"), HELD > 0),
    Greatest(HELD, HELD > 5, Greatest(HELD, HELD >= 0, Const(0))),
)
WORLDS = ([0, 0], [1, 3], [2, 0, 5], [4])


def expected(node: Node, ranks: list[int], own: int) -> int:
    reading = Reading(
        own={"state": {"held": ranks[own]}, "setting": {"window": 4}},
        ranks=[{"offered": each} for each in ranks],
    )
    if isinstance(node, Formula):
        return int(holds(node, reading))
    return value_of(node, reading)


def test_a_compiled_expression_has_the_value_of_its_tree(tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    pen = Pen(prefix="R")
    values = "".join(f'printf("%ld ", (long)({pen.text(node)}));\n' for node in NODES)
    worlds = "".join(
        f"{{ cell a[][1] = {{{', '.join(f'{{{n}}}' for n in ranks)}}}; int size = {len(ranks)};"
        f" const cell *ranks[4]; for (int i = 0; i < size; i++) ranks[i] = a[i];\n"
        f"for (int own = 0; own < size; own++) {{ const cell *r = ranks[own];\n{values} }} }}\n"
        for ranks in WORLDS
    )
    program = (
        "#include <stdio.h>\ntypedef signed char cell; typedef long number;\n"
        "enum { F_held, R_offered = 0, S_window = 0 };\nstatic number settings[] = {4};\n"
        f"{''.join(pen.texts)}\nint main(void) {{\n{worlds} return 0; }}\n"
    )
    (tmp_path / "x.c").write_text(program)
    subprocess.run(["gcc", "-std=c11", "-o", "x", "x.c"], cwd=tmp_path, check=True, timeout=60)
    said = subprocess.run(
        [str(tmp_path / "x")], capture_output=True, text=True, check=True, timeout=60
    )
    wanted = [
        expected(node, ranks, own)
        for ranks in WORLDS
        for own in range(len(ranks))
        for node in NODES
    ]
    assert list(map(int, said.stdout.split())) == wanted


def test_an_unknown_node_is_refused() -> None:
    class Strange(Term):
        pass

    with pytest.raises(TypeError, match="Strange"):
        Pen().text(Strange())


def test_one_aggregate_is_one_function() -> None:
    pen = Pen()
    node = Some(reported("offered") > 0)
    assert pen.text(node) == pen.text(node)
    assert len(pen.texts) == 1


def test_the_model_names_every_row_every_move_and_every_property() -> None:
    text = model()
    assert all(f"/* {action.name} */" in text for action in actions(TABLE))
    assert all(f"/* {each.id} */" in text for each in PROPERTIES)
    assert f"R1 = {REFINEMENT_INDEX}" in text
    assert model() == text
