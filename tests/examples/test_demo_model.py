"""The demo's model: causal, blind to padding, finite without targets."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from examples.demo.conversations import IGNORED, PAD_ID
from examples.demo.model import DecoderOnly, build_model
from examples.demo.settings import DemoSettings


@pytest.fixture
def model() -> DecoderOnly:
    torch.manual_seed(0)
    return DecoderOnly(vocabulary_size=20, max_tokens=16, width=8, layers=2, heads=2)


def loss_of(model: DecoderOnly, ids: list[int], labels: list[int]) -> Tensor:
    loss: Tensor = model(torch.tensor([ids]), torch.tensor([labels]))
    return loss


def test_a_later_token_does_not_change_an_earlier_prediction(model: DecoderOnly) -> None:
    labels = [IGNORED, 5, 6, IGNORED, IGNORED]
    one, other = (loss_of(model, [4, 5, 6, *rest], labels) for rest in ([7, 8], [9, 3]))
    assert torch.allclose(one, other)


def test_padding_on_the_right_leaves_the_loss_alone(model: DecoderOnly) -> None:
    bare = loss_of(model, [4, 5, 6], [IGNORED, 5, 6])
    padded = loss_of(model, [4, 5, 6, PAD_ID, PAD_ID], [IGNORED, 5, 6, IGNORED, IGNORED])
    assert torch.allclose(bare, padded)


def test_a_batch_without_targets_has_loss_zero_and_reaches_every_parameter(
    model: DecoderOnly,
) -> None:
    loss = loss_of(model, [4, 5], [IGNORED, IGNORED])
    loss.backward()
    assert loss.item() == 0.0
    assert all(p.grad is not None and not p.grad.any() for p in model.parameters())


def test_equal_seeds_give_equal_weights() -> None:
    settings = DemoSettings(vocabulary_size=20, max_tokens=8, token_budget=8)
    one, other = build_model(settings).state_dict(), build_model(settings).state_dict()
    assert all(torch.equal(one[name], other[name]) for name in one)
