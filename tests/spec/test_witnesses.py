"""Each witness is asked for by some property or stands for a kind of run of its own."""

from __future__ import annotations

from dgap.spec.properties import PROPERTIES
from dgap.spec.witnesses import WITNESSES

ON_ITS_OWN = {
    "a_stop_reaches_a_peer",
    "an_iterator_ends_early",
    "the_ranks_are_refused",
    "an_idle_batch_is_trained_on",
    "as_many_rounds_as_samples_allow",
    "as_many_rounds_as_shares_allow",
}


def test_every_witness_is_wanted() -> None:
    wanted = {each.witness for each in PROPERTIES}
    assert {each.id for each in WITNESSES} == wanted | ON_ITS_OWN


def test_a_witness_is_named_as_a_sentence_and_says_what_it_shows() -> None:
    assert all("_" in each.id and each.statement for each in WITNESSES)
