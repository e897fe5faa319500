"""What both processes of the demo must agree on: the launcher and the ranks it starts.

Two rules: values are checked when they are built, before any process starts; a rank gets them as
one JSON string, so that nothing has a second default elsewhere.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["fixed", "dgap"]
Fault = Literal["none", "dataset"]

KINDS: tuple[Kind, ...] = ("fixed", "dgap")
WORLD_SIZE = 2
# One worker a rank keeps up with the model many times over, and two cores are all we ask for.
NUM_WORKERS = 1


@dataclass(frozen=True, kw_only=True)
class DemoSettings:
    """Settings of one run; sizes in tokens count the true tokens of a conversation.

    Raises ValueError when a value cannot work, naming it.
    """

    samples: int = 1500  # conversations to train on, on all ranks together
    heldout_samples: int = 128  # conversations kept aside to measure the loss
    seed: int = 0  # of the selection, the order and the initial weights
    token_budget: int = 2048  # padded tokens in one batch on one rank
    max_tokens: int = 512  # a conversation is cut after this many
    vocabulary_size: int = 2048  # ids that the model knows, padding and unknown included
    fault: Fault = "none"  # "dataset": rank 1 cannot read one of its conversations
    output: Path = Path("runs/demo")

    def __post_init__(self) -> None:
        if self.samples < WORLD_SIZE or self.samples % WORLD_SIZE:
            raise ValueError(
                f"samples is {self.samples}; fixed batches keep {WORLD_SIZE} ranks in step only "
                f"with a positive multiple of {WORLD_SIZE} samples"
            )
        if self.heldout_samples < WORLD_SIZE:
            raise ValueError(f"heldout_samples is {self.heldout_samples}, below {WORLD_SIZE}")
        if self.token_budget < self.max_tokens:
            raise ValueError(
                f"token_budget is {self.token_budget}, below max_tokens {self.max_tokens}: "
                "not even a fixed batch of one would fit"
            )

    def to_json(self) -> str:
        """One line that `from_json` turns back into an equal value."""
        return json.dumps(asdict(self) | {"output": str(self.output)})

    @classmethod
    def from_json(cls, text: str) -> DemoSettings:
        """The value that `to_json` wrote; ValueError as for the constructor."""
        fields = json.loads(text)
        return cls(**(fields | {"output": Path(fields["output"])}))
