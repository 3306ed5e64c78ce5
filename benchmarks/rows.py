"""Tiles whose rows are filled up to whole beats, as words and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from axiloom.isa.contract.words import Words, pack, unpack
from axiloom.isa.numerics import Numerics


def pack_rows(elements: npt.NDArray[Any], kind: Numerics, rows: int, words: int) -> Words:
    """As :func:`pack`, into `words` words: each index of the first `rows` dims is filled up with zeros."""
    count = int(np.prod(elements.shape[:rows], dtype=int))
    if not count:
        return np.zeros(0, dtype=np.uint32)
    lines = elements.reshape(count, -1)
    whole = np.zeros((count, words // count * kind.per_word), dtype=kind.numpy)
    whole[:, : lines.shape[1]] = lines
    return pack(whole, kind)


def unpack_rows(words: Words, kind: Numerics, shape: tuple[int, ...], rows: int) -> npt.NDArray[Any]:
    """The tile of `shape` whose words these are; the reverse of :func:`pack_rows`."""
    count = int(np.prod(shape[:rows], dtype=int))
    lines = unpack(words, kind, (count, -1))
    return lines[:, : int(np.prod(shape[rows:], dtype=int))].reshape(shape)
