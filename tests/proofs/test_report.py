"""The report has a row for every check, with all that a reader asks of it."""

from __future__ import annotations

import json

from dgap.proofs.manifest import manifest
from dgap.proofs.report import as_json, row_of
from dgap.proofs.run import Result, run_check
from dgap.protocol.table import TABLE

CHECKS = {check.id: check for check in manifest()}
FIELDS = {
    *("id", "property", "statement", "class", "scope", "cutoff", "assumptions", "expected"),
    *("verdict", "standing", "seconds", "detail", "states", "depth"),
}


def test_a_proof_says_how_many_ranks_it_names_and_what_it_rests_on() -> None:
    row = row_of(run_check(CHECKS["coverage.join"]))
    assert set(row) == FIELDS
    assert row["cutoff"] == 2
    assert row["assumptions"] == ["A1", "A2", "A3", "A4", "A6", "A7", "A8"]
    assert row["verdict"] == row["expected"] == "proved"


def test_the_report_is_in_the_order_of_the_manifest_and_names_all_tools() -> None:
    results = [Result(check=CHECKS[id_], outcome=None) for id_ in ("age.read", "table.shape")]
    report = json.loads(json.dumps(as_json(results, 1.234)))
    assert [row["id"] for row in report["checks"]] == ["table.shape", "age.read"]
    assert {row["verdict"] for row in report["checks"]} == {"skipped"}
    assert report["digest"] == TABLE.digest()
    assert {"esbmc", "tlc", "java"} <= set(report["versions"])
    assert (report["seconds"], report["verified"]) == (1.23, False)
    assert set(report) == {
        *("digest", "versions", "seconds", "verified", "checks", "mutants", "foreign"),
    }
