"""What a report says of a network: a row for each layer, what stayed on the CPU and why, the memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from axiloom.boards import Board
from axiloom.drivergen.network import Layer, NetworkDriver
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.types import WORD_BITS
from axiloom.report.columns import columns
from axiloom.report.types import (
    LayerLimit,
    LayerRow,
    Limit,
    NetworkPart,
    Offload,
    Report,
    Use,
)

Rows = list[LayerRow]
Laps = Sequence[Sequence[tuple[int, int]]]
"""When each layer begins, and at the end: words in and out so far of each accelerator."""

CPU_CYCLES = 4.0
"""Fabric cycles that a multiply-add on the CPU takes, about; for the estimate of the time left alone."""
MAP_CYCLES = 1000.0
"""The same for an element-wise layer: they are short."""


def weight_of(layer: Layer, specs: Sequence[AcceleratorSpec]) -> float:
    """About how long a layer takes to simulate in relation to others, for progress."""
    if not layer.multiply_adds:
        return MAP_CYCLES
    if layer.device is None:
        return layer.multiply_adds * CPU_CYCLES
    return layer.multiply_adds * 8.0 / specs[layer.device].macs


def rows(
    layers: Sequence[Layer],
    marks: np.ndarray[Any, Any],
    board: Board,
    specs: Sequence[AcceleratorSpec],
    last: int = -1,
    laps: Laps = (),
    ended: int | None = None,
    *,
    begins: Sequence[int] = (),
) -> Rows:
    """A row for each layer that ran: the timer runs at half the CPU's clock.

    `last`: the number of the layer after which the run stopped as it was told, or -1; `ended`: how many
    layers came to their end before the run hung. `begins`: the fabric cycle at which each layer
    began, where all ran in one program.
    """
    ran = layers[:ended] if last < 0 else layers[: last + 1]
    ticks = [int(marks[number + 1]) - int(marks[number]) for number in range(len(ran))]
    total = max(sum(ticks), 1)
    table: Rows = []
    for layer, took in zip(ran, ticks, strict=True):
        ms = took * 2 / board.cpu_hz * 1e3
        table.append(
            {
                "layer": layer.number,
                "function": layer.function,
                "place": layer.place,
                "accelerator": None if layer.device is None else specs[layer.device].name,
                "location": layer.location,
                "reason": layer.reason,
                "multiply_adds": layer.multiply_adds,
                "ops": list(layer.ops),
                "use": _use(layer),
                "limit": _limit(layer, specs, laps, ms * board.fabric_hz / 1e3),
                "ms": round(ms, 6),
                "share": round(took / total, 6),
            }
        )
    for row, begin in zip(table, begins, strict=False):
        row["begin_ms"] = round(begin / board.fabric_hz * 1e3, 6)
    return table


def _use(layer: Layer) -> Use | None:
    used = layer.use
    if used is None:
        return None
    return {"flow": used.flow, "tile": list(used.tile), "pipeline": used.pipeline, "note": used.note}


def _limit(layer: Layer, specs: Sequence[AcceleratorSpec], laps: Laps, cycles: float) -> LayerLimit | None:
    """The lower bound of a layer on its accelerator, as :func:`axiloom.report.build.limit` has it for a
    run."""
    if layer.device is None or len(laps) <= layer.number + 1:
        return None
    before, after = laps[layer.number][layer.device], laps[layer.number + 1][layer.device]
    words_in, words_out = after[0] - before[0], after[1] - before[1]
    spec = specs[layer.device]
    stream = -(-max(words_in, words_out) * WORD_BITS // spec.link.stream_width)
    array = layer.array_cycles
    bound = max(stream, array)
    return {
        "cycles": bound,
        "ratio": round(cycles / bound, 4) if bound else None,
        "by": "stream" if stream >= array else "array",
        "stream_cycles": stream,
        "array_cycles": array,
        "words_in": words_in,
        "words_out": words_out,
    }


def limit(whole: Limit, layers: Rows, cycles: int) -> Limit:
    """The report's ``limit`` of a network: layers run one after another, so their bounds add up.

    `whole` has what is of the hardware alone.
    """
    bounds = [row["limit"] for row in layers if row["limit"]]
    bound = sum(limit_["cycles"] for limit_ in bounds)
    stream = sum(limit_["stream_cycles"] for limit_ in bounds)
    array = sum(limit_["array_cycles"] for limit_ in bounds)
    return {
        **whole,
        "cycles": bound,
        "ratio": round(cycles / bound, 4) if bound else None,
        "by": "stream" if stream >= array else "array",
        "stream_cycles": stream,
        "array_cycles": array,
        "multiply_adds": sum(row["multiply_adds"] for row in layers if row["limit"]),
    }


def compared(layers: Rows, alone: Rows | None) -> Rows:
    """`layers` with ``alone_ms``: the time of the same ops on the CPU alone, None where it is not known.

    Both networks are cut from the same ops, the CPU's into the smaller pieces.
    """
    if alone is None:
        return [{**row, "alone_ms": None} for row in layers]
    rows: Rows = []
    for row in layers:
        inside = [other for other in alone if set(other["ops"]) <= set(row["ops"])]
        whole = {op for other in inside for op in other["ops"]} == set(row["ops"])
        rows.append({**row, "alone_ms": round(sum(r["ms"] for r in inside), 6) if whole else None})
    return rows


def offload(layers: Rows, alone: Rows | None) -> Offload:
    """Time on the accelerators and on the CPU; beside the CPU alone, the speed of the offloaded part."""
    own = [row for row in layers if row["place"] == "accelerator"]
    ms, total = sum(row["ms"] for row in own), sum(row["ms"] for row in layers)
    bounds = [row["limit"]["cycles"] for row in own if row["limit"]]
    times = known(row["alone_ms"] for row in own)
    same = alone is not None and len(times) == len(own)
    whole = sum(row["ms"] for row in alone) if alone else 0.0
    return {
        "layers": len(own),
        "ms": round(ms, 6),
        "host_ms": round(total - ms, 6),
        "share": round(ms / total, 6) if total else 0.0,
        "limit_cycles": sum(bounds),
        "alone_ms": round(sum(times), 6) if same else None,
        "speed_up": round(sum(times) / ms, 4) if same and ms else None,
        "end_to_end": round(whole / total, 4) if alone and total else None,
    }


def known(values: Iterable[float | None]) -> list[float]:
    """Those that are not None."""
    return [value for value in values if value is not None]


def section(
    driver: NetworkDriver,
    marks: np.ndarray[Any, Any],
    board: Board,
    specs: Sequence[AcceleratorSpec],
    last: int,
    beside: Rows | None,
    laps: Laps = (),
    ended: int | None = None,
    *,
    begins: Sequence[int] = (),
) -> NetworkPart:
    """The report's ``network``; `beside` are the rows of the same network on the CPU alone."""
    table = compared(rows(driver.layers, marks, board, specs, last, laps, ended, begins=begins), beside)
    return {
        "layers": table,
        "cpu_layers": beside,
        "offload": offload(table, beside if last < 0 else None),
        "arena": {
            "peak": driver.memory.peak,
            "unshared": driver.memory.total,
            "buffers": [
                {
                    "name": place.buffer.name,
                    "offset": place.offset,
                    "size": place.buffer.size,
                    "first": place.buffer.first,
                    "last": place.buffer.last,
                }
                for place in driver.memory.places
            ],
        },
        "weights": {
            "bytes": sum(array.nbytes for array in driver.weights.values()),
            "arrays": len(driver.weights),
        },
        "stopped_after": None if last < 0 else last,
    }


