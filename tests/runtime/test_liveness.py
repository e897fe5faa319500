"""Signs of life over a store that the test controls: who is silent, and when."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from dgap.runtime.liveness import STORE_HOST, Liveness, open_store
from tests.runtime.leftovers import LIMIT_S, Leftovers

TIMEOUT_S = 0.2


class PaperStore:
    """A store whose peers' signs the test writes; it can be broken (fails) or stuck (blocks)."""

    def __init__(self) -> None:
        self.values: dict[str, int] = {}
        self.living: set[int] = set()
        self.broken = False
        self.stuck = False
        self.released = threading.Event()
        self.changed = threading.Condition()

    def add(self, key: str, amount: int) -> int:
        if self.stuck:
            self.released.wait(LIMIT_S)
        if self.broken:
            raise RuntimeError("connection refused")
        with self.changed:
            alive = any(key == f"sign/{peer}" for peer in self.living)
            self.values[key] = self.values.get(key, 0) + amount + alive
            self.changed.notify_all()
            return self.values[key]


@contextmanager
def watching(store: PaperStore, *, rank: int = 1, world_size: int = 3) -> Iterator[Liveness]:
    with Leftovers():
        liveness = Liveness(store, rank=rank, world_size=world_size, timeout_s=TIMEOUT_S)
        try:
            yield liveness
        finally:
            store.released.set()
            liveness.close()


def first_silence(liveness: Liveness) -> tuple[tuple[int, ...], float]:
    """Ask until somebody is silent; who, and how long after the first look."""
    started_s = time.monotonic()
    while time.monotonic() - started_s < LIMIT_S:
        if silent := liveness.silent_peers():
            return silent, time.monotonic() - started_s
    raise AssertionError("nobody was found silent")


def test_a_rank_gives_signs_of_life_though_nobody_asks_for_them() -> None:
    store = PaperStore()
    with watching(store, rank=1), store.changed:
        assert store.changed.wait_for(lambda: store.values.get("sign/1", 0) >= 3, LIMIT_S)


def test_a_peer_whose_sign_changes_is_never_silent() -> None:
    store = PaperStore()
    store.living = {0, 2}
    with watching(store) as liveness:
        until_s = time.monotonic() + 3 * TIMEOUT_S
        while time.monotonic() < until_s:
            assert liveness.silent_peers() == ()


def test_a_peer_whose_sign_stays_is_silent_after_the_timeout_and_not_before() -> None:
    store = PaperStore()
    store.living = {0}
    with watching(store) as liveness:
        silent, after_s = first_silence(liveness)
    assert silent == (2,)
    assert after_s > TIMEOUT_S


def test_a_peer_that_speaks_again_is_no_longer_silent() -> None:
    store = PaperStore()
    store.living = {0}
    with watching(store) as liveness:
        first_silence(liveness)
        store.living = {0, 2}
        assert liveness.silent_peers() == ()


def test_all_silent_peers_are_named() -> None:
    with watching(PaperStore()) as liveness:
        assert first_silence(liveness)[0] == (0, 2)


def test_the_host_is_named_when_the_store_is_gone() -> None:
    store = PaperStore()
    store.broken = True
    with watching(store) as liveness:
        assert liveness.silent_peers() == (STORE_HOST,)


def test_the_host_is_named_when_the_store_does_not_answer_and_asking_has_an_end() -> None:
    store = PaperStore()
    store.stuck = True
    with watching(store) as liveness:
        started_s = time.monotonic()
        assert liveness.silent_peers() == (STORE_HOST,)
        assert time.monotonic() - started_s < LIMIT_S / 2


@pytest.mark.parametrize("trouble", ["broken", "stuck"])
def test_the_host_does_not_name_itself(trouble: str) -> None:
    store = PaperStore()
    setattr(store, trouble, True)
    with watching(store, rank=STORE_HOST) as liveness:
        assert liveness.silent_peers() == ()


def test_asking_one_that_was_closed_returns_at_once() -> None:
    with Leftovers():
        liveness = Liveness(PaperStore(), rank=0, world_size=2, timeout_s=LIMIT_S)
        liveness.close()
        started_s = time.monotonic()
        assert liveness.silent_peers() == ()
        assert time.monotonic() - started_s < LIMIT_S / 2


def test_two_ranks_see_each_other_over_a_real_store() -> None:
    host = open_store(None, timeout_s=LIMIT_S)
    guest = open_store(("localhost", host.port), timeout_s=LIMIT_S)
    with Leftovers():
        pair = [
            Liveness(store, rank=rank, world_size=2, timeout_s=1.0)
            for rank, store in enumerate((host, guest))
        ]
        assert [each.silent_peers() for each in pair] == [(), ()]
        for each in pair:
            each.close()
    assert host.add("sign/0", 0) >= 1
    assert host.add("sign/1", 0) >= 1
