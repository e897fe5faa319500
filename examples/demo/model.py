"""A small decoder-only transformer put together from torch's own layers.

Two rules: weights start small, as tied embeddings need (with torch's default the softmax
underflows into denormal numbers, which CPUs multiply many times slower); the loss is a mean over
the targets of this batch and finite also when there is none.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from .conversations import IGNORED, PAD_ID
from .settings import DemoSettings

INITIAL_DEVIATION = 0.02


class DecoderOnly(nn.Module):
    """Causal language model of 0.7 million parameters with the defaults."""

    def __init__(
        self,
        *,
        vocabulary_size: int,
        max_tokens: int,
        width: int = 128,
        layers: int = 2,
        heads: int = 4,
    ) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary_size, width, padding_idx=PAD_ID)
        self.positions = nn.Embedding(max_tokens, width)
        layer = nn.TransformerEncoderLayer(
            width,
            heads,
            4 * width,
            dropout=0.0,
            activation="gelu",
            batch_first=True,
            norm_first=True,
        )
        self.blocks = nn.TransformerEncoder(
            layer, layers, norm=nn.LayerNorm(width), enable_nested_tensor=False
        )
        for embedding in (self.tokens, self.positions):
            nn.init.normal_(embedding.weight, std=INITIAL_DEVIATION)

    def forward(self, input_ids: Tensor, labels: Tensor) -> Tensor:
        """Mean loss over the targets; `input_ids` and `labels` are [n, L], unshifted.

        0 with a graph through every parameter when no label counts. Logits are computed for the
        targets alone, so padding costs attention and layers here, but no softmax: that is to the
        advantage of the fixed batches.
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


def build_model(settings: DemoSettings) -> DecoderOnly:
    """The model with initial weights that depend on the seed alone."""
    torch.manual_seed(settings.seed)
    return DecoderOnly(vocabulary_size=settings.vocabulary_size, max_tokens=settings.max_tokens)
