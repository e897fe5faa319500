"""What a training loop is told names the rank, the step, and what to do."""

from __future__ import annotations

from dgap.protocol.errors import BadBatch, DataError, PeerFailed, PeerStopped
from dgap.runtime.blame import Failure, nothing_to_lend, peer_failed, peer_stopped


def test_a_failed_peer_is_named_with_the_step_and_its_words() -> None:
    error = peer_failed(3, step=17, text="ValueError: broken file")
    assert type(error) is PeerFailed
    assert (error.rank, error.step) == (3, 17)
    for part in ("rank 3 failed", "step 17", "ValueError: broken file"):
        assert part in str(error)


def test_a_peer_that_left_is_named_with_the_step_and_the_remedy() -> None:
    error = peer_stopped(1, step=4)
    assert type(error) is PeerStopped
    assert (error.rank, error.step) == (1, 4)
    assert "rank 1 left early" in str(error)
    assert "Let all ranks leave at the same step" in str(error)


def test_a_dry_rank_raises_what_its_peers_are_told() -> None:
    failure = Failure.dry(2)
    assert type(failure.error) is DataError
    assert str(failure.error).startswith("rank 2: ")
    assert failure.text in str(failure.error)


def test_a_rank_that_cannot_lend_its_batch_is_named_with_the_setting_that_helps() -> None:
    error = nothing_to_lend(5)
    assert type(error) is BadBatch
    assert "rank 5" in str(error)
    assert "idle_batch=" in str(error)
