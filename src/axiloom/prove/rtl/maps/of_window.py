"""The state map of the engine that takes one window at a time, for windows of the size after reset."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import prod
from typing import Any

import z3

from axiloom.hw.window.geometry import WindowGeometry
from axiloom.isa import AcceleratorSpec, revise
from axiloom.isa.contract.types import WORD_BITS
from axiloom.prove.rtl.maps.device import Link
from axiloom.prove.rtl.maps.laid import Laid, Multiply, laid, loads, read_off
from axiloom.prove.rtl.terms.machine import Machine

Terms = Mapping[str, Any]
_DIMS = ("ic", "fh", "fw")
"""Of a window."""


def window(spec: AcceleratorSpec) -> Laid:
    """The engine of `spec`."""
    geometry = WindowGeometry.of(spec)
    waits, each = loads(spec), spec.data_type.per_word
    most = {"I": geometry.image, "F": geometry.filters}

    def links(control: Mapping[str, int], model: Terms, registers: Terms) -> Iterator[Link]:
        if control["error"]:
            return
        for (operand, layout), buffer in zip(most.items(), ("image", "filters"), strict=True):
            half = registers[f"{buffer}.load_half"]
            if waits.get(control["place"]) == operand and control["phase"]:
                within = min(control["at"] * each, _elements(control))
                yield from laid(model[operand], layout, (within, 1), False, ~half, buffer)
                continue
            for count, under in _loaded(spec, operand, layout.depth * layout.banks * layout.per_word):
                for link in laid(model[operand], layout, (count, 1), False, half, buffer):
                    when = z3.And(link.when, model[f"{operand}_loaded"] == 1, under(model))
                    yield Link(link.register, link.low, link.term, when)
        yield Link("dot.total", 0, model["sum"], z3.BoolVal(True))
        for number in range(geometry.results):
            term = z3.Select(model["O"], z3.BitVecVal(number, 16))
            yield Link(f"dot.results[{number}]", 0, term, z3.UGT(model["saved"], number))

    return Laid(
        links,
        geometry.bits,
        _in_dot,
        sizes=tuple(spec.sizes()),
        shapes=shapes(spec),
        limited=True,
        data=("sum",),
        settles=8,
    )


def _elements(sizes: Mapping[str, int]) -> int:
    return prod(sizes[dim] for dim in _DIMS)


def _loaded(spec: AcceleratorSpec, operand: str, room: int) -> Iterator[tuple[int, Callable[[Terms], Any]]]:
    """How many elements a window has that fits, and that the operand was loaded under such sizes."""
    dims = [dim for dim in spec.data[operand] if dim in _DIMS]
    for shape in shapes(spec):
        if (count := _elements(shape)) <= room:

            def under(model: Terms, shape: Mapping[str, int] = shape) -> Any:
                return z3.And(*(model[f"{operand}_{dim}"] == shape[dim] for dim in dims))

            yield count, under


def small(spec: AcceleratorSpec) -> AcceleratorSpec:
    """The engine with room for windows of 2 x 2 elements, and for two results."""
    tile = replace(spec.tile, size=(1, 1, 1, 1, 2, 2))
    return revise(spec, name=f"{spec.name}_small", tile=tile, buffers={"I": 4, "F": 4, "O": 2})


def shapes(spec: AcceleratorSpec) -> list[dict[str, int]]:
    """The sizes that are looked at: those after reset. With others each opcode word that combines bits has as
    many cases more as there are sizes that its operands may have been loaded under."""
    return [spec.sizes()]


def _in_dot(machine: Machine, bits: int) -> Multiply:
    """What the dot product adds up, two cycles after its factors."""
    return read_off(
        machine,
        bits,
        dict.fromkeys(("filters.held_0", "image.held_0"), bits),
        ("dot.multiplier_0.product", WORD_BITS),
        2,
    )
