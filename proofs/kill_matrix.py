"""The kill matrix: for every mutant of the table the check that kills it, or that none needs to.

Rules kept here:
1. Every mutant is accounted for: killed by a row of the manifest or proved equivalent. One that
   survives is a missing obligation.
2. The matrix is committed. A run makes it anew and compares; `make verify` does so for a fixed
   sample, and looks whether the matrix is of this very table.
3. The same killer every time: the first in a fixed order, not the first that a process finds.
"""

from __future__ import annotations

import json
import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dgap.protocol.table import TABLE

from .check import Check, Outcome, Reach, Verdict
from .kill import EQUIVALENT, SURVIVES, killer
from .mutants import Mutant, mutants

MATRIX = Path(__file__).with_name("kill_matrix.json")
PROCESS_COUNT = 2
SAMPLED_EVERY = 12
"""The check takes each mutant whose place is a multiple of this."""


@dataclass(frozen=True, kw_only=True)
class KillMatrix:
    """Killers by mutant, for the table with this digest."""

    digest: str
    killers: Mapping[str, str]

    def summary(self) -> dict[str, int]:
        """How many mutants there are, and what became of them."""
        count = len(self.killers)
        equivalent = sum(each == EQUIVALENT for each in self.killers.values())
        surviving = sum(each == SURVIVES for each in self.killers.values())
        return {
            "mutants": count,
            "killed": count - equivalent - surviving,
            "equivalent": equivalent,
            "surviving": surviving,
        }

    def by_killer(self) -> list[tuple[str, int]]:
        """How many mutants each check kills as the first, the most first."""
        found = Counter(self.killers.values())
        return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))


def recorded() -> KillMatrix:
    """The committed matrix."""
    content = json.loads(MATRIX.read_text())
    return KillMatrix(digest=content["digest"], killers=content["mutants"])


def record(killers: Mapping[str, str]) -> None:
    """Write the matrix."""
    content = {"digest": TABLE.digest(), "mutants": killers}
    MATRIX.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def merge(found: Mapping[str, str]) -> dict[str, str]:
    """What was found over what is recorded, for the mutants that there are, in their order."""
    known = {**(recorded().killers if MATRIX.exists() else {}), **found}
    return {mutant.id: known[mutant.id] for mutant in mutants() if mutant.id in known}


def killers_of(chosen: Sequence[Mutant]) -> Iterator[tuple[str, str]]:
    """Id and killer of each mutant, in order, found by several processes."""
    if len(chosen) < 2 * PROCESS_COUNT:
        yield from ((mutant.id, killer(mutant)) for mutant in chosen)
        return
    with multiprocessing.get_context("fork").Pool(PROCESS_COUNT) as pool:
        yield from zip((m.id for m in chosen), pool.imap(killer, chosen, 4), strict=True)


def chosen_by(prefix: str) -> tuple[Mutant, ...]:
    """The mutants whose id starts so."""
    return tuple(mutant for mutant in mutants() if mutant.id.startswith(prefix))


def differences(found: Mapping[str, str], matrix: KillMatrix) -> list[str]:
    """Where what was found is not what is recorded, or survives."""
    return [
        f"{id_}: {now}, recorded is {matrix.killers.get(id_, 'nothing')}"
        for id_, now in found.items()
        if now == SURVIVES or matrix.killers.get(id_) != now
    ]


def _covers() -> Outcome:
    """The matrix is of this table, names each of its mutants and no other; none survives."""
    matrix, ids = recorded(), {mutant.id for mutant in mutants()}
    defects = [f"no mutant has the id {each}" for each in matrix.killers if each not in ids]
    defects += [f"not in the matrix: {each}" for each in sorted(ids - set(matrix.killers))]
    defects += [f"survives: {id_}" for id_, by in matrix.killers.items() if by == SURVIVES]
    if matrix.digest != TABLE.digest():
        defects.append("the matrix is of another table: python -m dgap.proofs mutants --write")
    verdict = Verdict.REFUTED if defects else Verdict.PROVED
    detail = ", ".join(f"{count} {what}" for what, count in matrix.summary().items())
    return Outcome(verdict=verdict, detail=detail, trace=tuple(defects))


def _sample() -> Outcome:
    """A fixed part of the matrix, made anew in this process."""
    found = {mutant.id: killer(mutant) for mutant in mutants()[::SAMPLED_EVERY]}
    defects = differences(found, recorded())
    verdict = Verdict.REFUTED if defects else Verdict.PROVED
    return Outcome(verdict=verdict, detail=f"{len(found)} mutants", trace=tuple(defects))


def mutation_checks() -> tuple[Check, ...]:
    """The matrix is complete, and a sample of it is what a run finds."""

    def check(id: str, statement: str, run: Callable[[], Outcome]) -> Check:  # noqa: A002
        return Check(
            id=id,
            property="mutation",
            statement=statement,
            reach=Reach.ALL_RANKS,
            scope="every change of one thing in the table",
            expected=Verdict.PROVED,
            run=run,
        )

    return (
        check(
            "mutants.covered", "every mutant is killed or proved equivalent, as recorded", _covers
        ),
        check(
            "mutants.sample",
            f"every {SAMPLED_EVERY}th mutant is killed by the recorded check",
            _sample,
        ),
    )
