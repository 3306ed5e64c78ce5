"""The functional model of a kernel that is data: its body, evaluated on the tiles that were loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np

from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import Opcode
from axiloom.isa.kernels.forms import Array
from axiloom.isa.kernels.language.body import evaluate
from axiloom.isa.kernels.language.kernel import Kernel
from axiloom.isa.model.device import Device, DeviceError, StopError

_INT32 = np.iinfo(np.int32)


def _signed(how: Callable[..., Any]) -> Callable[..., Array]:
    """`how` on the values that words stand for, two's complement."""

    def apply(*arguments: Array) -> Array:
        found = how(*(argument.view(np.int32) for argument in arguments))
        return np.asarray(found, dtype=np.int32).view(np.uint32)

    return apply


OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "neg": np.negative,
    "max": _signed(np.maximum),
    "min": _signed(np.minimum),
    "abs": _signed(np.abs),
    "number": lambda value: np.asarray(int(value) & 0xFFFFFFFF, dtype=np.uint32),
}
"""Arithmetic of int32, mod 2^32 in uint32."""
STARTS = {"add": 0, "mul": 1, "max": _INT32.min, "min": _INT32.max}
"""What a result begins with, by the operation that joins it with what is there."""


class GenericDevice(Device):
    """The result is joined with what the buffer holds, or takes its place, as the body of the kernel says."""

    def __init__(self, spec: AcceleratorSpec) -> None:
        super().__init__(spec)
        assert spec.form.computes is not None
        self._kernel: Kernel = spec.form.computes
        self._result: Array | None = None

    def compute(self, opcode: Opcode) -> None:
        tiles = dict(zip(self._kernel.inputs, self.inputs(opcode), strict=True))
        self._consistent(opcode)
        self.fits(self._kernel.output)
        if self._kernel.combine is None:
            self._result = self._term(tiles, {})
            return
        before = self._start() if self._result is None else self._result
        self.same_shape(opcode, self._kernel.output, before)
        join = OPERATIONS[self._kernel.combine]
        for point in self._points():
            before = join(before, self._term(tiles, point))
        self._result = before

    def save(self) -> None:
        raise NotImplementedError  # refused by the check

    def clear(self) -> None:
        self._result = None

    def result(self, opcode: Opcode) -> tuple[Array, int]:
        if self._result is None:
            self.fits(self._kernel.output)
            return self._start(), 0
        self.same_shape(opcode, self._kernel.output, self._result)
        return self._result, 0

    # --- the iteration space ---------------------------------------------------------------------------

    def _start(self) -> Array:
        value = STARTS[self._kernel.combine] if self._kernel.combine else 0
        return np.full(self.shape(self._kernel.output), value & 0xFFFFFFFF, dtype=np.uint32)

    def _points(self) -> Iterator[dict[str, int]]:
        """Values of the iterators that are reduced over, the last one fastest."""
        names = self._kernel.reductions
        for values in product(*(range(self.sizes[name]) for name in names)):
            yield dict(zip(names, values, strict=True))

    def _term(self, tiles: Mapping[str, Array], point: Mapping[str, int]) -> Array:
        """What is joined at a point of the reduction, for all elements of the result at once."""
        axes = tuple(self._kernel.maps[self._kernel.output])
        shape = self.shape(self._kernel.output)
        views = {operand: self._view(operand, tile, point, axes) for operand, tile in tiles.items()}
        found = evaluate(self._kernel.term, views, OPERATIONS)
        return np.ascontiguousarray(np.broadcast_to(found, shape))

    def _view(self, operand: str, tile: Array, point: Mapping[str, int], axes: tuple[str, ...]) -> Array:
        """An operand's elements at `point`, with the dims of the result (1 where it has none of them)."""
        places = []
        for index in self._kernel.maps[operand].values():
            at: Any = 0
            for name in index.terms:
                factor = index.factor(name, self.sizes)
                if name in point:
                    at = at + point[name] * factor
                else:
                    steps = np.arange(self.sizes[name]) * factor
                    at = at + steps.reshape([-1 if axis == name else 1 for axis in axes])
            places.append(at)
        return tile[tuple(places)] if places else tile

    def _consistent(self, opcode: Opcode) -> None:
        """Derived sizes that were set must hold what the tile reaches."""
        for dim, extent in self._kernel.extents(self.sizes).items():
            if extent > self.sizes[dim]:
                why = (
                    f"{opcode.name}: the tile reaches {extent} elements of {dim}, which is {self.sizes[dim]}"
                )
                raise StopError(DeviceError.BAD_DIMS, why)
