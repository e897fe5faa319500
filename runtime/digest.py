"""A digest of what samples contain, to catch ranks that read the same data (first round).

Two rules: equal contents give equal digests in any process (no hash order, no addresses); and
what cannot be looked into never makes two digests equal, it makes them 0, "cannot tell". A
refusal for nothing would be worse than a missed mistake.
"""

from __future__ import annotations

import ctypes
import hashlib
import struct
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import torch

# The report carries it as a non-negative int64 with a bit to spare.
DIGEST_SIZE_BITS = 62

# Limits of the walk; a sample that goes beyond drags some object graph along.
DEPTH_LIMIT = 16
NODE_COUNT_LIMIT = 100_000


class _CannotTellError(Exception):
    """Something in the sample hides its contents."""


def content_digest(samples: Iterable[object]) -> int:
    """A number in [1, 2**62) that depends on the contents of the samples and their order only.

    0 when it cannot tell: no samples, an object without readable contents (no `__dict__`), a
    tensor that is sparse or on another device, or more than NODE_COUNT_LIMIT values. Tensors,
    arrays, strings, bytes, numbers, None, and mappings, sequences and objects of these are read.
    """
    walk = _Walk()
    try:
        count = 0
        for sample in samples:
            walk.add(sample, 0)
            count += 1
        if count == 0:
            return 0
    except _CannotTellError:
        return 0
    number = int.from_bytes(walk.hash.digest(), "big") % (1 << DIGEST_SIZE_BITS)
    return number or 1


class _Walk:
    """Feeds values to the hash, each with a tag and a length, so that no two read alike."""

    def __init__(self) -> None:
        self.hash = hashlib.blake2b(digest_size=8)
        self.node_count = 0

    def add(self, value: Any, depth: int) -> None:
        self.node_count += 1
        if depth > DEPTH_LIMIT or self.node_count > NODE_COUNT_LIMIT:
            raise _CannotTellError
        if value is None or isinstance(value, (bool, int)):
            self._write("int", repr(value).encode())
        elif isinstance(value, float):
            self._write("float", struct.pack("<d", value))
        elif isinstance(value, str):
            self._write("str", value.encode("utf-8", "surrogatepass"))
        elif isinstance(value, (bytes, bytearray)):
            self._write("bytes", bytes(value))
        elif isinstance(value, torch.Tensor):
            self._add_tensor(value)
        elif isinstance(value, Mapping):
            self._add_items(value, list(value.items()), depth)
        elif isinstance(value, (list, tuple)):
            self._add_items(value, list(enumerate(value)), depth)
        else:
            self._add_object(value, depth)

    def _add_items(self, owner: object, items: list[tuple[Any, Any]], depth: int) -> None:
        self._write(type(owner).__qualname__, str(len(items)).encode())
        for key, value in items:
            self.add(key, depth + 1)
            self.add(value, depth + 1)

    def _add_tensor(self, tensor: torch.Tensor) -> None:
        if tensor.layout is not torch.strided or not tensor.is_cpu or tensor.is_nested:
            raise _CannotTellError
        flat = tensor.detach().resolve_conj().resolve_neg().contiguous()
        size_bytes = flat.numel() * flat.element_size()
        contents = ctypes.string_at(flat.data_ptr(), size_bytes) if size_bytes else b""
        self._write(f"{tensor.dtype} {list(tensor.shape)}", contents)

    def _add_object(self, value: Any, depth: int) -> None:
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
            if value.dtype.hasobject:
                raise _CannotTellError
            self._write(f"{value.dtype.str} {list(value.shape)}", value.tobytes())
            return
        attributes = getattr(value, "__dict__", None)
        if not isinstance(attributes, dict) or isinstance(value, type):
            raise _CannotTellError
        self._add_items(value, sorted(attributes.items()), depth)

    def _write(self, tag: str, contents: bytes) -> None:
        self.hash.update(f"{tag}:{len(contents)}:".encode())
        self.hash.update(contents)
