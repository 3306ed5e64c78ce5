"""The functional models of convolutions: of an image tile that the device walks over, and of one window."""

from __future__ import annotations

import numpy as np

from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import Opcode
from axiloom.isa.kernels.forms import Array, convolution
from axiloom.isa.model.device import Device, DeviceError, StopError


class ImageDevice(Device):
    """O[oc,oh,ow] += sum of F[oc,ic,fh,fw] I'[ic, oh sh + fh dh - pt, ow sw + fw dw - pl]; I' is 0 outside I.

    Sizes are set a few at a time, so whether a tile fits its buffer is looked at when it is used. Strides,
    dilations and padding are those of the moment of the compute.
    """

    def __init__(self, spec: AcceleratorSpec) -> None:
        super().__init__(spec)
        self._sum: Array | None = None  # (oc, oh, ow); None while O is cleared

    def compute(self, opcode: Opcode) -> None:
        image, filters = self.inputs(opcode)
        self.fits("O")
        if self._sum is None:
            self._sum = np.zeros(self.shape("O"), dtype=np.uint32)
        self.same_shape(opcode, "O", self._sum)
        self._sum = self._sum + convolution(image, filters, self.sizes)

    def save(self) -> None:
        raise NotImplementedError  # refused by the check

    def clear(self) -> None:
        self._sum = None

    def result(self, opcode: Opcode) -> tuple[Array, int]:
        if self._sum is None:
            self.fits("O")
            return np.zeros(self.shape("O"), dtype=np.uint32), 0
        self.same_shape(opcode, "O", self._sum)
        return self._sum, 0


class WindowDevice(Device):
    """The result in hand += the dot product of F and I; `save` begins the next, a store sends those saved."""

    def __init__(self, spec: AcceleratorSpec) -> None:
        super().__init__(spec)
        self._saved: list[Array] = []
        self._sum: Array = np.zeros(1, dtype=np.uint32)

    def compute(self, opcode: Opcode) -> None:
        window, filters = self.inputs(opcode)
        self._room(opcode)
        self._sum = self._sum + np.sum(window * filters[0], dtype=np.uint32)

    def save(self) -> None:
        self._room(None)
        self._saved.append(self._sum)
        self._sum = np.zeros(1, dtype=np.uint32)

    def clear(self) -> None:
        self._saved, self._sum = [], np.zeros(1, dtype=np.uint32)

    def result(self, opcode: Opcode) -> tuple[Array, int]:
        saved = np.concatenate([np.zeros(0, np.uint32), *self._saved])
        return saved.reshape(1, 1, -1), 0

    def _room(self, opcode: Opcode | None) -> None:
        capacity = self.spec.buffers["O"]
        if len(self._saved) >= capacity:
            name = opcode.name if opcode else "save"
            why = f"{name}: {capacity} results are saved, and the buffer of O holds no more"
            raise StopError(DeviceError.BAD_DIMS, why)
