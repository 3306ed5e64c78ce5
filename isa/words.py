"""Elements to stream words and back: lowest element in the lowest bits of a 32-bit word."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from axiloom.isa.types import DataType

Words = npt.NDArray[np.uint32]
_WORD = np.dtype("<u4")


def pack(elements: npt.NDArray[np.integer], kind: DataType) -> Words:
    """The words of a tile, row major: uint32, shape (elements.size / kind.per_word,).

    Values that do not fit `kind` wrap. The number of elements must be a multiple of ``kind.per_word``.
    """
    little = np.ascontiguousarray(elements).astype(kind.numpy.newbyteorder("<"))
    return little.reshape(-1).view(_WORD).astype(np.uint32)


def unpack(words: Words, kind: DataType, shape: tuple[int, ...]) -> npt.NDArray[np.signedinteger]:
    """The tile of `shape` whose words these are; the reverse of :func:`pack`."""
    little = np.ascontiguousarray(words, dtype=_WORD).view(kind.numpy.newbyteorder("<"))
    return little.astype(kind.numpy).reshape(shape)
