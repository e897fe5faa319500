"""constraints.txt pins, exactly, all that `make setup` installs."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.architecture.source import ROOT

PIN = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*==[0-9][0-9a-z.]*")
# What a CUDA build of torch brings along; torch pins these itself.
PINNED_BY_TORCH = re.compile(r"(nvidia|cuda)-.*|triton")


def pin_lines() -> list[str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def pins() -> dict[str, str]:
    return dict(line.split("==") for line in pin_lines())


def inexact(lines: Iterable[str]) -> list[str]:
    return [line for line in lines if not PIN.fullmatch(line)]


def installed_extras() -> list[str]:
    """The extras that the Makefile installs."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    found = re.search(r"-e '\.\[([a-z,]+)\]'", makefile)
    assert found, "the Makefile no longer installs '.[extra,...]'"
    return found.group(1).split(",")


def direct_requirements() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    texts = list(project["dependencies"])
    for extra in installed_extras():
        texts += project["optional-dependencies"][extra]
    return [Requirement(text) for text in texts]


def all_requirements() -> set[str]:
    """The names of all distributions that setup installs, read from what is installed here."""
    todo = [(each.name, each.extras) for each in direct_requirements()]
    seen: set[str] = set()
    while todo:
        name, extras = todo.pop()
        if canonicalize_name(name) in seen or PINNED_BY_TORCH.fullmatch(name):
            continue
        seen.add(canonicalize_name(name))
        for requirement in map(Requirement, metadata.requires(name) or ()):
            marker = requirement.marker
            if marker is None or any(marker.evaluate({"extra": e}) for e in ("", *extras)):
                todo.append((requirement.name, requirement.extras))
    return seen


def test_every_line_is_one_exact_pin() -> None:
    assert inexact(pin_lines()) == [], "write name==version, in lower case with hyphens"


@pytest.mark.parametrize(
    "line", ["torch>=2.4", "torch", "torch==2.*", "Torch==2.13.0", "torch==2.13.0+cpu", "a==1,<2"]
)
def test_an_inexact_line_is_found(line: str) -> None:
    assert inexact([line]) == [line]


def test_pins_are_sorted_and_named_once() -> None:
    names = [line.split("==")[0] for line in pin_lines()]
    assert names == sorted(set(names))


def test_every_pin_satisfies_what_pyproject_asks_for() -> None:
    pinned = pins()
    for requirement in direct_requirements():
        version = pinned[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), f"{requirement} against {version}"


def test_all_that_setup_installs_is_pinned_and_nothing_else_is() -> None:
    required, pinned = all_requirements(), set(pins())
    assert required - pinned == set(), "add a pin"
    assert pinned - required == set(), "nothing needs this pin: delete it"


def test_the_tests_run_with_the_pinned_versions() -> None:
    for name, version in pins().items():
        installed = Version(metadata.version(name)).public
        assert installed == version, f"{name} {installed} is installed: run make setup"
