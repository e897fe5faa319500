"""Real conversations as training samples, tokenised at the moment they are read.

Three rules:
1. text and tokenizer come out of installed packages (`chitchat-dataset`, `mistral-common`);
   nothing is fetched;
2. a sample is tokenised inside `__getitem__`, in the worker: nobody knows what it costs before;
3. only the answering speaker is learnt: labels of all other tokens are IGNORED.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple, Protocol

import torch
from mistral_common.tokens.tokenizers.mistral import MistralTokenizer
from torch import Tensor
from torch.utils.data import Dataset

IGNORED = -100  # torch's own default for labels without a loss
PAD_ID = 0
UNKNOWN_ID = 1
RESERVED_IDS = 2

Sample = dict[str, Tensor]
Batch = dict[str, Tensor]


class Turn(NamedTuple):
    """What one speaker says before the other does."""

    answers: bool  # False for the speaker who opened the conversation
    text: str


Conversation = tuple[Turn, ...]


class Tokenizer(Protocol):
    """The part of mistral-common's tokenizer that we use."""

    @property
    def bos_id(self) -> int: ...

    @property
    def eos_id(self) -> int: ...

    def encode(self, s: str, bos: bool, eos: bool) -> list[int]: ...

    def get_special_token(self, s: str) -> int: ...


class UnreadableConversation(ValueError):
    """The planted fault: a conversation that one rank cannot read."""


@cache
def tokenizer() -> Tokenizer:
    """Mistral's Tekken tokenizer (131,072 ids), loaded once per process in about two seconds."""
    return MistralTokenizer.v3(is_tekken=True).instruct_tokenizer.tokenizer


def load_conversations() -> list[Conversation]:
    """All conversations in which both speakers say something, in the order of the package."""
    text = (files("chitchat_dataset") / "dataset.json").read_text(encoding="utf-8")
    parsed = (_parse(record["messages"]) for record in json.loads(text).values())
    return [turns for turns in parsed if {turn.answers for turn in turns} == {False, True}]


def _parse(messages: Sequence[Sequence[dict[str, str]]]) -> Conversation:
    opener = messages[0][0]["sender"] if messages and messages[0] else ""
    return tuple(
        Turn(lines[0]["sender"] != opener, "\n".join(line["text"] for line in lines))
        for lines in messages
        if lines
    )


def select(
    conversations: Sequence[Conversation], *, samples: int, heldout_samples: int, seed: int
) -> tuple[list[Conversation], list[Conversation]]:
    """Disjoint (training, held-out) parts drawn by `seed`; ValueError if there are too few."""
    if samples + heldout_samples > len(conversations):
        raise ValueError(
            f"{samples} + {heldout_samples} conversations asked for, {len(conversations)} exist"
        )
    drawn = random.Random(seed).sample(conversations, samples + heldout_samples)
    return drawn[:samples], drawn[samples:]


class Encoded(NamedTuple):
    """Token ids of one conversation and which of them are learnt; equally long."""

    ids: list[int]
    learnt: list[bool]


def encode(turns: Iterable[Turn], tokens: Tokenizer) -> Encoded:
    """Mistral's instruction format: `<s> [INST] opener [/INST] answer </s> [INST] ...`."""
    begin, end = (tokens.get_special_token(name) for name in ("[INST]", "[/INST]"))
    ids, learnt = [tokens.bos_id], [False]
    for turn in turns:
        text = tokens.encode(turn.text, bos=False, eos=False)
        piece = [*text, tokens.eos_id] if turn.answers else [begin, *text, end]
        ids += piece
        learnt += [turn.answers] * len(piece)
    return Encoded(ids, learnt)


def count_vocabulary(conversations: Iterable[Conversation], *, size: int) -> list[int]:
    """The `size - RESERVED_IDS` most frequent ids of the training part, most frequent first.

    A softmax over all 131,072 ids would take nearly all of the time on a CPU, so the demo renames
    the frequent ones and reads the rest as UNKNOWN_ID (about one token in ten at 2,048).
    """
    counts: Counter[int] = Counter()
    for turns in conversations:
        counts.update(encode(turns, tokenizer()).ids)
    by_frequency = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [token for token, _ in by_frequency[: size - RESERVED_IDS]]


def compact_ids(vocabulary: Sequence[int]) -> dict[int, int]:
    """Tokenizer id -> model id: RESERVED_IDS for the most frequent one, and so on."""
    return {token: index for index, token in enumerate(vocabulary, RESERVED_IDS)}


class ConversationSet(Dataset[Sample]):
    """Conversations as samples of three int64 tensors; see `__getitem__`.

    `fails_after_reads` plants the fault: the read after that many raises UnreadableConversation.
    Reads are counted in each worker by itself, so plant it with one worker.
    """

    def __init__(
        self,
        conversations: Sequence[Conversation],
        vocabulary: Sequence[int],
        *,
        max_tokens: int,
        encoder: Callable[[Conversation], Encoded] | None = None,
        fails_after_reads: int | None = None,
    ) -> None:
        self._conversations = conversations
        self._compact = compact_ids(vocabulary)
        self._max_tokens = max_tokens
        self._encoder = encoder
        self._fails_after_reads = fails_after_reads
        self._reads = 0

    def __len__(self) -> int:
        return len(self._conversations)

    def __getitem__(self, index: int) -> Sample:
        """`input_ids` [L], `labels` [L] (IGNORED where not learnt), `conversation` [] = `index`."""
        if self._reads == self._fails_after_reads:
            raise UnreadableConversation(f"conversation {index} cannot be read (a planted fault)")
        self._reads += 1
        turns = self._conversations[index]
        encoded = self._encoder(turns) if self._encoder else encode(turns, tokenizer())
        ids = [self._compact.get(token, UNKNOWN_ID) for token in encoded.ids[: self._max_tokens]]
        labels = [
            token if learnt else IGNORED for token, learnt in zip(ids, encoded.learnt, strict=False)
        ]
        return {
            "input_ids": torch.tensor(ids),
            "labels": torch.tensor(labels),
            "conversation": torch.tensor(index),
        }


def collate(samples: Sequence[Sample]) -> Batch:
    """Pads `input_ids` and `labels` on the right to [n, longest]; `conversation` becomes [n].

    With causal attention a token never sees what stands to its right: no mask is needed.
    """
    longest = max(len(sample["input_ids"]) for sample in samples)
    input_ids = torch.full((len(samples), longest), PAD_ID)
    labels = torch.full((len(samples), longest), IGNORED)
    for row, sample in enumerate(samples):
        input_ids[row, : len(sample["input_ids"])] = sample["input_ids"]
        labels[row, : len(sample["labels"])] = sample["labels"]
    conversation = torch.stack([sample["conversation"] for sample in samples])
    return {"input_ids": input_ids, "labels": labels, "conversation": conversation}
