"""Rules about torch and randomness: public names only, nothing patched, nothing unseeded."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.architecture.imports import imported
from tests.architecture.source import Defect, Rule, SourceFile, dotted, in_packages, python_file

# They draw from torch's global generator unless told otherwise.
TORCH_DRAWS = frozenset("bernoulli multinomial normal rand randint randn randperm".split())
TORCH_SEEDS = frozenset({"manual_seed", "seed", "set_rng_state"})


def names_from(tree: ast.Module, library: str) -> dict[str, str]:
    """What each name bound by an import of `library` stands for: {"dist": "torch.distributed"}."""
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == library:
                    bound[alias.asname or library] = alias.name if alias.asname else library
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            if node.module.split(".")[0] == library:
                for alias in node.names:
                    bound[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return bound


def _full_name(node: ast.expr, bound: dict[str, str]) -> str:
    """The dotted name with its first part resolved; "" if it is not of the library."""
    first, _, rest = dotted(node).partition(".")
    if first not in bound:
        return ""
    return f"{bound[first]}.{rest}" if rest else bound[first]


def _is_private(name: str) -> bool:
    return any(part.startswith("_") and not part.endswith("__") for part in name.split("."))


def private_torch(file: SourceFile) -> Iterator[Defect]:
    """Private names of torch change without notice, between any two releases."""
    for line, level, name in imported(file.tree):
        if level == 0 and name.split(".")[0] == "torch" and _is_private(name):
            yield line, f"{name} is private"
    bound = names_from(file.tree, "torch")
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            name = _full_name(node, bound)
            if name and _is_private(name):
                yield node.lineno, f"{name} is private"
        elif isinstance(node, ast.Call) and dotted(node.func) == "getattr" and len(node.args) > 1:
            if _full_name(node.args[0], bound) and ast.unparse(node.args[1]).startswith("'_"):
                yield node.lineno, f"{ast.unparse(node)} is private"


def patched_torch(file: SourceFile) -> Iterator[Defect]:
    """Whoever else uses torch in this process must find it unchanged."""
    bound = names_from(file.tree, "torch")
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            name = _full_name(node, bound)
            if name:
                yield node.lineno, f"{name} is assigned to"


def unseeded_random(file: SourceFile) -> Iterator[Defect]:
    """What the module-level functions of random return depends on who called them before."""
    bound = names_from(file.tree, "random")
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Call):
            name = _full_name(node.func, bound)
            seeded = name == "random.Random" and (node.args or node.keywords)
            if name and not seeded:
                yield node.lineno, f"{name}() is not seeded here"


def global_generator(file: SourceFile) -> Iterator[Defect]:
    """Torch's global generator belongs to the user: neither drawn from nor seeded."""
    bound = names_from(file.tree, "torch")
    for node in ast.walk(file.tree):
        if not isinstance(node, ast.Call):
            continue
        name = _full_name(node.func, bound).removeprefix("torch.")
        given = any(keyword.arg == "generator" for keyword in node.keywords)
        if name in TORCH_SEEDS or (name in TORCH_DRAWS and not given):
            yield node.lineno, f"torch.{name}() uses the global generator"


_TORCH = "import torch\n"

RULES = (
    Rule(
        name="public torch only",
        remedy="compose public APIs; what they cannot do, the user is told",
        applies_to=python_file,
        check=private_torch,
        bad=(
            ("runtime/a.py", f"{_TORCH}torch.distributed._get_default_store()\n"),
            ("runtime/a.py", "import torch.distributed as dist\ndist._world\n"),
            ("runtime/a.py", "from torch import distributed\nx = distributed.c10d._x\n"),
            ("runtime/a.py", "from torch._utils import ExceptionWrapper\n"),
            ("runtime/a.py", "from torch.utils.data import _utils\n"),
            ("runtime/a.py", "from torch.utils import data\nclass A(data._Iterator): ...\n"),
            ("runtime/a.py", f"{_TORCH}getattr(torch, '_C')\n"),
        ),
        good=(
            ("runtime/a.py", f"{_TORCH}torch.__version__\nself._x\ntorch.nn.Linear\n"),
            ("runtime/a.py", "from torch import distributed as dist\ndist.all_reduce\n"),
        ),
    ),
    Rule(
        name="nothing of torch is patched",
        remedy="pass what you need as an argument, or compose instead",
        applies_to=in_packages,
        check=patched_torch,
        bad=(
            ("runtime/a.py", "from torch.utils.data import DataLoader\nDataLoader.x = 1\n"),
            ("runtime/a.py", f"{_TORCH}torch.distributed.x += 1\n"),
        ),
        good=(("runtime/a.py", f"{_TORCH}self.x = torch.ones(1)\n"),),
    ),
    Rule(
        name="seeded randomness",
        remedy="draw from random.Random(seed) and print the seed",
        applies_to=python_file,
        check=unseeded_random,
        bad=(
            ("tests/a.py", "import random\nrandom.shuffle(x)\n"),
            ("tests/a.py", "import random\nrandom.Random()\n"),
            ("runtime/a.py", "from random import choice\nchoice(x)\n"),
        ),
        good=(("tests/a.py", "import random\nrng = random.Random(7)\nrng.shuffle(x)\n"),),
    ),
    Rule(
        name="the global generator is the user's",
        remedy="pass generator=torch.Generator().manual_seed(seed)",
        applies_to=in_packages,
        check=global_generator,
        bad=(
            ("runtime/a.py", f"{_TORCH}torch.randperm(3)\n"),
            ("runtime/a.py", f"{_TORCH}torch.manual_seed(3)\n"),
        ),
        good=(
            ("runtime/a.py", f"{_TORCH}torch.randperm(3, generator=g)\n"),
            ("runtime/a.py", f"{_TORCH}g = torch.Generator().manual_seed(3)\n"),
            ("tests/a.py", f"{_TORCH}torch.manual_seed(3)\n"),
        ),
    ),
)
