"""The command line that all parts share: how much is measured, of what, and where it is written.

Rule kept here: every size is an option, with two sets of defaults, full and `--quick`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from .corpora import NAMES


@dataclass(frozen=True, kw_only=True)
class Options:
    """Sizes of a part. What a part has no use for, it does not look at."""

    samples: int = 1500
    rounds: int = 3
    corpora: tuple[str, ...] = NAMES
    kinds: tuple[str, ...] = ()
    """Empty: all that the part knows."""
    worlds: tuple[int, ...] = (1, 2)
    budgets: tuple[int, ...] = (16384,)
    windows: tuple[int, ...] = ()
    """Empty: each kind's own default, or the part's list."""
    workers: int = 2
    seed: int = 0
    output: Path = Path("runs/bench")
    quick: bool = False

    def __post_init__(self) -> None:
        for name in ("samples", "rounds", "workers"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1")
        for name in ("worlds", "budgets", "windows"):
            if any(value < 1 for value in getattr(self, name)):
                raise ValueError(f"every one of {name} must be at least 1")
        unknown = [name for name in self.corpora if name not in NAMES]
        if unknown:
            raise ValueError(f"no corpus {', '.join(unknown)}; known are {', '.join(NAMES)}")

    def sizes(self) -> dict[str, Any]:
        """Everything but the place of the output, as plain data."""
        return {name: value for name, value in asdict(self).items() if name != "output"}


def parse(
    arguments: Sequence[str], *, part: str, purpose: str, full: Options, quick: Options
) -> Options:
    """Options of `python -m benchmarks.<part>`; exits with a message if they cannot work."""
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks.{part}",
        description=purpose,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="small sizes: does it run?")
    for field in fields(Options):
        if field.name in ("quick", "output"):
            continue
        default = getattr(full, field.name)
        many = isinstance(default, tuple)
        parser.add_argument(
            f"--{field.name}",
            type=str if field.name in ("corpora", "kinds") else int,
            nargs="+" if many else None,
            default=None,
            help=f"default {' '.join(map(str, default)) if many else default}",
        )
    parser.add_argument("--output", type=Path, default=None)
    chosen = vars(parser.parse_args(arguments))
    base = replace(quick if chosen.pop("quick") else full)
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in chosen.items()
        if value is not None
    }
    try:
        return replace(base, **given)
    except ValueError as error:
        parser.error(str(error))


def quick_options(**sizes: Any) -> Options:
    """Defaults for `--quick`, of which a part changes what it must."""
    small: dict[str, Any] = {
        "samples": 200,
        "rounds": 1,
        "corpora": ("lognormal_cv048", "bimodal_cv080"),
        "quick": True,
    }
    return Options(**small | sizes)
