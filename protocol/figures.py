"""What a group costs and what its batch weighs: the two rules about figures that ranks share.

Rules kept here:
1. Each rule is an expression, as those of the table are: the runtime compiles it, the proofs
   translate it, and neither writes it down again.
2. Integers only. A weight is a fraction, numerator and denominator apart; whoever needs a float
   divides once.
3. The denominator is at least 1, also where nobody has a target: no weight is undefined.

Source: S7 and S8 of spec/laws.py. The weight of a batch is W x local / global targets, since DDP
and FSDP divide the sum over the ranks by W.
"""

from __future__ import annotations

from .expr import Term, larger
from .vocabulary import figure

PADDED_COST: Term = figure("size") * figure("largest")
"""Every sample is padded to the longest."""

PACKED_COST: Term = figure("total")
"""Samples lie end to end."""

WEIGHT_NUMERATOR: Term = figure("world_size") * figure("local_targets")
"""0 for an idle batch, which has no targets."""

WEIGHT_DENOMINATOR: Term = larger(figure("global_targets"), 1)