def memory_map(driver: NetworkDriver) -> str:
    """The arena as text: which layer's result lies where, and how long."""
    lines = [f"arena: {driver.memory.peak:,} bytes, {driver.memory.total:,} if nothing shared memory", ""]
    for place in sorted(driver.memory.places, key=lambda place: (place.offset, place.buffer.first)):
        buffer = place.buffer
        span = f"layers {buffer.first} to {buffer.last}"
        lines.append(f"{place.offset:>10} {buffer.size:>10}  {span:<18} {buffer.name}")
    return "\n".join(lines) + "\n"


# --- the table ---------------------------------------------------------------------------------------


def lines(report: Report) -> list[str]:
    """The network's part of the table in a terminal."""
    network = report["network"]
    text = ["", *sums(report), *kept_lines(network), *_layer_table(report)]
    text += _remarks(network["layers"])
    arena, weights = network["arena"], network["weights"]
    text += [
        "",
        f"Tensors between layers: {arena['peak']:,} bytes ({arena['unshared']:,} without sharing); "
        f"weights: {weights['bytes']:,} bytes in {weights['arrays']} arrays",
    ]
    if network["stopped_after"] is not None:
        text.append(f"Stopped after layer {network['stopped_after']}")
    return text


def sums(report: Report) -> list[str]:
    """A sentence or two: time offloaded and on the host, and beside the CPU alone."""
    network = report["network"]
    part = network["offload"]
    total = part["ms"] + part["host_ms"]
    said = [
        f"Layers: {total:.3f} ms; {part['layers']} offloaded {part['ms']:.3f} ms ({part['share']:.1%}), "
        f"{len(network['layers']) - part['layers']} on the host {part['host_ms']:.3f} ms"
    ]
    if part["end_to_end"] is not None and network["cpu_layers"]:
        alone = sum(row["ms"] for row in network["cpu_layers"])
        text = f"{alone_title(report)} alone: {alone:.3f} ms"
        if part["alone_ms"] is not None:
            text += f", {part['alone_ms']:.3f} ms of it in the offloaded part"
        text += f". Speed-up: {part['end_to_end']:.2f} end to end"
        said.append(text + (f", {part['speed_up']:.2f} offloaded" if part["speed_up"] else ""))
    return said


