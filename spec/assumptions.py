"""The ledger of assumptions A1..A9: what is taken for granted, and who notices when it is not so.

Each assumption has a monitor: the error of `dgap.protocol.errors` that is raised at run time when
it fails. `test` names the test that trips the monitor; `unnoticed` says what the monitor misses.

Which checks rest on an assumption is computed: from the hypotheses that a proof needs, and from the
rows of the environment (`rows`) that an exploration has. What neither can carry is said in
`by_construction`; an assumption that no check needs says in `only_monitored` why.
"""

from __future__ import annotations

from dataclasses import dataclass

from dgap.protocol.errors import (
    BadCost,
    BrokenAssumption,
    CollectiveFailed,
    DgapError,
    MalformedReport,
    RanksDiffer,
    SampleChanged,
)


@dataclass(frozen=True, kw_only=True)
class Assumption:
    """One line of the ledger."""

    id: str
    statement: str
    monitor: type[DgapError]
    modelled: str
    rows: tuple[str, ...] = ()
    by_construction: str = ""
    only_monitored: str = ""
    test: str
    unnoticed: str = ""


ASSUMPTIONS: tuple[Assumption, ...] = (
    Assumption(
        id="A1",
        statement="a collective returns the same values to all that return, and only after all "
        "have entered; the ranks enter the collectives of a loader in the same order",
        monitor=MalformedReport,
        modelled="gather_complete and sum_complete in environment.py; entering and leaving apart",
        rows=("gathered", "refuse", "summed"),
        test="tests/runtime/test_transport.py::test_a_gather_that_brings_other_words_than_were_sent_ends_the_epoch",
        unnoticed="a peer's words that arrive otherwise on one rank than on another: the ranks "
        "then take different verdicts, and hang, or die in Gloo, or raise CollectiveFailed; only "
        "the traces of all ranks, replayed together, show the gather in which it happened",
    ),
    Assumption(
        id="A2",
        statement="the world size is fixed; a crash becomes an error of the next collective",
        monitor=CollectiveFailed,
        modelled="rows crash, break and train_breaks in environment.py",
        rows=("crash", "break", "train_breaks"),
        by_construction="every proof for all W: ranks are one sort that nobody joins or leaves",
        test="tests/runtime/test_rendezvous.py::test_a_rank_that_never_comes_is_not_waited_for_for_ever",
    ),
    Assumption(
        id="A3",
        statement="sources are finite, or the pass is bounded by a quota; a source holds what its "
        "length promises",
        monitor=SampleChanged,
        modelled="the field `source` of the environment",
        rows=("read", "exhaust"),
        test="tests/runtime/test_loader_samples.py::test_a_data_set_whose_length_lies_is_an_error_that_says_so",
    ),
    Assumption(
        id="A4",
        statement="the training loop keeps consuming or closes its iterator; a loop that leaves "
        "alone does not leave its peers waiting in a training collective",
        monitor=CollectiveFailed,
        modelled="rows take, train and leave in environment.py, and `absent`",
        rows=("take", "train", "finish", "leave"),
        test="tests/laws/test_leaving.py::test_a_loop_that_stays_in_an_epoch_that_a_peer_has_left_is_an_error_there",
        unnoticed="a loop that only pauses: that is no fault, so its peers wait for as long as it "
        "does, and what waits in a training collective is ended by that collective's timeout",
    ),
    Assumption(
        id="A5",
        statement="a cost is an integer of at least 1",
        monitor=BadCost,
        modelled="every sample in the window can be offered; costs do not occur",
        test="tests/runtime/test_sample.py::test_anything_else_is_refused_with_index_and_value",
    ),
    Assumption(
        id="A6",
        statement="all ranks run the same table under the same settings",
        monitor=RanksDiffer,
        modelled="one table and one Settings per world; the field `unlike` for the refusal",
        rows=("gathered", "refuse"),
        test="tests/protocol/test_codec.py::test_another_setting_is_refused_by_name_with_both_values",
    ),
    Assumption(
        id="A7",
        statement="counts stay below 2**63",
        monitor=MalformedReport,
        modelled="integers are unbounded in the model",
        by_construction="every proof for all W: its integers have no bound",
        test="tests/protocol/test_codec.py::test_a_word_out_of_bounds_is_refused_with_rank_and_field",
    ),
    Assumption(
        id="A8",
        statement="nobody else uses the loader's process group",
        monitor=MalformedReport,
        modelled="the collectives of environment.py are the loader's alone",
        rows=("gathered", "refuse", "summed"),
        by_construction="every check that rests on A1: a stranger could enter in a rank's place",
        test="tests/protocol/test_codec.py::test_a_report_of_another_length_is_refused",
    ),
    Assumption(
        id="A9",
        statement="grouping is deterministic: stable sort, integers only, no clock, no hash order",
        monitor=BrokenAssumption,
        modelled="any grouping is allowed, so no property here needs it; replay does",
        only_monitored="the proofs allow any grouping and the explorer tries them all",
        test="tests/laws/test_laws_over_processes.py::test_spawn_and_fork_give_the_same_epochs",
    ),
)
