"""The functional model of a kernel that is data: its body, evaluated on the tiles that were loaded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np

from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import Opcode
from axiloom.isa.kernels.language.body import evaluate
from axiloom.isa.kernels.language.kernel import Kernel
from axiloom.isa.model.arithmetic import operations
from axiloom.isa.model.device import Device, DeviceError, StopError
from axiloom.isa.numerics import Numerics, Values


def start(combine: str | None, kind: Numerics) -> Values:
    """What a result begins with, by the operation that joins it with what is there."""
    if combine == "mul":
        return kind.nearest(1)
    return {"max": kind.lowest, "min": kind.highest}.get(combine or "", kind.zero)


class GenericDevice(Device):
    """The result is joined with what the buffer holds, or takes its place, as the body of the kernel says."""

    def __init__(self, spec: AcceleratorSpec) -> None:
        super().__init__(spec)
        assert spec.form.computes is not None
        self._kernel: Kernel = spec.form.computes
        self._type = spec.result_type
        self._operations = operations(self._type)
        self._result: Values | None = None

    def compute(self, opcode: Opcode) -> None:
        widened = self._type is not self.kind
        loaded = (self.kind.widen(tile) if widened else tile for tile in self.inputs(opcode))
        tiles = dict(zip(self._kernel.inputs, loaded, strict=True))
        self._consistent(opcode)
        self.fits(self._kernel.output)
        if self._kernel.combine is None:
            self._result = self._term(tiles, {})
            return
        before = self._start() if self._result is None else self._result
        self.same_shape(opcode, self._kernel.output, before)
        join = self._operations[self._kernel.combine]
        for point in self._points():
            before = join(before, self._term(tiles, point))
        self._result = before

    def put(self, values: Values) -> None:
        self._result = values

    def save(self) -> None:
        raise NotImplementedError  # refused by the check

    def clear(self) -> None:
        self._result = None

    def result(self, opcode: Opcode) -> tuple[Values, int]:
        if self._result is None:
            self.fits(self._kernel.output)
            return self._start(), 0
        self.same_shape(opcode, self._kernel.output, self._result)
        return self._result, 0

    # --- the iteration space ---------------------------------------------------------------------------

    def _start(self) -> Values:
        return np.full(self.shape(self._kernel.output), start(self._kernel.combine, self._type))

    def _points(self) -> Iterator[dict[str, int]]:
        """Values of the iterators that are reduced over, the last one fastest."""
        names = self._kernel.reductions
        for values in product(*(range(self.sizes[name]) for name in names)):
            yield dict(zip(names, values, strict=True))

    def _term(self, tiles: Mapping[str, Values], point: Mapping[str, int]) -> Values:
        """What is joined at a point of the reduction, for all elements of the result at once."""
        axes = tuple(self._kernel.maps[self._kernel.output])
        shape = self.shape(self._kernel.output)
        views = {operand: self._view(operand, tile, point, axes) for operand, tile in tiles.items()}
        found = evaluate(self._kernel.term, views, self._operations)
        return np.array(np.broadcast_to(found, shape))

    def _view(self, operand: str, tile: Values, point: Mapping[str, int], axes: tuple[str, ...]) -> Values:
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
