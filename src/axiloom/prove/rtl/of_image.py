"""The state map of the engine that walks over an image tile, for sizes that are enumerated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import z3

from axiloom.hw.array.mac_array import Columns
from axiloom.hw.conv.geometry import ConvGeometry
from axiloom.isa import AcceleratorSpec, revise
from axiloom.prove.rtl.device import Link
from axiloom.prove.rtl.laid import Laid, Shape, in_array, loads, mixed, under

Terms = Mapping[str, Any]
NARROW: Shape = {"fh": 1, "fw": 1, "pl": 1}
"""In place of the sizes after reset: filters of one tap, and a column of padding."""


def image(spec: AcceleratorSpec) -> Laid:
    """The engine of `spec`."""
    geometry = ConvGeometry.of(spec)
    waits = loads(spec)
    tiles = mixed(shapes(spec))

    def links(control: Mapping[str, int], model: Terms, registers: Terms) -> Iterator[Link]:
        if control["error"]:
            return
        for operand, buffer, place in (("I", "window", _pixel), ("F", "filters", _weight)):
            half, elements = registers[f"{buffer}.load_half"], model[operand]
            if waits.get(control["place"]) == operand:
                count = control["at"] * spec.data_type.per_word
                yield from _laid(
                    buffer, elements, [*place(geometry, control)][:count], ~half, z3.BoolVal(True)
                )
                continue
            for sizes, there in under(operand, model, tiles):
                loaded = z3.And(model[f"{operand}_loaded"] == 1, there)
                yield from _laid(buffer, elements, [*place(geometry, sizes)], half, loaded)
        half, elements = registers["sequencer.half"], model["O"]
        for sizes, there in under("O", model, tiles):
            begun = z3.And(model["O_begun"] == 1, there)
            yield from _laid("result", elements, [*_result(geometry, sizes)], half, begun)

    columns = Columns(geometry.image.bits, geometry.cols, geometry.most[2])
    return Laid(
        links,
        geometry.image.bits,
        in_array(columns),
        sizes=tuple(spec.sizes()),
        shapes=shapes(spec),
        limited=True,
        settles=geometry.image.size_bits + 8,
    )


def small(spec: AcceleratorSpec) -> AcceleratorSpec:
    """The engine with an array of 2 x 2, for two channels of two pixels by filters of two taps."""
    tile = replace(spec.tile, size=(2, 1, 2, 1, 1, 2))
    buffers = {"I": 4, "F": 4, "O": 4}
    return revise(spec, name=f"{spec.name}_small", tile=tile, buffers=buffers, macs=4)


def shapes(spec: AcceleratorSpec) -> list[dict[str, int]]:
    """The sizes and settings that are looked at, and all that words make of them."""
    return [spec.sizes(), {**spec.sizes(), **NARROW}]


Slot = tuple[str, int, int, int]
"""Of an element of the model: name of the memory, with {half} where each half has one of its own; words of a
half in that memory (0: the memory is a half's own), address in the half, lowest bit."""


def _laid(buffer: str, elements: Any, slots: list[tuple[int, Slot]], half: Any, when: Any) -> Iterator[Link]:
    for element, (memory, depth, address, low) in slots:
        term = z3.Select(elements, z3.BitVecVal(element, 16))
        for side in range(2):
            name = f"{buffer}.{memory.format(half=side)}[{side * depth + address}]"
            yield Link(name, low, term, z3.And(half == side, when))


def _pixel(geometry: ConvGeometry, sizes: Shape) -> Iterator[tuple[int, Slot]]:
    """Element by element: the slots of a row are sorted by x % sw."""
    layout = geometry.image
    whole, rest = divmod(sizes["iw"], sizes["sw"])
    for row in range(sizes["ic"] * sizes["ih"]):
        for x in range(sizes["iw"]):
            column, phase = divmod(x, sizes["sw"])
            slot = row * sizes["iw"] + phase * whole + min(phase, rest) + column
            word, bank = divmod(slot, layout.cols)
            yield row * sizes["iw"] + x, (f"bank_{bank}", layout.depth, word, 0)


def _weight(geometry: ConvGeometry, sizes: Shape) -> Iterator[tuple[int, Slot]]:
    """Element by element: a filter's line begins on a word, and lies in one bank."""
    layout = geometry.filters
    length = sizes["ic"] * sizes["fh"] * sizes["fw"]
    words = -(-length // layout.per_word)
    for line in range(sizes["oc"]):
        block, bank = divmod(line, layout.banks)
        for k in range(words * layout.per_word):  # what pads a line is there, too
            word, lane = divmod(k, layout.per_word)
            slot = (f"bank_{bank}", layout.depth, block * words + word, lane * layout.bits)
            yield line * words * layout.per_word + k, slot


def _result(geometry: ConvGeometry, sizes: Shape) -> Iterator[tuple[int, Slot]]:
    """Block of channels by block of channels, in these block of pixels by block of pixels, row by row."""
    blocks = -(-sizes["ow"] // geometry.cols)
    for oc in range(sizes["oc"]):
        for oh in range(sizes["oh"]):
            for ow in range(sizes["ow"]):
                block = (oc // geometry.rows * sizes["oh"] + oh) * blocks + ow // geometry.cols
                address = block * geometry.rows + oc % geometry.rows
                element = (oc * sizes["oh"] + oh) * sizes["ow"] + ow
                yield element, ("half_{half}", 0, address, 32 * (ow % geometry.cols))
