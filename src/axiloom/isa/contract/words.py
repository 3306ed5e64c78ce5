"""Elements to stream words and back: lowest element in the lowest bits of a 32-bit word."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from axiloom.isa.numerics import Numerics

Words = npt.NDArray[np.uint32]
_WORD = np.dtype("<u4")


def pack(elements: npt.NDArray[Any], kind: Numerics) -> Words:
    """The words of a tile, row major: uint32, shape (elements.size / kind.per_word,).

    `elements` are those of a host array (``kind.numpy``); integers that do not fit wrap. Their number must be
    a multiple of ``kind.per_word``.
    """
    little = np.ascontiguousarray(elements).astype(kind.numpy.newbyteorder("<"))
    return little.reshape(-1).view(_WORD).astype(np.uint32)


def unpack(words: Words, kind: Numerics, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """The tile of `shape` whose words these are; the reverse of :func:`pack`."""
    little = np.ascontiguousarray(words, dtype=_WORD).view(kind.numpy.newbyteorder("<"))
    return little.astype(kind.numpy).reshape(shape)
