"""What all functional models share: errors, sizes and settings, loading and sending tiles."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import IntEnum

import numpy as np

from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import Opcode, SendDim
from axiloom.isa.contract.words import Words, pack_rows, unpack_rows
from axiloom.isa.kernels.forms import CHANNELS
from axiloom.isa.kernels.language.body import evaluate
from axiloom.isa.model.arithmetic import operations
from axiloom.isa.model.requantise import requantise
from axiloom.isa.numerics import INT8, Numerics, Values


class DeviceError(IntEnum):
    """Why a device stopped: the value of ``debug_error``. Only reset gets it out of an error."""

    OK = 0
    UNKNOWN_OPCODE = 1
    """A word where an opcode was due that is no opcode."""
    BAD_DIMS = 2
    """Sizes that are zero, no multiple of the granule, or give an operand a tile larger than its buffer; or a
    setting below its lowest value."""
    NOT_LOADED = 3
    """compute before an input was loaded since reset, or requantise before P was."""
    DIMS_MISMATCH = 4
    """compute under other sizes than an input was loaded with, or than the result was begun with since it was
    cleared; store of such a result, or requantise with such a P, under other sizes."""


class StopError(Exception):
    """The device stops."""

    def __init__(self, code: DeviceError, why: str) -> None:
        self.code = code
        super().__init__(why)


class Device(ABC):
    """The state behind the streams of a device. One subclass for each form of a kernel."""

    def __init__(self, spec: AcceleratorSpec) -> None:
        self.spec = spec
        self.kind = spec.data_type
        """Of the inputs; sums are values of its accumulator."""
        self.sizes = spec.sizes()
        self._granule = dict(zip(spec.dims, spec.tile.granule or spec.tile.size, strict=True))
        self._lowest = {s.name: s.lowest for s in spec.settings}
        self._signed = {s.name for s in spec.settings if s.signed}
        self.loaded: dict[str, Values] = {}
        """Operand to its elements as values of its numerics, in the operand's own dims."""
        self._laid: dict[str, dict[str, int]] = {}

    # --- instructions ---------------------------------------------------------------------------------

    def set(self, word: int, layout: SendDim) -> None:
        """Take the fields of a word; they stay until they are set again."""
        for field in layout.fields:
            value = (word >> field.shift) & ((1 << layout.field_bits(field)) - 1)
            self.sizes[field.dim] = _signed(value & 0xFF) if field.dim in self._signed else value
        for dim, other in self.spec.tied.items():
            self.sizes[dim] = self.sizes[other]
        self.accept([field.dim for field in layout.fields])

    def accept(self, names: list[str]) -> None:
        """Stop if the sizes or settings that were just set are illegal."""
        for name in names:
            value, unit = self.sizes[name], self._granule.get(name, 1)
            lowest = 1 if name in self._granule else self._lowest[name]
            if value < lowest or value % unit:
                what = f"below {lowest}" if value < lowest else f"not a multiple of {unit}"
                raise StopError(DeviceError.BAD_DIMS, f"{name} = {value} is {what}")
            if value > self.spec.form.highest.get(name, value):
                highest = self.spec.form.highest[name]
                raise StopError(DeviceError.BAD_DIMS, f"{name} = {value} is above {highest}")
            if name in self.spec.form.unit and value != 1:
                raise StopError(DeviceError.BAD_DIMS, f"{name} = {value} is not 1")

    def words(self, operand: str) -> int:
        """Words that `load` takes."""
        self.fits(operand)
        return self.spec.words_of(operand, self.shape(operand))

    def load(self, operand: str, words: Words) -> None:
        kind, shape = self.spec.operand_type(operand), self.shape(operand)
        rows = self.spec.form.rows.get(operand, 0)
        self.loaded[operand] = kind.decode(unpack_rows(words, kind, shape, rows).view(kind.raw))
        self._laid[operand] = self._layout(operand)

    @abstractmethod
    def compute(self, opcode: Opcode) -> None: ...

    @abstractmethod
    def save(self) -> None: ...

    @abstractmethod
    def clear(self) -> None: ...

    @abstractmethod
    def put(self, values: Values) -> None:
        """Values in the result's place, in its own dims."""

    def apply(self, opcode: Opcode, name: str) -> None:
        """``compute NAME``: send the result that is there through a kernel in place."""
        kernel, (values, _) = self.spec.in_place[name], self.result(opcode)
        found = evaluate(kernel.body, {kernel.inputs[0]: values}, operations(self.spec.result_type))
        self.put(np.array(np.broadcast_to(found, values.shape)))

    @abstractmethod
    def result(self, opcode: Opcode) -> tuple[Values, int]:
        """The sums that go out, in their own dims, and the axis of the channels."""

    def store(self, opcode: Opcode) -> Words:
        return self._packed(self.result(opcode)[0], self.spec.received_type(opcode))

    def requantise(self, opcode: Opcode) -> Words:
        if CHANNELS not in self.loaded:
            raise StopError(DeviceError.NOT_LOADED, f"{opcode.name} requantises, but P is not loaded")
        channels = self.loaded[CHANNELS]
        self.same_shape(opcode, CHANNELS, channels)
        sums, axis = self.result(opcode)
        found = requantise(sums.view(np.uint32), channels.view(np.uint32), self.sizes, axis)
        return self._packed(found, INT8)

    # --- for subclasses -------------------------------------------------------------------------------

    def shape(self, operand: str) -> tuple[int, ...]:
        """Of an operand's tile under the sizes of now."""
        if operand == CHANNELS:
            return self.sizes[self.spec.form.channel], 2
        return tuple(self.sizes[d] for d in self.spec.data[operand])

    def fits(self, operand: str) -> None:
        """Stop if an operand's tile is larger than its buffer."""
        shape, capacity = self.shape(operand), self.spec.buffers[operand]
        if self.spec.held_words(operand, shape) > capacity:
            text = "x".join(map(str, shape))
            why = f"{text}: {operand} does not fit its buffer of {capacity} words"
            raise StopError(DeviceError.BAD_DIMS, why)

    def inputs(self, opcode: Opcode) -> list[Values]:
        """The inputs of a compute, which must be loaded under the sizes of now."""
        for operand in self.spec.form.inputs:
            if operand not in self.loaded:
                why = f"{opcode.name} computes, but {operand} is not loaded"
                raise StopError(DeviceError.NOT_LOADED, why)
            self.same_shape(opcode, operand, self.loaded[operand])
            for name, value in self._layout(operand).items():
                if value != self._laid[operand][name]:
                    before = self._laid[operand][name]
                    why = f"{opcode.name}: {operand} was loaded under {name} {before}, which now is {value}"
                    raise StopError(DeviceError.DIMS_MISMATCH, why)
        return [self.loaded[operand] for operand in self.spec.form.inputs]

    def _layout(self, operand: str) -> dict[str, int]:
        return {name: self.sizes[name] for name in self.spec.form.laid.get(operand, ())}

    def same_shape(self, opcode: Opcode, operand: str, tile: Values) -> None:
        now = self.shape(operand)
        if tile.shape != now:
            why = f"{opcode.name}: {operand} has shape {tile.shape}, the dims now say {now}"
            raise StopError(DeviceError.DIMS_MISMATCH, why)

    def _packed(self, values: Values, kind: Numerics) -> Words:
        words = self.spec.words_of(self.spec.form.output, values.shape, kind)
        return pack_rows(kind.encode(values).view(kind.numpy), kind, 0, words)


def _signed(byte: int) -> int:
    return byte - 256 if byte > 127 else byte
