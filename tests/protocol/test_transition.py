"""Rows and their digest: equal content, equal digest; any change, another one."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest

from dgap.protocol.expr import TRUE, Const
from dgap.protocol.table import TABLE
from dgap.protocol.transition import Ask, Row, Table, canonical_table
from dgap.protocol.vocabulary import EffectKind, EventKind, Phase, state

ROW = Row(
    name="one",
    phase=Phase.FILL,
    event=EventKind.READ,
    target=Phase.FILL,
    guard=state("held") < 2,
    updates=(("held", state("held") + 1),),
    asks=(Ask(EffectKind.BATCH),),
)


def test_a_digest_is_64_hex_digits_and_depends_on_content_only() -> None:
    digest = Table(rows=(ROW,), report=()).digest()
    assert len(digest) == 64
    assert int(digest, 16) >= 0
    assert Table(rows=(replace(ROW),), report=()).digest() == digest


@pytest.mark.parametrize(
    "changed",
    [
        replace(ROW, name="two"),
        replace(ROW, phase=Phase.EMIT),
        replace(ROW, event=EventKind.EXHAUST),
        replace(ROW, target=Phase.OFFER),
        replace(ROW, guard=TRUE),
        replace(ROW, updates=()),
        replace(ROW, updates=(("read", state("held") + 1),)),
        replace(ROW, asks=(Ask(EffectKind.BATCH, Const(1)),)),
        replace(ROW, asks=(Ask(EffectKind.END),)),
    ],
)
def test_any_change_of_a_row_changes_the_digest(changed: Row) -> None:
    before = Table(rows=(ROW,), report=()).digest()
    assert Table(rows=(changed,), report=()).digest() != before


def test_the_report_is_part_of_the_digest() -> None:
    bare = Table(rows=(ROW,), report=())
    assert replace(bare, report=(("dry", Const(0)),)).digest() != bare.digest()


def test_the_canonical_text_has_one_line_per_row_and_report_field() -> None:
    lines = canonical_table(TABLE).splitlines()
    assert len(lines) == len(TABLE.rows) + len(TABLE.report)


def test_rows_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        ROW.name = "two"  # type: ignore[misc]
