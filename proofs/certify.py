"""Finding certificates: which hypotheses of an obligation suffice, none of them superfluous.

Rules kept here:
1. A certificate is minimal: without any one of its instances Z3 no longer finds the goal.
2. Hypotheses that are assumptions are the last resort: where the goal follows without them, none
   is named, and where it does not, they are the first that are tried to be left out.
3. What is recorded and still good stays: a new version of the solver does not rewrite it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from .asking import Claim, Obligation
from .certificate import (
    FOLDER,
    Certificate,
    goal_of,
    named_obligations,
    path_of,
    recorded,
    write,
)
from .hypothesis import Instance
from .parametric import Scene
from .solver import Z3, Switched


class NotFound(ValueError):
    """The goal of an obligation was not found to follow from its hypotheses."""


class _Search:
    """The hypotheses of one scene, asked again and again."""

    def __init__(self, scene: Scene) -> None:
        self.instances = list(scene.instances)
        self.switched = Switched([each.term for each in scene.instances.values()])
        self.places = {each: place for place, each in enumerate(self.instances)}

    def minimal(self, goal: Z3, known: Sequence[Instance]) -> list[int] | None:
        """Places of hypotheses of which none can be left out, those known before if they do."""
        core = self._start(goal, known)
        if core is None:
            return None
        for place in sorted(core, key=lambda each: (not self.instances[each].assumptions, each)):
            if place in core:
                less = self.switched.core(goal, [each for each in core if each != place])
                core = core if less is None else less
        return core

    def _start(self, goal: Z3, known: Sequence[Instance]) -> list[int] | None:
        everything = range(len(self.instances))
        chosen = [self.places[each] for each in known if each in self.places]
        proved = [place for place in everything if not self.instances[place].assumptions]
        for places in (chosen, proved, everything):
            core = self.switched.core(goal, places)
            if core is not None:
                return core
        return None


def certificates_of(claim: Claim) -> tuple[Certificate, ...]:
    """One for each obligation, in order. Raises NotFound."""
    known = {each.obligation: each for each in recorded(claim.id)}
    searches: dict[int, _Search] = {}
    return tuple(
        _certificate(claim, name, obligation, known, searches)
        for name, obligation in named_obligations(claim).items()
    )


def _certificate(
    claim: Claim,
    name: str,
    obligation: Obligation,
    known: Mapping[str, Certificate],
    searches: dict[int, _Search],
) -> Certificate:
    scene = obligation.scene  # kept alive by its obligation, so its id stays its own
    if id(scene) not in searches:
        searches[id(scene)] = _Search(scene)
    search = searches[id(scene)]
    before = known[name].instances if name in known else ()
    core = search.minimal(obligation.term(), before)
    if core is None:
        raise NotFound(f"{claim.id}: {name} does not follow from its hypotheses")
    instances = tuple(search.instances[place] for place in core)
    return Certificate(obligation=name, goal=goal_of(obligation), instances=instances)


def text_of(claim: Claim) -> str:
    """The file of a check's certificates. Raises NotFound."""
    return write(f"{claim.id}: {claim.statement}", certificates_of(claim))


def rewrite(claims: Sequence[Claim], *, save: bool) -> Iterator[str]:
    """The ids of checks whose certificates are not as recorded; with `save` they are recorded."""
    for claim in claims:
        path, text = path_of(claim.id), text_of(claim)
        if not path.exists() or path.read_text() != text:
            yield claim.id
            if save:
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)


def remove_all_but(ids: Sequence[str], folder: Path = FOLDER) -> None:
    """Remove the certificates of checks that there are no longer."""
    for path in folder.glob("*.txt"):
        if path.stem not in ids:
            path.unlink()
