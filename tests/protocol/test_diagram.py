"""The picture of the table: every row is drawn, and nothing that is not a row."""

from __future__ import annotations

import pytest

from dgap.protocol.diagram import infix, mermaid, reference_page
from dgap.protocol.expr import (
    TRUE,
    Choose,
    Const,
    Every,
    Greatest,
    Least,
    Name,
    Some,
    Total,
    conjoin,
    implies,
)
from dgap.protocol.table import TABLE
from dgap.protocol.vocabulary import reported, setting, state


def test_there_is_one_arrow_per_row() -> None:
    arrows = [line for line in mermaid(TABLE).splitlines() if ": " in line]
    assert len(arrows) == len(TABLE.rows)
    for row in TABLE.rows:
        assert any(f"{row.phase.name} --> {row.target.name}: {row.name} " in a for a in arrows)


def test_the_page_has_one_line_per_row_the_digest_and_the_report() -> None:
    page = reference_page(TABLE)
    assert sum(
        line.startswith(("| FILL |", "| OFFER |", "| TALLY |", "| EMIT |"))
        for line in page.splitlines()
    ) == len(TABLE.rows)
    assert TABLE.digest() in page
    assert all(f"`{name}` = " in page for name, _ in TABLE.report)


N, HELD = reported("offered"), state("held")


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (HELD + 1, "(held + 1)"),
        ((HELD < 2) & ~TRUE, "((held < 2) and not true)"),
        ((HELD < 2) | TRUE, "((held < 2) or true)"),
        (conjoin(TRUE, HELD < 2, TRUE), "(true and (held < 2) and true)"),
        (implies(HELD < 2, TRUE), "((held < 2) implies true)"),
        (Choose(TRUE, HELD, Const(0)), "(if true then held else 0)"),
        (Least(N, TRUE, Const(0)), "min(report.offered for ranks with true, or 0)"),
        (Greatest(N, TRUE, Const(0)), "max(report.offered for ranks with true, or 0)"),
        (Total(N, TRUE), "sum(report.offered for ranks with true)"),
        (Every(N > 0), "all((report.offered > 0))"),
        (Some(N > 0), "any((report.offered > 0))"),
        (Name("event", "code"), "event.code"),
        (setting("window"), "window"),
    ],
)
def test_a_node_is_written_as_a_reader_writes_it(node: object, text: str) -> None:
    assert infix(node) == text  # type: ignore[arg-type]


def test_what_is_no_node_is_refused() -> None:
    with pytest.raises(TypeError, match="knows no node"):
        infix(object())  # type: ignore[arg-type]
