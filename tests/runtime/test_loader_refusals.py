"""Settings that are wrong are refused in the constructor; nothing has been started by then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from torch.utils.data import IterableDataset

from dgap.protocol.errors import ConfigError
from dgap.runtime import DynamicBatchLoader
from tests.runtime.leftovers import Leftovers
from tests.runtime.loading import Tokens, firsts, loader


class Stream(IterableDataset[Any]):
    def __iter__(self) -> Iterator[Any]:
        yield {"input_ids": [1]}


def cut(sample: Any, budget: int) -> Any:
    return {"input_ids": sample["input_ids"][:budget]}


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"token_budget": 0}, "token_budget must be an integer of at least 1, not 0"),
    ({"tokn_budget": 5}, "there is no setting 'tokn_budget'; did you mean 'token_budget'?"),
    ({"batch_size": 8}, "there is no setting 'batch_size'"),
    ({"on_over_budget": "truncate"}, "truncate_fn go together"),
    ({"truncate_fn": cut}, "truncate_fn go together"),
    ({"mode": "quota"}, "quota=<samples of all ranks together>"),
    ({"quota": 5}, "quota=<samples of all ranks together>"),
    ({"collate_fn": None}, "collate_fn must be a function, not None"),
    ({"cost_fn": "length"}, "cost_fn must be a function, not 'length'"),
    ({"dataset": Stream()}, "dataset must be map-style"),
    ({"dataset": 7}, "dataset must be map-style"),
    ({"sampler": iter([1])}, "sampler must have a length"),
    ({"num_workers": -1}, "num_workers must be an integer of at least 0"),
    ({"prefetch_factor": 2}, "prefetch_factor"),
    ({"multiprocessing_context": "spawn"}, "multiprocessing_context"),
    ({"num_workers": 1, "multiprocessing_context": "thread"}, "multiprocessing_context"),
    ({"num_workers": 1, "prefetch_factor": 0}, "prefetch_factor"),
    ({"tail": "stop", "accumulation_steps": 2}, 'use tail="idle"'),
]


@pytest.mark.parametrize(("settings", "words"), REFUSED, ids=[each[1] for each in REFUSED])
def test_a_wrong_setting_is_refused_before_anything_starts(
    settings: dict[str, Any], words: str
) -> None:
    with Leftovers(), pytest.raises(ConfigError) as caught:
        loader(**settings)
    assert words in str(caught.value)


def test_the_budget_must_be_given() -> None:
    with pytest.raises(ConfigError, match="token_budget=<tokens> is required"):
        DynamicBatchLoader(Tokens([1]), collate_fn=firsts)


@pytest.mark.parametrize("epoch", [-1, 1.0, True, "1", 2**62])
def test_an_epoch_that_is_no_number_of_an_epoch_is_refused(epoch: Any) -> None:
    made = loader()
    with pytest.raises(ConfigError, match="epoch must be an integer"):
        made.set_epoch(epoch)
    assert made.epoch == 0
