"""ResNet18's convolutions for an engine that stands alone: sizes, tiles of conv_v4, words of opcodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.types import SendDim
from benchmarks.rows import pack_rows


@dataclass(frozen=True)
class Layer:
    """A square convolution, padded so that at stride 1 the result is as large as the image.

    `size`: rows and columns of the image without padding.
    """

    size: int
    ic: int
    taps: int
    oc: int
    stride: int

    @classmethod
    def named(cls, name: str) -> Self:
        """``iHW_iC_fHW_oC_stride``, iHW with its padding: as in :mod:`benchmarks.paper.fig16`."""
        padded, ic, taps, oc, stride = map(int, name.split("_"))
        return cls(padded - 2 * (taps // 2), ic, taps, oc, stride)

    @property
    def pad(self) -> int:
        return self.taps // 2

    @property
    def out(self) -> int:
        """Rows and columns of O."""
        return (self.size + 2 * self.pad - self.taps) // self.stride + 1

    @property
    def dims(self) -> dict[str, int]:
        """All dims and settings, but for where the image is cut."""
        values = {"oc": self.oc, "oh": self.out, "ow": self.out, "ic": self.ic, "dh": 1, "dw": 1}
        return values | {"fh": self.taps, "fw": self.taps, "sh": self.stride, "sw": self.stride}

    def rows(self, tile: Mapping[str, int], first: int) -> dict[str, int]:
        """`tile` with its row 0 at row `first` of O: what it sees of the image, from row ih0 on."""
        high = min(tile["oh"], self.out - first)
        start = first * self.stride - self.pad
        low, end = max(start, 0), min(start + (high - 1) * self.stride + self.taps, self.size)
        return {**tile, "oh": high, "ih0": low, "ih": end - low, "pt": low - start}


def largest_tile(spec: AcceleratorSpec, layer: Layer) -> dict[str, int]:
    """Sizes of conv_v4's largest tile: the whole depth if it fits, all columns, as many rows as can be, then
    channels."""
    rows, _ = spec.array
    values = layer.dims | {"pt": layer.pad, "pl": layer.pad, "iw": layer.size}
    for depth in (layer.ic >> shift for shift in range(layer.ic.bit_length())):
        for high in range(layer.out, 0, -1):
            # In the middle it sees the most rows, none of them padding.
            seen = min(layer.size, (high - 1) * layer.stride + layer.taps)
            values |= {"ic": depth, "oh": high, "ih": seen}
            for channels in range(min(layer.oc, 8 * rows), 0, -rows):
                values["oc"] = channels
                shapes = {o: tuple(values[d] for d in spec.data[o]) for o in spec.data}
                if all(spec.held_words(o, shape) <= spec.buffers[o] for o, shape in shapes.items()):
                    return values
    raise ValueError(f"no tile of {layer} fits {spec.name}")


def opcode(
    spec: AcceleratorSpec, name: str, values: Mapping[str, int], tile: np.ndarray | None = None
) -> np.ndarray:
    """The words of an opcode."""
    words = [spec.opcodes[name].literal]
    for action in spec.opcodes[name].host:
        if isinstance(action, SendDim):
            words.append(sum(values[field.dim] << field.shift for field in action.fields))
    words += [0] * (-len(words) % spec.link.beat_words)
    head = np.array(words, dtype=np.uint32)
    if tile is None:
        return head
    operand = spec.opcodes[name].sends[0]
    count = spec.words_of(operand, tile.shape)
    return np.concatenate([head, pack_rows(tile, spec.data_type, spec.form.rows.get(operand, 0), count)])
