"""Turning conversations into samples: roles, labels, compact ids, padding."""

from __future__ import annotations

import pickle

import pytest
import torch

from examples.demo.conversations import (
    IGNORED,
    PAD_ID,
    RESERVED_IDS,
    UNKNOWN_ID,
    Conversation,
    ConversationSet,
    Encoded,
    Turn,
    UnreadableConversation,
    collate,
    compact_ids,
    encode,
    select,
)

BOS, EOS, BEGIN, END = 1, 2, 3, 4


class LetterTokenizer:
    """One id a letter, so that expected ids can be read off the text."""

    bos_id = BOS
    eos_id = EOS

    def encode(self, s: str, bos: bool, eos: bool) -> list[int]:
        assert not bos
        assert not eos
        return [ord(letter) for letter in s]

    def get_special_token(self, s: str) -> int:
        return {"[INST]": BEGIN, "[/INST]": END}[s]


def encode_letters(turns: Conversation) -> Encoded:
    return encode(turns, LetterTokenizer())


TALK = (Turn(False, "hi"), Turn(True, "yo"), Turn(False, "k"))


def letters(*conversations: Conversation, known: str, max_tokens: int = 99) -> ConversationSet:
    vocabulary = [BOS, EOS, BEGIN, END, *map(ord, known)]
    return ConversationSet(conversations, vocabulary, max_tokens=max_tokens, encoder=encode_letters)


def test_the_opener_is_an_instruction_and_only_the_answer_is_learnt() -> None:
    ids, learnt = encode_letters(TALK)
    assert ids == [BOS, BEGIN, *b"hi", END, *b"yo", EOS, BEGIN, *b"k", END]
    assert [i for i, counts in zip(ids, learnt, strict=True) if counts] == [*b"yo", EOS]


def test_frequent_ids_are_renamed_in_order_after_the_reserved_ones() -> None:
    assert compact_ids([70, 50, 60]) == {70: RESERVED_IDS, 50: RESERVED_IDS + 1, 60: 4}


def test_a_rare_id_becomes_the_unknown_one_and_keeps_its_place() -> None:
    sample = letters(TALK, known="hiy")[0]
    compact = sample["input_ids"].tolist()
    assert compact[6] == UNKNOWN_ID  # the o of "yo"
    assert compact[5] != UNKNOWN_ID
    assert sample["labels"].tolist()[5:8] == compact[5:8]
    assert PAD_ID not in compact


def test_a_long_conversation_is_cut_and_its_labels_with_it() -> None:
    sample = letters(TALK, known="hiyok", max_tokens=6)[0]
    assert sample["input_ids"].shape == sample["labels"].shape == (6,)


def test_a_batch_is_as_long_as_its_longest_sample_and_ignores_padding() -> None:
    short: Conversation = (Turn(False, "h"), Turn(True, "y"))
    dataset = letters(TALK, short, known="hiyok")
    samples = [dataset[0], dataset[1]]
    batch = collate(samples)
    length = len(samples[1]["input_ids"])
    assert batch["input_ids"].shape == batch["labels"].shape == (2, len(samples[0]["input_ids"]))
    assert torch.equal(batch["input_ids"][1, :length], samples[1]["input_ids"])
    assert (batch["input_ids"][1, length:] == PAD_ID).all()
    assert (batch["labels"][1, length:] == IGNORED).all()
    assert batch["conversation"].tolist() == [0, 1]
    assert all(tensor.dtype == torch.int64 for tensor in batch.values())


def test_the_planted_fault_comes_after_the_promised_number_of_reads() -> None:
    dataset = ConversationSet(
        [TALK] * 3, [], max_tokens=9, encoder=encode_letters, fails_after_reads=2
    )
    dataset[2], dataset[1]
    with pytest.raises(UnreadableConversation, match="conversation 0 "):
        dataset[0]


def test_a_data_set_can_be_sent_to_a_spawned_worker() -> None:
    dataset = ConversationSet([TALK], [BOS], max_tokens=9)
    assert len(pickle.loads(pickle.dumps(dataset))) == 1


def test_the_two_parts_are_disjoint_and_depend_on_the_seed_alone() -> None:
    pool: list[Conversation] = [(Turn(False, str(i)),) for i in range(50)]
    train, heldout = select(pool, samples=30, heldout_samples=10, seed=3)
    assert (len(train), len(heldout), len({*train, *heldout})) == (30, 10, 40)
    assert select(pool, samples=30, heldout_samples=10, seed=3) == (train, heldout)
    assert select(pool, samples=30, heldout_samples=10, seed=4) != (train, heldout)


def test_asking_for_more_conversations_than_there_are_is_refused() -> None:
    with pytest.raises(ValueError, match="3 \\+ 3 conversations asked for, 5 exist"):
        select([()] * 5, samples=3, heldout_samples=3, seed=0)
