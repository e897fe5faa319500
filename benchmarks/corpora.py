"""The lengths that the parts load: six real corpora and four synthetic ones.

Rules kept here:
1. A corpus is a list of true token counts with its provenance; nothing is fetched.
2. The synthetic ones have the coefficients of variation of the paper's four sets, exactly to two
   digits for any seed and count: quantiles are drawn, not samples.
3. `take` is the only way to another size, and is seeded.

`python -m benchmarks.corpora` prints the statistics of all of them.
"""

from __future__ import annotations

import json
import math
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import NormalDist

from .tables import show_table

DATA = Path(__file__).parent / "data"

REAL = (
    "chat_chitchat_chunks",
    "tool_bfcl",
    "chat_chitchat",
    "doc_linux",
    "doc_linux_raw",
    "mm_qwen3vl",
)
SYNTHETIC_COUNT = 4096
LENGTH_LIMIT = 16384


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Lengths in tokens, each at least 1, and where they come from."""

    name: str
    lengths: tuple[int, ...]
    source: str
    licence: str

    def __post_init__(self) -> None:
        if not self.lengths or min(self.lengths) < 1:
            raise ValueError(f"corpus {self.name!r} needs samples of at least one token each")

    @property
    def mean(self) -> float:
        """Tokens a sample."""
        return sum(self.lengths) / len(self.lengths)

    @property
    def variation(self) -> float:
        """The coefficient of variation: standard deviation over mean."""
        squares = sum(length * length for length in self.lengths) / len(self.lengths)
        return math.sqrt(max(0.0, squares - self.mean**2)) / self.mean

    def take(self, count: int, *, seed: int) -> Corpus:
        """`count` samples in seeded order; drawn with replacement where the corpus has fewer."""
        generator = random.Random(f"{self.name}/{seed}")
        if count <= len(self.lengths):
            drawn = generator.sample(self.lengths, count)
        else:
            drawn = generator.choices(self.lengths, k=count)
        return replace(self, lengths=tuple(drawn))

    def scaled(self, divisor: int) -> Corpus:
        """The same shape with lengths divided, at least 2: for models that run on a CPU."""
        return replace(self, lengths=tuple(max(2, length // divisor) for length in self.lengths))


@cache
def load(name: str) -> Corpus:
    """The corpus of this name. Raises ValueError, naming the known ones, if there is none."""
    if name in SYNTHETIC:
        return SYNTHETIC[name]()
    if name not in REAL:
        raise ValueError(f"there is no corpus {name!r}; known are {', '.join(NAMES)}")
    record = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    return Corpus(
        name=name,
        lengths=tuple(record["lengths"]),
        source=record["source"],
        licence=record["licence"],
    )


def log_normal(*, mean: float, variation: float, count: int) -> list[int]:
    """`count` equally likely quantiles of the log-normal distribution with this mean and CV."""
    spread = math.sqrt(math.log1p(variation**2))
    normal = NormalDist(math.log(mean) - spread**2 / 2, spread)
    return [_bounded(math.exp(normal.inv_cdf((i + 0.5) / count))) for i in range(count)]


def bimodal(
    *, short: float, long: float, long_share: float, variation: float, count: int
) -> list[int]:
    """Two log-normal modes, `long_share` of the samples in the upper one."""
    long_count = round(count * long_share)
    lower = log_normal(mean=short, variation=variation, count=count - long_count)
    return lower + log_normal(mean=long, variation=variation, count=long_count)


def _bounded(length: float) -> int:
    return min(LENGTH_LIMIT, max(8, round(length)))


def _synthetic(name: str, lengths: Sequence[int]) -> Corpus:
    shuffled = list(lengths)
    random.Random(name).shuffle(shuffled)
    return Corpus(name=name, lengths=tuple(shuffled), source="benchmarks/corpora.py", licence="-")


def _log_normal_corpus(name: str, mean: float, variation: float) -> Callable[[], Corpus]:
    return lambda: _synthetic(
        name, log_normal(mean=mean, variation=variation, count=SYNTHETIC_COUNT)
    )


SYNTHETIC: dict[str, Callable[[], Corpus]] = {
    "lognormal_cv029": _log_normal_corpus("lognormal_cv029", 1200.0, 0.29),
    "lognormal_cv048": _log_normal_corpus("lognormal_cv048", 1200.0, 0.48),
    # Modes at 500 and 2,060: the CV of their mixture is 0.80.
    "bimodal_cv080": lambda: _synthetic(
        "bimodal_cv080",
        bimodal(short=500.0, long=2060.0, long_share=0.3, variation=0.25, count=SYNTHETIC_COUNT),
    ),
    "lognormal_cv100": _log_normal_corpus("lognormal_cv100", 1200.0, 1.01),
}
NAMES = (*SYNTHETIC, *REAL)


def main() -> int:
    """Print one line a corpus."""
    rows = []
    for name in NAMES:
        corpus = load(name)
        rows.append(
            [
                name,
                f"{len(corpus.lengths):,}",
                f"{corpus.mean:,.0f}",
                f"{corpus.variation:.2f}",
                f"{sorted(corpus.lengths)[len(corpus.lengths) // 2]:,}",
                f"{max(corpus.lengths):,}",
            ]
        )
    show_table("corpora", ["name", "samples", "mean", "CV", "median", "max"], rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
