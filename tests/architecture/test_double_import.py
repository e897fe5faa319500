"""No module is ever loaded twice, as `protocol.x` beside `dgap.protocol.x`.

Two copies of one module have two copies of each class: an error raised by one is not caught by the
name from the other, and enum members stop being identical. (That no file writes such an import is
the rule "one name per module".)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.architecture.source import PACKAGES, ROOT

# Imports what it is told to, then names each file that is loaded under two names.
PROBE = """
import importlib, json, os, sys
for name in json.loads(sys.argv[1]):
    importlib.import_module(name)
names = {}
for name, module in list(sys.modules.items()):
    path = getattr(module, "__file__", None)
    if path and name != "__main__":
        names.setdefault(os.path.realpath(path), []).append(name)
inside = [path for path in names if path.startswith(sys.argv[2] + os.sep)]
ours = [path for path in inside if "site-packages" not in path]  # .venv stands in the repository
print(json.dumps([names[path] for path in ours if len(names[path]) > 1]))
"""


def loaded_twice(modules: list[str], import_paths: list[Path]) -> list[list[str]]:
    """The names of each file of this repository that importing `modules` loads more than once."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, json.dumps(modules), str(ROOT)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, import_paths))},
        cwd=ROOT / ".ci",
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    pairs: list[list[str]] = json.loads(done.stdout)
    return pairs


def all_modules() -> list[str]:
    return [
        f"dgap.{package}" + "".join(f".{part}" for part in path.parts if part != "__init__")
        for package in PACKAGES
        for file in sorted((ROOT / package).rglob("*.py"))
        if (path := file.relative_to(ROOT / package).with_suffix("")).name != "__main__"
    ]


def test_importing_all_of_dgap_loads_no_file_twice() -> None:
    import_root = ROOT / ".ci" / "import_root"
    assert loaded_twice(all_modules(), [import_root, ROOT]) == []


def test_a_second_name_for_a_module_is_found() -> None:
    import_root = ROOT / ".ci" / "import_root"
    pairs = loaded_twice(["dgap.protocol.errors", "protocol.errors"], [import_root, ROOT])
    assert ["dgap.protocol.errors", "protocol.errors"] in pairs


def test_there_is_no_package_above_the_four() -> None:
    remedy = "delete it: dgap is a namespace, and a file there would hide the four packages"
    assert not (ROOT / ".ci" / "import_root" / "dgap" / "__init__.py").exists(), remedy
