"""A training loop on dgap, to copy: toy data, a tiny model, runs in seconds.

    torchrun --standalone --nproc-per-node 2 examples/train_loop.py

The ten lines that matter are in `main`, from the loader down.
"""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset

from dgap.runtime import DynamicBatchLoader

VOCABULARY_SIZE = 64
Sample = dict[str, Tensor]


class Ramps(Dataset[Sample]):
    """501 rising sequences of 4 to 60 tokens; what one costs is known only when it is made."""

    def __len__(self) -> int:
        return 501  # odd, so that the two ranks hold different numbers of samples

    def __getitem__(self, index: int) -> Sample:
        length = 4 + index * index % 57
        ids = (index + torch.arange(length)) % VOCABULARY_SIZE
        return {"input_ids": ids[:-1], "labels": ids[1:]}


def collate(samples: list[Sample]) -> Sample:
    return {
        "input_ids": pad_sequence([s["input_ids"] for s in samples], batch_first=True),
        "labels": pad_sequence([s["labels"] for s in samples], True, padding_value=-100),
    }


class TinyModel(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Embedding(VOCABULARY_SIZE, 32), nn.Linear(32, VOCABULARY_SIZE)
        )

    def forward(self, input_ids: Tensor, labels: Tensor) -> Tensor:
        logits = self.layers(input_ids).flatten(0, 1)
        return nn.functional.cross_entropy(logits, labels.flatten())


def main() -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = DistributedDataParallel(TinyModel())
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)

    loader = DynamicBatchLoader(Ramps(), token_budget=512, collate_fn=collate, num_workers=2)
    for epoch in range(3):
        loader.set_epoch(epoch)
        for batch, step in loader.steps():
            loss = model(**batch) * step.weight  # exact mean over the targets of all ranks
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            if step.index % 10 == 0 and dist.get_rank() == 0:
                print(
                    f"epoch {epoch} step {step.index:3d} loss {loss.item():.3f} "
                    f"samples {step.global_samples}"
                )

    loader.close()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
