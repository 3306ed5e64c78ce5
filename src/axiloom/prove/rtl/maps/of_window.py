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
from axiloom.isa.formal.beats import Beats
from axiloom.prove.rtl.maps.device import Link, element
from axiloom.prove.rtl.maps.laid import Laid, Multiply, laid, read_off
from axiloom.prove.rtl.terms.machine import Machine

Terms = Mapping[str, Any]
_DIMS = ("ic", "fh", "fw")
"""Of a window."""


def window(beats: Beats) -> Laid:
    """The engine of a specification."""
    spec = beats.spec
    geometry, each = WindowGeometry.of(spec), spec.data_type.per_word
    most = {"I": geometry.image, "F": geometry.filters}

    def links(control: Mapping[str, int], model: Terms, registers: Terms) -> Iterator[Link]:
        if control["error"]:
            return
        for (operand, layout), buffer in zip(most.items(), ("image", "filters"), strict=True):
            half = registers[f"{buffer}.load_half"]
            if beats.loading(control["step"]) == operand:
                within = min(control["at"] * each, _elements({**spec.sizes(), **control}))
                yield from laid(model[f"{operand}_in"], layout, (within, 1), False, ~half, buffer)
                continue
            for count, under in _loaded(spec, operand, layout.depth * layout.banks * layout.per_word):
                for link in laid(model[operand], layout, (count, 1), False, half, buffer):
                    when = z3.And(link.when, model[f"{operand}_there"] == 1, under(model))
                    yield Link(link.register, link.low, link.term, when)
        yield Link("dot.total", 0, element(model["total"], 0), z3.BoolVal(True))
        for number in range(geometry.results):
            term = element(model["O"], number)
            yield Link(f"dot.results[{number}]", 0, term, z3.UGT(model["saved"], number))

    return Laid(
        links,
        geometry.bits,
        _in_dot,
        sizes=tuple(spec.sizes()),
        shapes=shapes(spec),
        limited=True,
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
                return z3.And(
                    *(model[name] == shape[dim] for dim in dims if (name := f"{operand}_{dim}") in model)
                )

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