def kept_lines(network: NetworkPart) -> list[str]:
    """What of the layers is from the store, and how far off a store was that all were compared with."""
    kept = network.get("kept")
    if kept is None:
        return []
    count, total = len(kept["kept"]), len(network["layers"])
    said = []
    if count:
        other = f", {len(kept['other_data'])} of them with other data" if kept["other_data"] else ""
        said.append(
            f"Simulated: {kept['simulated']} of {total} layers; {count} from the store{other} "
            "(--layers again simulates all, and compares)"
        )
    if kept["off"] is not None and kept["off_most"] is not None:
        said.append(
            f"The store: {kept['compared']} layers, together {kept['off']:+.2%} off, at most "
            f"{kept['off_most']:.2%} (layer {kept['off_layer']})"
        )
    return said


def alone_title(report: Report) -> str:
    """What a table calls the CPU alone."""
    return "CPU with NEON kernels" if "cpu" in report and report["cpu"]["kernel"] == "neon" else "CPU"


def how(row: LayerRow) -> str:
    """How a layer uses its accelerator: ``Cs 64x64x128 copying``; a star where that is not as asked for."""
    use = row["use"]
    if use is None:
        return ""
    tile = "x".join(map(str, use["tile"]))
    return f"{use['flow']} {tile} {use['pipeline']}{'*' if use['note'] else ''}"


def _layer_table(report: Report) -> list[str]:
    network = report["network"]
    alone = network["cpu_layers"] is not None
    head = ["", "layer", "runs on", "how", "ms", "share", "limit"]
    cells = [tuple(head + (["alone, ms", "times"] if alone else []))]
    for row in network["layers"]:
        cell = [
            f"  {row['layer']}",
            row["function"],
            row["accelerator"] or row["place"],
            how(row),
            f"{row['ms']:.3f}",
            f"{row['share']:.1%}",
            f"{row['limit']['ratio']:.2f}" if row["limit"] and row["limit"]["ratio"] else "",
        ]
        if alone:
            ms = row["alone_ms"]
            cell += ["", ""] if ms is None else [f"{ms:.3f}", f"{ms / row['ms']:.2f}" if row["ms"] else ""]
        cells.append(tuple(cell))
    return columns(cells, "><<<>>>" + (">>" if alone else ""))


def _remarks(layers: Rows) -> list[str]:
    """Why layers stayed on the CPU, and why others are not offloaded as it was asked for: each once."""
    stays = [(row, row["reason"]) for row in layers if row["reason"]]
    other = [(row, row["use"]["note"]) for row in layers if row["use"] and row["use"]["note"]]
    text: list[str] = []
    for title, remarks in (
        ("On the CPU, although an accelerator might take it:", stays),
        ("* Not as asked for:", other),
    ):
        first: dict[tuple[str, str], str] = {}
        for row, why in remarks:
            first.setdefault((row["function"], why), row["location"])
        if first:
            text += ["", title, *(f"  {place}: {name}: {why}" for (name, why), place in first.items())]
    return text
