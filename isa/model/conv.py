"""The functional models of convolutions: of an image tile that the device walks over, and of one window.

Each product is added to what O holds so far: channels ascending, of each channel the taps row by row, from
compute to compute. Where sums are rounded (:attr:`axiloom.isa.numerics.Numerics.associative`), this is the
order that counts.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import Opcode
from axiloom.isa.model.device import Device, DeviceError, StopError
from axiloom.isa.numerics import Numerics, Values


class ImageDevice(Device):
    """O[oc,oh,ow] += sum of F[oc,ic,fh,fw] I'[ic, oh sh + fh dh - pt, ow sw + fw dw - pl]; I' is 0 outside I.

    Sizes are set a few at a time, so whether a tile fits its buffer is looked at when it is used. Strides,
    dilations and padding are those of the moment of the compute.
    """

    def __init__(self, spec: AcceleratorSpec) -> None:
        super().__init__(spec)
        self._sum: Values | None = None  # (oc, oh, ow); None while O is cleared

    def compute(self, opcode: Opcode) -> None:
        image, filters = self.inputs(opcode)
        self.fits("O")
        if self._sum is None:
            self._sum = self.kind.accumulator.zeros(self.shape("O"))
        self.same_shape(opcode, "O", self._sum)
        self._sum = convolution(self.kind, self._sum, image, filters, self.sizes)

    def put(self, values: Values) -> None:
        self._sum = values

    def save(self) -> None:
        raise NotImplementedError  # refused by the check

    def clear(self) -> None:
        self._sum = None

    def result(self, opcode: Opcode) -> tuple[Values, int]:
        if self._sum is None:
            self.fits("O")
            return self.kind.accumulator.zeros(self.shape("O")), 0
        self.same_shape(opcode, "O", self._sum)
        return self._sum, 0


class WindowDevice(Device):
    """The result in hand += the dot product of F and I; `save` begins the next, a store sends those saved."""

    def __init__(self, spec: AcceleratorSpec) -> None:
        super().__init__(spec)
        self._saved: list[Values] = []
        self._sum = self._zeros()

    def compute(self, opcode: Opcode) -> None:
        window, filters = self.inputs(opcode)
        self._room(opcode)
        self._sum = self.kind.dot(self._sum, filters.reshape(1, -1), window.reshape(-1, 1))

    def put(self, values: Values) -> None:
        raise NotImplementedError  # refused by the check

    def save(self) -> None:
        self._room(None)
        self._saved.append(self._sum)
        self._sum = self._zeros()

    def clear(self) -> None:
        self._saved, self._sum = [], self._zeros()

    def result(self, opcode: Opcode) -> tuple[Values, int]:
        saved = np.concatenate([self.kind.accumulator.zeros((1, 0)), *self._saved], axis=1)
        return saved.reshape(1, 1, -1), 0

    def _zeros(self) -> Values:
        return self.kind.accumulator.zeros((1, 1))

    def _room(self, opcode: Opcode | None) -> None:
        capacity = self.spec.buffers["O"]
        if len(self._saved) >= capacity:
            name = opcode.name if opcode else "save"
            why = f"{name}: {capacity} results are saved, and the buffer of O holds no more"
            raise StopError(DeviceError.BAD_DIMS, why)


def convolution(
    kind: Numerics, sums: Values, image: Values, filters: Values, sizes: Mapping[str, int]
) -> Values:
    """`sums` (oc, oh, ow) plus the products of an image (ic, ih, iw) and filters (oc, ic, fh, fw) of `kind`.

    ``O[oc, oh, ow] += sum F[oc, ic, fh, fw] * I'[ic, oh * sh + fh * dh - pt, ow * sw + fw * dw - pl]``, where
    I' is 0 outside of the image. `sizes` has oh, ow and the settings.
    """
    oc, ic, taps_h, taps_w = filters.shape
    shape, total = sums.shape, sums.reshape(oc, -1)
    rows = [np.arange(sizes["oh"]) * sizes["sh"] + i * sizes["dh"] - sizes["pt"] for i in range(taps_h)]
    columns = [np.arange(sizes["ow"]) * sizes["sw"] + j * sizes["dw"] - sizes["pl"] for j in range(taps_w)]
    # Where the order does not count, all channels of a tap go together: far fewer and larger products.
    channels = [slice(0, ic)] if kind.associative else [slice(c, c + 1) for c in range(ic)]
    for some in channels:
        for i in range(taps_h):
            for j in range(taps_w):
                pixels = _picked(kind, image[some], rows[i], columns[j])
                total = kind.dot(total, filters[:, some, i, j], pixels)
    return total.reshape(shape)


def _picked(
    kind: Numerics, image: Values, rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp]
) -> Values:
    """image[:, rows, columns] as (ic, rows * columns), zero outside."""
    channels, height, width = image.shape
    inside = ((rows >= 0) & (rows < height))[:, None] & ((columns >= 0) & (columns < width))[None, :]
    there = image[:, rows.clip(0, height - 1)[:, None], columns.clip(0, width - 1)[None, :]]
    return np.where(inside, there, kind.zero).reshape(channels, -1)
