"""The state map of the engine that walks over image tiles, for tiles of the size after reset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import z3

from axiloom.hw.array.mac_array import Columns
from axiloom.hw.conv.geometry import ConvGeometry
from axiloom.isa import AcceleratorSpec, revise
from axiloom.isa.formal.beats import Beats
from axiloom.prove.rtl.maps.device import Link, element
from axiloom.prove.rtl.maps.laid import Laid, Shape, in_array, laid

Terms = Mapping[str, Any]
SETTLES = 16
"""Cycles after reset until the numbers of the first tile are there."""


def image(beats: Beats) -> Laid:
    """The engine of a specification."""
    spec = beats.spec
    geometry = ConvGeometry.of(spec)
    each = spec.data_type.per_word
    sizes = spec.sizes()

    def links(control: Mapping[str, int], model: Terms, registers: Terms) -> Iterator[Link]:
        if control["error"]:
            return
        loading = beats.loading(control["step"])
        within = control["at"] * each
        now = {name: control.get(name, size) for name, size in sizes.items()}
        halves = {
            name: registers[f"{buffer}.load_half"] for name, buffer in (("I", "window"), ("F", "filters"))
        }
        if loading == "I":
            yield from _pixels(model["I_in"], geometry, now, ~halves["I"], within)
        else:
            for link in _pixels(model["I"], geometry, now, halves["I"], None):
                yield Link(link.register, link.low, link.term, z3.And(link.when, _under(model, "I", now)))
        row = now["ic"] * now["fh"] * now["fw"]
        filters, lines = geometry.filters, (now["oc"], -(-row // each) * each)  # whole beats
        if loading == "F":
            yield from laid(model["F_in"], filters, lines, True, ~halves["F"], "filters", within)
        else:
            for link in laid(model["F"], filters, lines, True, halves["F"], "filters", row=row):
                yield Link(link.register, link.low, link.term, z3.And(link.when, _under(model, "F", now)))
        yield from _results(spec, geometry, now, model, registers["sequencer.half"])

    columns = Columns(geometry.image.bits, geometry.cols, geometry.most[2])
    return Laid(
        links,
        geometry.image.bits,
        in_array(columns),
        sizes=tuple(sizes),
        shapes=shapes(spec),
        limited=True,
        settles=SETTLES,
    )


def small(spec: AcceleratorSpec) -> AcceleratorSpec:
    """The engine with an array of 2 x 2, for two channels of 2 x 2 pixels, each of 2 x 2 taps."""
    each = spec.data_type.per_word
    tile = replace(spec.tile, size=(2, 2, 2, 1, 2, 2))
    pixels = -(-9 // each)
    return revise(
        spec,
        name=f"{spec.name}_small",
        tile=tile,
        buffers={"I": pixels, "F": -(-4 // each) * 2, "O": 8},
        macs=4,
    )


def shapes(spec: AcceleratorSpec) -> list[Shape]:
    """The sizes that are looked at: those after reset."""
    return [spec.sizes()]


def _under(model: Terms, operand: str, now: Shape) -> Any:
    """The operand is there, and was loaded under these sizes and settings."""
    under = {
        name.removeprefix(f"{operand}_"): term
        for name, term in model.items()
        if name.startswith(f"{operand}_") and name.removeprefix(f"{operand}_") in now
    }
    return z3.And(model[f"{operand}_there"] == 1, *(term == now[name] for name, term in under.items()))


def _pixels(
    elements: Any, geometry: ConvGeometry, now: Shape, half: Any, count: int | None
) -> Iterator[Link]:
    """The first `count` elements (default: all) of an image, in the slots that its rows are sorted into by
    x % sw; without the columns that no tap reads, or with the odd ones apart
    (:mod:`axiloom.hw.conv.image_buffer`)."""
    layout, wide, step = geometry.image, now["iw"], now["sw"]
    halves = (step, wide % 2) == (2, 0)
    skips, splits = layout.skips and halves and now["fw"] == 1, layout.splits and halves and now["fw"] != 1
    total = now["ic"] * now["ih"] * wide if count is None else min(count, now["ic"] * now["ih"] * wide)
    for number in range(total):
        row, x = divmod(number, wide)
        phase = x % step
        slot = row * wide + phase * (wide // step) + min(phase, wide % step) + x // step
        if skips and phase != now["pl"] % step:
            continue
        if skips or splits:
            slot = row * (wide // 2) + x // 2 + (phase * layout.odd_slots if splits else 0)
        term = element(elements, number)
        for side in range(2):
            address = side * layout.depth + slot // layout.cols
            yield Link(f"window.bank_{slot % layout.cols}[{address}]", 0, term, half == side)


def _results(
    spec: AcceleratorSpec, geometry: ConvGeometry, now: Shape, model: Terms, half: Any
) -> Iterator[Link]:
    """Block of channels by block of channels, row of pixels by row, `cols` neighbours in a word."""
    dims = spec.data["O"]
    there = _under(model, "O", now)
    channels, high, wide = (now[dim] for dim in dims)
    across = -(-wide // geometry.cols)
    for channel, y, x in product(range(channels), range(high), range(wide)):
        block = (channel // geometry.rows * high + y) * across + x // geometry.cols
        address = block * geometry.rows + channel % geometry.rows
        term = element(model["O"], (channel * high + y) * wide + x)
        for side in range(2):
            when = z3.And(half == side, there)
            yield Link(f"result.half_{side}[{address}]", 32 * (x % geometry.cols), term, when)
