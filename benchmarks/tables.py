"""The only place that prints: tables and lines on the terminal, through rich."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

# Wide enough for a table in a log file, where rich would assume 80 columns.
WIDTH_COLUMNS = 150

console = Console(width=WIDTH_COLUMNS, highlight=False)


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; the first column is text, the others are aligned to the right."""
    table = Table(title=title, title_justify="left")
    for position, column in enumerate(columns):
        table.add_column(column.replace("_", " "), justify="right" if position else "left")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def show_line(text: str) -> None:
    """Print one line, as progress or remark."""
    console.print(text)
