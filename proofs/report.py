"""The report of a run: verification.json.

Rules kept here:
1. Every check that was run has its row, in the order of the manifest, with what it rests on.
2. Numbers are those of this run; mutants are those of the committed matrix, which a check compares.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dgap.protocol.table import TABLE

from .assumed import assumptions_of
from .foreign import foreign_entries
from .kill_matrix import recorded
from .manifest import manifest
from .run import Result, passed
from .versions import versions


def as_json(results: Sequence[Result], seconds: float) -> dict[str, Any]:
    """Digest of the table, versions of the tools, a row for each check, mutants, foreign counts."""
    order = {check.id: index for index, check in enumerate(manifest())}
    ordered = sorted(results, key=lambda result: order.get(result.check.id, len(order)))
    return {
        "digest": TABLE.digest(),
        "versions": versions(),
        "seconds": round(seconds, 2),
        "verified": passed(results),
        "checks": [row_of(result) for result in ordered],
        "mutants": recorded().summary(),
        "foreign": foreign_entries(ordered),
    }


def row_of(result: Result) -> dict[str, Any]:
    """A check and its outcome. `cutoff` is the number of ranks that a proof names, 0 for others."""
    check, outcome = result.check, result.outcome
    return {
        "id": check.id,
        "property": check.property,
        "statement": check.statement,
        "class": result.reach,
        "scope": check.scope,
        "cutoff": outcome.cutoff if outcome else 0,
        "assumptions": list(assumptions_of(check)),
        "expected": str(check.expected),
        "verdict": str(outcome.verdict) if outcome else "skipped",
        "standing": str(result.standing),
        "seconds": round(result.seconds, 3),
        "detail": outcome.detail if outcome else "",
        "states": outcome.states if outcome else 0,
        "depth": outcome.depth if outcome else 0,
    }
