"""The batching loader: runs the transition table over torch.distributed."""

from dgap.protocol.errors import (
    CollectiveFailed,
    ConfigError,
    DataError,
    DgapError,
    PeerFailed,
    PeerStopped,
    RanksDiffer,
)

from .config import LoaderConfig
from .ledger import Ledger
from .loader import DynamicBatchLoader
from .sampler import ShardingSampler
from .step import Batch, Step

__all__ = [
    "Batch",
    "CollectiveFailed",
    "ConfigError",
    "DataError",
    "DgapError",
    "DynamicBatchLoader",
    "Ledger",
    "LoaderConfig",
    "PeerFailed",
    "PeerStopped",
    "RanksDiffer",
    "ShardingSampler",
    "Step",
]
