"""The arguments of a loader, checked before anything is made of them.

Rule kept here: a name or a combination that can only be wrong raises `ConfigError` at once, with
the nearest thing that would be right.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from torch.utils.data import IterableDataset

from dgap.protocol.errors import ConfigError

from .config import LoaderConfig


def build_config(settings: dict[str, Any]) -> LoaderConfig:
    """The settings as a `LoaderConfig`. Raises ConfigError for an unknown or missing name."""
    known = [field.name for field in fields(LoaderConfig)]
    for name in settings:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(known)}"
            raise ConfigError(f"there is no setting {name!r}{hint}")
    if "token_budget" not in settings:
        raise ConfigError("token_budget=<tokens> is required")
    return LoaderConfig(**settings)


def check_arguments(
    dataset: object,
    sampler: object,
    functions: Mapping[str, object],
    workers: tuple[object, object],
    config: LoaderConfig,
) -> None:
    """Raise ConfigError for arguments that can only be wrong. `functions` are named; None is none.

    A sampler must have a length (progress and the size of chunks need it); the data set needs
    one only where there is no sampler. `workers` are num_workers and prefetch_factor.
    """
    if isinstance(dataset, IterableDataset) or not hasattr(dataset, "__getitem__"):
        raise ConfigError(
            f"dataset must be map-style (__getitem__ and __len__), not {type(dataset).__name__}"
        )
    sized_name, sized = ("dataset", dataset) if sampler is None else ("sampler", sampler)
    if not hasattr(sized, "__len__"):
        raise ConfigError(f"{sized_name} must have a length (__len__): {type(sized).__name__}")
    num_workers, prefetch_factor = workers
    if prefetch_factor is not None and (type(prefetch_factor) is not int or prefetch_factor < 1):
        raise ConfigError(
            f"prefetch_factor must be an integer of at least 1, not {prefetch_factor!r}"
        )
    if type(num_workers) is not int or num_workers < 0:
        raise ConfigError(f"num_workers must be an integer of at least 0, not {num_workers!r}")
    for name, function in functions.items():
        if not callable(function) and not (function is None and name == "truncate_fn"):
            raise ConfigError(f"{name} must be a function, not {function!r}")
    if (config.on_over_budget == "truncate") != (functions["truncate_fn"] is not None):
        raise ConfigError('on_over_budget="truncate" and truncate_fn go together')
