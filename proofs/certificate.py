"""Instantiation certificates: for each obligation the hypotheses that suffice, by name.

Rules kept here:
1. A certificate is words: the goal, and names of ground instances. The instances themselves are
   built anew from the table, so that a certificate cannot hold a wrong one.
2. One text file for each check, in the folder `certificates`; obligations with the same goal and
   the same instances stand above one block. Reading gives back what was written.
3. An instance that is one of the assumptions A1..A9 says so, in braces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby, product
from pathlib import Path

from dgap.protocol.expr import Formula
from dgap.protocol.transition import Table

from .asking import Claim, Obligation
from .hypothesis import Instance, in_words, shortened
from .invariant_world import invariant
from .parametric import NUMBER
from .terms import Rank

FOLDER = Path(__file__).with_name("certificates")
LONGEST_GOAL = 300
"""Characters of a goal; a longer one is cut, and ends with a checksum of the whole."""

_GOAL = "  goal: "
_MARKED = re.compile(r"  (?P<name>.*?)(?: \{(?P<ids>A\d(?:, A\d)*)\})?")


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """What the obligation with this name follows from; no instance where its goal always holds."""

    obligation: str
    goal: str
    instances: tuple[Instance, ...]


def named_obligations(claim: Claim) -> dict[str, Obligation]:
    """The obligations by name; of those with one name the second is called `name (2)`.

    Their goals are read, so that the hypotheses of their scenes are all there.
    """
    found: dict[str, Obligation] = {}
    for each in claim.obligations():
        each.term()
        number = sum(key == each.name or key.startswith(f"{each.name} (") for key in found)
        name = f"{each.name} ({number + 1})" if number else each.name
        if name in found:
            raise ValueError(f"{claim.id} has two obligations named {name!r}; rename one")
        found[name] = each
    return found


def goal_of(obligation: Obligation) -> str:
    """The goal in words: that of a conjunct by its name."""
    scene = obligation.scene
    named = _conjunct_names(scene.table, scene.ranks).get(obligation.goal)
    text = named or shortened(in_words(obligation.goal), LONGEST_GOAL)
    return f"{text}, after the action" if obligation.after else text


@cache
def _conjunct_names(table: Table, ranks: tuple[Rank, ...]) -> Mapping[Formula, str]:
    return {
        each.formula(*chosen, *([NUMBER] if each.numbered else [])): f"invariant.{each.name} at "
        + ", ".join(rank.name for rank in chosen)
        for each in invariant(table)
        for chosen in product(ranks, repeat=each.ranks)
    }


def path_of(id_: str, folder: Path = FOLDER) -> Path:
    """Where the certificates of a check are."""
    return folder / f"{id_}.txt"


def recorded(id_: str, folder: Path = FOLDER) -> tuple[Certificate, ...]:
    """The committed certificates of a check; none where it has no file."""
    path = path_of(id_, folder)
    return tuple(read(path.read_text())) if path.exists() else ()


def write(title: str, certificates: Sequence[Certificate]) -> str:
    """The text of a file: a title, then a block for each goal with its instances."""
    blocks = [title]
    for _, group in groupby(_together(certificates), key=_content):
        same = list(group)
        lines = [each.obligation for each in same]
        lines.append(_GOAL + same[0].goal)
        lines += [_line(each) for each in same[0].instances]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _content(certificate: Certificate) -> Certificate:
    return replace(certificate, obligation="")


def _together(certificates: Iterable[Certificate]) -> Iterator[Certificate]:
    """Those with the same content beside each other, in the order of the first of them."""
    groups: dict[Certificate, list[Certificate]] = {}
    for each in certificates:
        groups.setdefault(_content(each), []).append(each)
    for group in groups.values():
        yield from group


def _line(instance: Instance) -> str:
    ids = ", ".join(instance.assumptions)
    return f"  {instance.name} {{{ids}}}" if ids else f"  {instance.name}"


def read(text: str) -> Iterator[Certificate]:
    """The certificates in the text of a file. Raises ValueError for what was not written here."""
    for block in text.strip().split("\n\n")[1:]:
        lines = block.split("\n")
        names = [line for line in lines if not line.startswith("  ")]
        rest = lines[len(names) :]
        if not names or not rest or not rest[0].startswith(_GOAL):
            raise ValueError(f"no certificate starts like this: {block[:80]!r}")
        instances = tuple(_instance(line) for line in rest[1:])
        for name in names:
            yield Certificate(
                obligation=name, goal=rest[0].removeprefix(_GOAL), instances=instances
            )


def _instance(line: str) -> Instance:
    found = _MARKED.fullmatch(line)
    if found is None:
        raise ValueError(f"no instance is written like this: {line!r}")
    ids = found["ids"]
    return Instance(name=found["name"], assumptions=tuple(ids.split(", ")) if ids else ())
