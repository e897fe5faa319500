"""What the launcher prepares once for all ranks: the text of both parts, and the vocabulary.

Only text is kept, not tokens: ranks tokenise while they train, which is the point.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from .conversations import Conversation, Turn, count_vocabulary, load_conversations, select
from .settings import DemoSettings


class Prepared(NamedTuple):
    """Training and held-out conversations, and tokenizer ids from the most frequent on."""

    train: Sequence[Conversation]
    heldout: Sequence[Conversation]
    vocabulary: Sequence[int]


def prepare(settings: DemoSettings) -> Prepared:
    """Draws both parts and counts the vocabulary on the training part, in a few seconds."""
    train, heldout = select(
        load_conversations(),
        samples=settings.samples,
        heldout_samples=settings.heldout_samples,
        seed=settings.seed,
    )
    return Prepared(train, heldout, count_vocabulary(train, size=settings.vocabulary_size))


def save(prepared: Prepared, path: Path) -> None:
    """Writes JSON that `load` reads back."""
    path.write_text(json.dumps(prepared._asdict()), encoding="utf-8")


def load(path: Path) -> Prepared:
    """What `save` wrote, as equal values."""
    fields = json.loads(path.read_text(encoding="utf-8"))
    train, heldout = (
        [tuple(Turn(answers, text) for answers, text in turns) for turns in fields[part]]
        for part in ("train", "heldout")
    )
    return Prepared(train, heldout, fields["vocabulary"])
