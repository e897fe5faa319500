"""The assembled engine has the settings, the share and the place of its rank."""

from __future__ import annotations

from dgap.protocol.machine import Machine
from dgap.protocol.vocabulary import Phase
from dgap.runtime.assembly import new_engine
from dgap.runtime.config import LoaderConfig
from dgap.runtime.ledger import Ledger
from dgap.runtime.requests import Gather, Pull, SourceSignal


def test_an_engine_starts_with_its_first_window_and_its_share_of_the_quota() -> None:
    config = LoaderConfig(token_budget=10, window=8, first_window=2, mode="quota", quota=5)
    machine = Machine(config.settings())
    states = [
        new_engine(
            machine, config, epoch=0, rank=rank, world_size=3, collate=list, ledger=Ledger()
        ).state
        for rank in range(3)
    ]
    assert [state.remaining for state in states] == [2, 2, 1]
    assert [state.target for state in states] == [2, 2, 2]
    assert {state.phase for state in states} == {Phase.FILL}


def test_ranks_of_different_epochs_introduce_themselves_differently() -> None:
    config = LoaderConfig(token_budget=10)
    machine = Machine(config.settings())
    words = []
    for epoch in (0, 0, 1):
        run = new_engine(
            machine, config, epoch=epoch, rank=0, world_size=2, collate=list, ledger=Ledger()
        ).run()
        assert isinstance(next(run), Pull)
        request = run.send(SourceSignal.ENDED)
        assert isinstance(request, Gather)
        words.append(request.words)
    assert words[0] == words[1]
    assert words[0] != words[2]
