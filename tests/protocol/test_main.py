"""`python -m dgap.protocol` prints the page of the table."""

from __future__ import annotations

import runpy

import pytest

from dgap.protocol.diagram import reference_page
from dgap.protocol.table import TABLE


def test_the_page_of_the_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_module("dgap.protocol", run_name="__main__")
    assert capsys.readouterr().out == reference_page(TABLE)
