"""dgap beside the reference and gmt: what the compared measures mean."""

from __future__ import annotations

import pytest

from benchmarks.corpora import load
from benchmarks.options import quick_options
from benchmarks.quality import beside, measure_defaults


def test_the_way_to_gmt_is_one_where_dgap_takes_as_few_steps() -> None:
    reference = {"steps": 200.0, "padding": 0.1, "rounds": 10.0, "metadata_bytes": 8000.0}
    oracle = {"steps": 100.0}
    measures = {"steps": 120.0, "padding": 0.04, "rounds": 5.0, "metadata_bytes": 400.0}
    assert beside(reference, measures, oracle) == pytest.approx(
        {
            "padding_over_reference": -0.06,
            "rounds_over_reference": 0.5,
            "metadata_share": 0.1,
            "way_to_gmt": 0.8,
        }
    )


def test_a_reference_that_did_not_end_is_not_compared() -> None:
    assert beside({"failed": 1.0}, {}, {}) == {}
    assert beside({}, {}, {}) == {}


@pytest.mark.parametrize("corpus", ["tool_bfcl"])
def test_the_defaults_are_measured_over_full_windows(corpus: str) -> None:
    rows = measure_defaults(load(corpus), 2, 16384, quick_options())
    found = {(row.kind, row.measure): row.median for row in rows}
    assert found["dgap", "long_coverage"] == 1
    assert found["dgap", "long_over_budget"] == 0
    assert found["dgap", "long_idle_share"] <= 0.01
    assert found["gmt", "long_padding"] < found["dgap", "long_padding"] < 0.06
