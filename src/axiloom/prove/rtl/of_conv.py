"""The state maps of our convolution engines, for tiles of the size that they have after reset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

import z3

from axiloom.hw.conv.geometry import ConvGeometry
from axiloom.hw.window.geometry import WindowGeometry
from axiloom.isa import AcceleratorSpec
from axiloom.prove.rtl.device import Link
from axiloom.prove.rtl.laid import Laid, Multiply, in_array, laid, loads, read_off
from axiloom.prove.rtl.machine import Machine

Terms = Mapping[str, Any]


def window(spec: AcceleratorSpec) -> Laid:
    """The engine that takes one window at a time."""
    geometry = WindowGeometry.of(spec)
    waits, sizes = loads(spec), spec.sizes()
    elements = prod(sizes[dim] for dim in spec.data["I"])
    each = spec.data_type.per_word

    def links(control: Mapping[str, int], model: Terms, registers: Terms) -> Iterator[Link]:
        if control["error"]:
            return
        for operand, layout, buffer in (("I", geometry.image, "image"), ("F", geometry.filters, "filters")):
            half = registers[f"{buffer}.load_half"]
            if waits.get(control["place"]) == operand:
                within = min(control["at"] * each, elements)
                yield from laid(model[operand], layout, (elements, 1), False, ~half, buffer, within)
                continue
            for link in laid(model[operand], layout, (elements, 1), False, half, buffer):
                when = z3.And(link.when, model[f"{operand}_loaded"] == 1)
                yield Link(link.register, link.low, link.term, when)
        yield Link("dot.total", 0, model["sum"], z3.BoolVal(True))
        for number in range(geometry.results):
            term = z3.Select(model["O"], z3.BitVecVal(number, 16))
            yield Link(f"dot.results[{number}]", 0, term, z3.UGT(model["saved"], number))

    return Laid(links, geometry.bits, _in_dot, fixed=sizes, data=("sum",), settles=8)


def _in_dot(machine: Machine, bits: int) -> Multiply:
    """What the dot product adds up, two cycles after its factors."""
    return read_off(machine, bits, ("filters.held_0", "image.held_0"), "dot.multiplier_0.product", 2)


def image(spec: AcceleratorSpec) -> Laid:
    """The engine that walks over an image tile itself."""
    geometry = ConvGeometry.of(spec)
    waits, sizes = loads(spec), spec.sizes()
    each = spec.data_type.per_word
    line = -(-prod(sizes[dim] for dim in ("ic", "fh", "fw")) // each) * each  # filters begin on a word
    pixels = [*_slots(sizes)]

    def of_image(elements: Any, half: Any, count: int) -> Iterator[Link]:
        for number, slot in enumerate(pixels[:count]):
            term = z3.Select(elements, z3.BitVecVal(number, 16))
            word, bank = divmod(slot, geometry.cols)
            for side in range(2):
                address = side * geometry.image.depth + word
                yield Link(f"window.bank_{bank}[{address}]", 0, term, half == side)

    def links(control: Mapping[str, int], model: Terms, registers: Terms) -> Iterator[Link]:
        if control["error"]:
            return
        loading, within = waits.get(control["place"]), control["at"] * each
        half = registers["window.load_half"]
        if loading == "I":
            yield from of_image(model["I"], ~half, within)
        else:
            for link in of_image(model["I"], half, len(pixels)):
                yield Link(link.register, link.low, link.term, z3.And(link.when, model["I_loaded"] == 1))
        half, of = registers["filters.load_half"], (sizes["oc"], line)
        if loading == "F":
            yield from laid(model["F"], geometry.filters, of, True, ~half, "filters", within)
        else:
            for link in laid(model["F"], geometry.filters, of, True, half, "filters"):
                yield Link(link.register, link.low, link.term, z3.And(link.when, model["F_loaded"] == 1))
        yield from _results(geometry, sizes, model, registers)

    return Laid(links, geometry.image.bits, in_array, fixed=sizes, settles=2 * geometry.image.size_bits)


def _slots(sizes: Mapping[str, int]) -> Iterator[int]:
    """Where each element of an image lies (:mod:`axiloom.hw.conv.image_buffer`)."""
    wide, stride = sizes["iw"], sizes["sw"]
    for row in range(sizes["ic"] * sizes["ih"]):
        for x in range(wide):
            phase = x % stride
            yield row * wide + phase * (wide // stride) + min(phase, wide % stride) + x // stride


def _results(
    geometry: ConvGeometry, sizes: Mapping[str, int], model: Terms, registers: Terms
) -> Iterator[Link]:
    half, begun = registers["sequencer.half"], model["O_begun"] == 1
    channels, high, wide = (sizes[dim] for dim in ("oc", "oh", "ow"))
    across = -(-wide // geometry.cols)
    for number in range(channels * high * wide):
        rest, x = divmod(number, wide)
        channel, y = divmod(rest, high)
        block = channel // geometry.rows * high * across + y * across + x // geometry.cols
        address = block * geometry.rows + channel % geometry.rows
        term = z3.Select(model["O"], z3.BitVecVal(number, 16))
        for side in range(2):
            when = z3.And(half == side, begun)
            yield Link(f"result.half_{side}[{address}]", 32 * (x % geometry.cols), term, when)
