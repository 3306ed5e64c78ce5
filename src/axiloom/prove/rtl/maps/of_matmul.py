"""The state map of our MatMul engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import z3

from axiloom.hw.array.mac_array import Columns
from axiloom.hw.matmul.geometry import Geometry
from axiloom.isa import AcceleratorSpec, revise
from axiloom.isa.formal.beats import Beats
from axiloom.prove.rtl.maps.device import Link, element
from axiloom.prove.rtl.maps.laid import Laid, in_array, laid

Terms = Mapping[str, Any]


def matmul(beats: Beats) -> Laid:
    """The engine of a specification."""
    spec = beats.spec
    geometry = Geometry.of(spec)

    def links(control: Mapping[str, int], model: Terms, registers: Terms) -> Iterator[Link]:
        if control["error"]:
            return
        loading = beats.loading(control["step"])
        now = {dim: control.get(dim, size) for dim, size in zip(spec.dims, spec.tile.size, strict=True)}
        m, n, k = spec.dims
        for operand, layout, lines in (("A", geometry.a, m), ("B", geometry.b, n)):
            buffer = f"buffer_{operand.lower()}"
            half = registers[f"{buffer}.load_half"]
            dims = spec.data[operand]
            if loading == operand:
                within = control["at"] * spec.data_type.per_word
                yield from laid(
                    model[f"{operand}_in"], layout, (now[lines], now[k]), dims[-1] == k, ~half, buffer, within
                )
                continue
            for sizes in _all_sizes(spec, dims) if geometry.flexible else [tuple(now[dim] for dim in dims)]:
                of = dict(zip(dims, sizes, strict=True))
                there = [model[f"{operand}_there"] == 1]
                if geometry.flexible:
                    there += [model[f"{operand}_{dim}"] == of[dim] for dim in dims]
                for link in laid(model[operand], layout, (of[lines], of[k]), dims[-1] == k, half, buffer):
                    yield Link(link.register, link.low, link.term, z3.And(link.when, *there))
        for sizes in _all_sizes(spec, spec.data["C"]) if geometry.flexible else [(now[m], now[n])]:
            of = dict(zip(spec.data["C"], sizes, strict=True)) if geometry.flexible else now
            there = [model["C_there"] == 1]
            if geometry.flexible:
                there += [model[f"C_{dim}"] == of[dim] for dim in spec.data["C"]]
            half = registers["sequencer.half"]
            for row in range(of[m]):
                for col in range(of[n]):
                    block = row // geometry.rows * (of[n] // geometry.cols) + col // geometry.cols
                    address = block * geometry.rows + row % geometry.rows
                    number = row * of[n] + col if geometry.c_rows_first else col * of[m] + row
                    term = element(model["C"], number)
                    for side in range(2):
                        when = z3.And(half == side, *there)
                        yield Link(f"result.half_{side}[{address}]", 32 * (col % geometry.cols), term, when)

    columns = Columns(geometry.a.bits, geometry.cols, geometry.most[2])
    if not geometry.flexible:
        return Laid(links, geometry.a.bits, in_array(columns))
    return Laid(links, geometry.a.bits, in_array(columns), sizes=spec.dims, shapes=shapes(spec))


def small(spec: AcceleratorSpec) -> AcceleratorSpec:
    """The engine with an array of 2 x 2, the smallest tile that keeps it busy, and, where words set sizes,
    buffers for tiles of twice as many k."""
    each = spec.data_type.per_word
    m, n, k = 2, max(2, each), max(2, each)
    most = 2 * k if spec.tile.flexible else k
    tile = replace(spec.tile, size=(m, n, k), granule=(m, n, k) if spec.tile.granule else None)
    buffers = {"A": m * most // each, "B": most * n // each, "C": m * n}
    return revise(spec, name=f"{spec.name}_small", tile=tile, buffers=buffers, macs=4)


def shapes(spec: AcceleratorSpec) -> list[dict[str, int]]:
    """Every tile that fits the buffers, by dim."""
    return [dict(zip(spec.dims, tile, strict=True)) for tile in tiles(spec)]


def _all_sizes(spec: AcceleratorSpec, dims: tuple[str, ...]) -> list[tuple[int, ...]]:
    """All that two dims of a tile may be together."""
    return sorted(
        {tuple(dict(zip(spec.dims, tile, strict=True))[dim] for dim in dims) for tile in tiles(spec)}
    )


def tiles(spec: AcceleratorSpec) -> Iterator[tuple[int, int, int]]:
    """Every tile that fits the buffers."""
    geometry = Geometry.of(spec)
    ranges = [
        range(step, most + 1, step) for step, most in zip(geometry.granule, geometry.largest, strict=True)
    ]
    for m in ranges[0]:
        for n in ranges[1]:
            for k in ranges[2]:
                tile = (m, n, k)
                if all(tile[i] * tile[j] <= most for i, j, most in geometry.limits):
                    yield tile
