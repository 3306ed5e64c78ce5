"""The functional model of any specification: stream words in, stream words out.

It is the reference that RTL is tested against: what the device computes and sends, and in which error it
stops, but not when. The streams are here; what is behind them is a `Device` for each form of a kernel.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from math import prod

import numpy as np
import numpy.typing as npt

from axiloom.errors import SpecError
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import (
    Clear,
    Compute,
    Load,
    Opcode,
    Requantise,
    Save,
    SendDim,
    SetDims,
    Skip,
    Store,
)
from axiloom.isa.contract.words import Words
from axiloom.isa.kernels.forms import COPY, IMAGE, MATMUL, PACKETS, WINDOW
from axiloom.isa.model.conv import ImageDevice, WindowDevice
from axiloom.isa.model.copy import CopyDevice
from axiloom.isa.model.device import Device, DeviceError, StopError
from axiloom.isa.model.generic import GenericDevice
from axiloom.isa.model.matmul import MatMulDevice

__all__ = ["DeviceError", "FunctionalModel"]

_DEVICES: Mapping[str, type[Device]] = {
    MATMUL.name: MatMulDevice,
    IMAGE.name: ImageDevice,
    WINDOW.name: WindowDevice,
    COPY.name: CopyDevice,
}


class FunctionalModel:
    """A device of `spec`, which must be sound (:func:`axiloom.isa.check.check.check`). SpecError for packets.

    Attributes:
        code: the error that stopped the device, `DeviceError.OK` while it runs.
        error: the same as one line for people, or None.
        tlast: one flag for each word that the last :meth:`feed` returned.
        accepted: words taken since reset; a stopped device takes none.
        multiply_adds: of what the last :meth:`feed` computed, without what an array rounds up.
    """

    def __init__(self, spec: AcceleratorSpec) -> None:
        if spec.form in PACKETS:
            what = (
                f"there is no functional model of {spec.kernel}: the specification says only how words travel"
            )
            raise SpecError([f"{spec.name}: {what}. Give its RTL: --rtl FILE.v"])
        self.spec = spec
        self._endless = next((op for op in spec.opcodes.values() if op.literal is None), None)
        self._parts = spec.parts
        self.reset()

    def reset(self) -> None:
        """Back to the state after power-on: nothing loaded, the result cleared, the default tile, settings
        at their reset values."""
        self.code = DeviceError.OK
        self.error: str | None = None
        self.tlast: npt.NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)
        self.accepted = 0
        self.multiply_adds = 0
        self._devices = [_DEVICES.get(one.form.name, GenericDevice)(one) for one in self._parts]
        self._device = self._devices[0]
        self._sent: list[Words] = []
        self._pending: Words = np.zeros(0, dtype=np.uint32)
        self._beat: list[int] = []  # words of the current beat that nothing has looked at yet
        self._run = self._execute()
        self._wanted = next(self._run)

    @property
    def wanted(self) -> int:
        """Words that are missing until something happens: the rest of a beat or of a payload."""
        return self._wanted - self._pending.size

    def feed(self, words: npt.ArrayLike) -> Words:
        """Take `words` from the stream; returns the words that the device sends because of them (uint32).

        Words may come in any portions; an unfinished payload or beat waits for its rest. After a protocol
        error (:attr:`code`) the device takes no more words.
        """
        self._sent = []
        self.multiply_adds = 0
        if self.code is DeviceError.OK:
            self._take(np.asarray(words, dtype=np.uint32).reshape(-1))
        self.tlast = np.concatenate([np.zeros(0, np.bool_), *(_last_flag(tile.size) for tile in self._sent)])
        return np.concatenate([np.zeros(0, np.uint32), *self._sent])

    def _take(self, words: Words) -> None:
        held = self._pending.size
        stream = np.concatenate([self._pending, words])
        at = 0
        while at + self._wanted <= stream.size:
            chunk = stream[at : at + self._wanted]
            at += self._wanted
            try:
                self._wanted = self._run.send(chunk)
            except StopError as stop:
                self.code = stop.code
                self.accepted += at - held
                self.error = f"{stop.code.name} at word {self.accepted}: {stop}"
                return
        self.accepted += words.size
        self._pending = stream[at:]

    # --- what the device does: a generator that yields the number of words it waits for ------------------

    def _execute(self) -> Generator[int, Words, None]:
        while True:
            yield from self._opcode((yield from self._decode()))
            self._beat = []

    def _word(self) -> Generator[int, Words, int]:
        """The next single word; it may share its beat with the one before."""
        if not self._beat:
            self._beat = [int(word) for word in (yield self.spec.beat_words)]
        return self._beat.pop(0)

    def _decode(self) -> Generator[int, Words, Opcode]:
        if self._endless is not None:
            return self._endless
        word = yield from self._word()
        for part, device in zip(self._parts, self._devices, strict=True):
            if (opcode := part.decode(word)) is not None:
                self._device = device
                return opcode
        every = [op for part in self._parts for op in part.opcodes.values()]
        known = ", ".join(f"{op.literal:#x} {op.name}" for op in every)
        combined = ", and combinations of bits" if self.spec.bits else ""
        raise StopError(DeviceError.UNKNOWN_OPCODE, f"{word:#x} is no opcode; they are {known}{combined}")

    def _opcode(self, opcode: Opcode) -> Generator[int, Words, None]:
        device = self._device
        for action, host in opcode.steps():
            if isinstance(action, Load):
                self._beat = []
                device.load(action.operand, (yield device.words(action.operand)))
            elif isinstance(action, Skip):
                yield from self._word()
            elif isinstance(action, SetDims) and isinstance(host, SendDim):
                device.set((yield from self._word()), host)
            elif isinstance(action, Compute) and action.in_place:
                device.apply(opcode, action.in_place)
            elif isinstance(action, Compute):
                device.compute(opcode)
                self.multiply_adds += prod(device.sizes[dim] for dim in device.spec.dims)
            elif isinstance(action, Save):
                device.save()
            elif isinstance(action, Store):
                self._sent.append(device.store(opcode))
            elif isinstance(action, Requantise):
                self._sent.append(device.requantise(opcode))
            elif isinstance(action, Clear):
                device.clear()


def _last_flag(size: int) -> npt.NDArray[np.bool_]:
    flags = np.zeros(size, dtype=np.bool_)
    flags[-1:] = True
    return flags
