"""What a transition table is made of: rows, effects asked for, and the digest of the whole.

Rules kept here:
1. Rows are frozen data; readers (compiler, explorer, solver, exporters) need nothing else.
2. Equal canonical texts are equal protocols: the digest is taken over that text.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from .expr import TRUE, Const, Formula, Term, canonical
from .vocabulary import EffectKind, EventKind, Phase

NOTHING = Const(0)
"""The argument of an effect that needs none."""


@dataclass(frozen=True)
class Ask:
    """An effect with the expression of its argument, read in the old state."""

    kind: EffectKind
    argument: Term = NOTHING


@dataclass(frozen=True, kw_only=True)
class Row:
    """One transition. `updates` pairs a field of `State` with its new value."""

    name: str
    phase: Phase
    event: EventKind
    target: Phase
    guard: Formula = TRUE
    updates: tuple[tuple[str, Term], ...] = ()
    asks: tuple[Ask, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Table:
    """The rows, and how a report is read off a state in phase OFFER."""

    rows: tuple[Row, ...]
    report: tuple[tuple[str, Term], ...]

    def digest(self) -> str:
        """SHA-256 (64 hex digits) of the canonical form; ranks compare it in the first round."""
        return hashlib.sha256(canonical_table(self).encode()).hexdigest()


def canonical_table(table: Table) -> str:
    """One line per row and report field, in table order; equal texts are equal protocols."""
    lines = [f"report {name} {canonical(value)}" for name, value in table.report]
    for row in table.rows:
        updates = " ".join(f"{name}:={canonical(value)}" for name, value in row.updates)
        asks = " ".join(f"{ask.kind.name} {canonical(ask.argument)}" for ask in row.asks)
        head = f"{row.name} {row.phase.name} {row.event.name} {row.target.name}"
        lines.append(f"row {head} {canonical(row.guard)} [{updates}] [{asks}]")
    return "\n".join(lines)
