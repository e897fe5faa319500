"""The wheel holds exactly the tree, and works where nothing else is installed."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.architecture.source import PACKAGES, ROOT


def run(*command: str, cwd: Path) -> str:
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, check=False, timeout=180
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the wheel is made of, with the caches that a user's tree has too.

    Building in place would leave a `build` folder whose stale files the next wheel picks up.
    """
    copy = tmp_path_factory.mktemp("tree")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy / name)
    for package in PACKAGES:
        shutil.copytree(ROOT / package, copy / package)
        (copy / package / "__pycache__").mkdir(exist_ok=True)
        (copy / package / "__pycache__" / "planted.pyc").touch()
    return copy


@pytest.fixture(scope="module")
def wheel(tree: Path) -> Path:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    run(*command, "--no-build-isolation", "--wheel-dir", "out", ".", cwd=tree)
    (built,) = (tree / "out").glob("dgap-*.whl")
    return built


def test_the_wheel_holds_exactly_the_files_of_the_four_packages(wheel: Path, tree: Path) -> None:
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    expected = {
        f"dgap/{path.relative_to(tree)}"
        for package in PACKAGES
        for path in (tree / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    remedy = "add the suffix to [tool.setuptools.package-data]"
    assert expected - packed == set(), f"not in the wheel; {remedy}"
    assert packed - expected == set(), "in the wheel but not in the tree"


def test_each_package_is_marked_as_typed(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {f"dgap/{package}/py.typed" for package in PACKAGES} <= set(names)


@pytest.mark.parametrize("package", ["protocol", "spec"])
def test_the_pure_packages_import_where_nothing_else_is_installed(
    wheel: Path, package: str, tmp_path: Path
) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    modules = [
        f"dgap.{package}.{path.stem}"
        for path in sorted((tmp_path / "dgap" / package).glob("*.py"))
        if path.stem not in ("__init__", "__main__")
    ]
    program = (
        "import importlib, sys; sys.path.insert(0, sys.argv[1])\n"
        "modules = [importlib.import_module(name) for name in sys.argv[2:]]\n"
        "print(*{module.__file__ for module in modules}, sep='\\n')"
    )
    # -I: no environment, no current folder; -S: no site-packages, so the standard library alone.
    command = [sys.executable, "-I", "-S", "-c", program, str(tmp_path)]
    files = run(*command, f"dgap.{package}", *modules, cwd=tmp_path).split()
    assert len(files) == len(modules) + 1
    assert all(file.startswith(str(tmp_path)) for file in files)


def test_the_wheel_puts_no_bare_package_into_site_packages(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    tops = {path.name for path in tmp_path.iterdir() if not path.name.endswith(".dist-info")}
    assert tops == {"dgap"}
