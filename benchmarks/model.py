"""A small decoder-only transformer out of torch's own layers, for the end-to-end part.

Weights start small, as tied embeddings need; the loss is a mean over the targets of the batch.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from .samples import IGNORED, PAD_ID, Batch

INITIAL_DEVIATION = 0.02


@dataclass(frozen=True, kw_only=True)
class ModelSize:
    """About 1.5 million parameters with these defaults and 1,024 positions."""

    vocabulary_size: int = 512
    max_tokens: int = 1024
    width: int = 192
    layers: int = 3
    heads: int = 4


class DecoderOnly(nn.Module):
    """Causal language model; `forward` takes a batch and returns its loss."""

    def __init__(self, size: ModelSize) -> None:
        super().__init__()
        self.tokens = nn.Embedding(size.vocabulary_size, size.width, padding_idx=PAD_ID)
        self.positions = nn.Embedding(size.max_tokens, size.width)
        layer = nn.TransformerEncoderLayer(
            size.width,
            size.heads,
            4 * size.width,
            dropout=0.0,
            activation="gelu",
            batch_first=True,
            norm_first=True,
        )
        self.blocks = nn.TransformerEncoder(
            layer, size.layers, norm=nn.LayerNorm(size.width), enable_nested_tensor=False
        )
        for embedding in (self.tokens, self.positions):
            nn.init.normal_(embedding.weight, std=INITIAL_DEVIATION)

    def forward(self, input_ids: Tensor, labels: Tensor) -> Tensor:
        """Mean loss over the targets; both are [n, L], labels unshifted.

        Padding costs attention and layers, but no softmax: logits are made for targets alone.
        """
        length = input_ids.shape[1]
        hidden = self.tokens(input_ids) + self.positions.weight[:length]
        mask = nn.Transformer.generate_square_subsequent_mask(length, device=input_ids.device)
        hidden = self.blocks(hidden, mask=mask, is_causal=True)[:, :-1]
        targets = labels[:, 1:]
        counted = targets != IGNORED
        logits = hidden[counted] @ self.tokens.weight.T
        total: Tensor = functional.cross_entropy(logits, targets[counted], reduction="sum")
        loss: Tensor = total / max(1, int(counted.sum())) + 0.0 * hidden.sum()
        return loss


def new_model(size: ModelSize, *, seed: int, device: str) -> DecoderOnly:
    """The model with initial weights that depend on the seed alone."""
    torch.manual_seed(seed)
    return DecoderOnly(size).to(device)


def target_count(batch: Batch) -> int:
    """Labels that are learnt: the first of a row never is."""
    return int((batch["labels"][:, 1:] != IGNORED).sum())
