"""What quantisation did to a network: range and scale of each layer, and its error against float."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from axiloom.quantise.network import Quantised
from axiloom.read.context.referee import INTEGERS, READING, Agreement, Referee, agreement, over_samples
from axiloom.read.pytorch.module import results_of

Array = np.ndarray[Any, Any]
LOW = 20.0
"""SQNR in dB below which the user is told what may help."""


@dataclass(frozen=True)
class Row:
    """One layer. `cosine` and `sqnr` (dB) compare its value with that of the float network."""

    name: str
    kind: str
    shape: tuple[int, ...]
    largest: float
    """Largest magnitude over the calibration samples."""
    scale: float
    cosine: float
    sqnr: float


def compare(integers: Array, scale: float, real: Array) -> tuple[float, float]:
    """Cosine of the angle, and signal to quantisation noise in dB, of ``scale * integers`` against `real`."""
    got, want = integers.astype(np.float64).ravel() * scale, real.astype(np.float64).ravel()
    noise, signal = float(((got - want) ** 2).sum()), float((want**2).sum())
    norms = float(np.linalg.norm(got) * np.linalg.norm(want))
    cosine = float(got @ want) / norms if norms else float(signal == noise)
    sqnr = 10 * math.log10(signal / noise) if noise and signal else (math.inf if not noise else -math.inf)
    return cosine, sqnr


@dataclass(frozen=True)
class Held:
    """The network as it is read (float32), and in integers, against the referee's results of the user's
    own."""

    referee: Referee
    samples: int
    reading: Agreement
    integers: Agreement
    sqnr: float
    """Of the integers against the referee, in dB, over all outputs."""

    def check(self, name: str) -> None:
        """Raise MismatchError where one of the two is another network."""
        self.reading.check(READING, f"{name}: what is read of it (in float32)", self.referee)
        self.integers.check(
            INTEGERS,
            f"{name}: the network in int8",
            self.referee,
            "; calibration data like the real ones, or other layers where the table above shows the loss, "
            "may help",
        )

    def lines(self) -> list[str]:
        """For a person to read, with advice where much is lost."""
        said = [
            f"against {self.referee.name} on {self.samples} samples:",
            f"  as read, in float32: {self.reading}",
            f"  in int8: {self.integers}, SQNR {self.sqnr:.1f} dB",
        ]
        if self.sqnr < LOW:
            said.append(
                f"  note: below {LOW:.0f} dB much is lost. Calibrate with real data, --calibration FILE.npz, "
                "not with random ones; the first layer above whose SQNR falls is the one to change"
            )
        return said


def held(quantised: Quantised) -> Held:
    """Over the samples that are for that."""
    read, integers, wanted = [], [], []
    for sample in quantised.compared:
        wanted.append(quantised.referee.run([value.numpy() for value in sample]))
        read.append(results_of(quantised.module, sample))
        integers.append(quantised.real(sample))
    want = over_samples(wanted)
    got = over_samples(integers)
    flat = [np.concatenate([part.ravel() for part in parts]) for parts in (got, want)]
    sqnr = compare(flat[0], 1.0, flat[1])[1] if flat[0].shape == flat[1].shape else -math.inf
    count = len(quantised.compared)
    return Held(quantised.referee, count, agreement(over_samples(read), want), agreement(got, want), sqnr)


def rows(quantised: Quantised, *, progress: Callable[[str], None] = lambda _line: None) -> list[Row]:
    """A row a layer, over the first samples, outputs last."""
    by_place, kept = {node.place: node for node in quantised.values}, quantised.ranges.kept
    count = quantised.ranges.compared
    integers: dict[str, list[Array]] = {}
    for number, sample in enumerate(quantised.samples[:count]):
        progress(f"checking: sample {number + 1} of {count}")
        for name, value in quantised.run(quantised.inputs(sample), keep=True).items():
            integers.setdefault(name, []).append(value)
    table = []
    for place, node in by_place.items():
        source, scale = quantised.source.get(place), quantised.scale(node)
        if source not in kept or scale is None:
            continue
        if node.op in ("transpose", "slice") or (node.op == "reshape" and not place.endswith(".shape")):
            continue  # the same numbers in another place
        cosine, sqnr = compare(
            np.stack([value.ravel() for value in integers[place]]),
            scale,
            np.stack([value.ravel() for value in kept[source][:count]]),
        )
        name = place.removesuffix(".shape")
        largest = quantised.ranges.largest[source]
        kind = by_place.get(name, node).op
        table.append(Row(name, kind, node.type.shape, largest, scale, cosine, sqnr))
    return table


def text(table: list[Row], *, heading: str) -> str:
    """The rows for a person to read."""
    head = ("layer", "op", "shape", "range", "scale", "cosine", "SQNR dB")
    lines = [head]
    for row in table:
        shape = "x".join(map(str, row.shape))
        number = (f"{row.largest:.4g}", f"{row.scale:.4g}", f"{row.cosine:.5f}", f"{row.sqnr:.1f}")
        lines.append((row.name, row.kind, shape, *number))
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    shown = [
        "  ".join(
            cell.ljust(width) if column < 3 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    return "\n".join([heading, *shown])
