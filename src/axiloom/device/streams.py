"""A device with ``s_axis`` and ``m_axis`` in Verilator, a program of beats at a time."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from axiloom.base import processes
from axiloom.base.cache import cached_build, content_hash
from axiloom.base.errors import DriverError, SimulatorError
from axiloom.base.files import check_written
from axiloom.cosim.build import verilator

MAIN = Path(__file__).with_name("main.cpp")
PROGRAM = "simulation"
LIMIT = 50_000_000
"""Cycles after which a segment has not ended."""

Beats = npt.NDArray[np.uint64]
"""A beat a row: of streams up to 64 bits one word, of wider ones the words from the lowest on."""


@dataclass(frozen=True)
class Segment:
    """What is sent, until the device is idle, or for `stops` cycles. With `resets` a reset comes before."""

    beats: Beats
    resets: bool = True
    stops: int = 0


@dataclass(frozen=True)
class Outcome:
    """`cycles`: from the first cycle with a beat offered to the last one in which the device was busy or a
    beat was on a stream. `packets`: what came out, by TLAST; `rest`: behind the last one. `error`:
    ``debug_error``. `sent`: beats that were taken."""

    cycles: int
    error: int
    sent: int
    packets: tuple[Beats, ...]
    rest: Beats


def run(
    verilog: str,
    top: str,
    segments: Sequence[Segment],
    *,
    width: int = 64,
    pause_in: int = 0,
    pause_out: int = 0,
    seed: int = 0,
    fast: bool = False,
) -> list[Outcome]:
    """`verilog`'s module `top`, which has ``aclk``, ``aresetn``, the streams, ``debug_busy`` and
    ``debug_error``. Pauses: of 256 cycles, so many without a beat offered or taken.
    `fast`: it is compiled for longer, for many cycles.

    Raises DriverError for a segment that does not end, SimulatorError, BuildError.
    """
    program = build(verilog, top, width, fast)
    words = -(-width // 64)
    blocks: list[npt.NDArray[np.uint64]] = [np.array([seed, pause_in, pause_out, len(segments)], np.uint64)]
    for segment in segments:
        head = [LIMIT, segment.stops, int(segment.resets), len(segment.beats)]
        blocks += [np.array(head, np.uint64), np.asarray(segment.beats, np.uint64).ravel()]
    with processes.scratch("axiloom-device-") as folder:
        sent, got = Path(folder) / "in", Path(folder) / "out"
        sent.write_bytes(np.concatenate(blocks).data)
        done = processes.run([program, sent, got])
        check_written(got, done)
        if done.returncode:
            raise SimulatorError(f"{top}: the simulation ended with exit code {done.returncode}")
        raw = np.fromfile(got, np.uint64)
    outcomes, at = [], 0
    for _ in segments:
        last, now, error, taken, ends, beats = (int(word) for word in raw[at : at + 6])
        if now >= LIMIT:
            raise DriverError(f"{top}: no end after {now} cycles, {taken} beats were taken")
        at += 6
        stops = raw[at : at + ends].astype(int)
        at += ends
        data = raw[at : at + words * beats].reshape(beats, words)
        at += words * beats
        starts = [0, *stops]
        packets = tuple(data[a:b] for a, b in itertools.pairwise(starts))
        outcomes.append(Outcome(last, error, taken, packets, data[starts[-1] :]))
    return outcomes


def build(verilog: str, top: str, width: int = 64, fast: bool = False) -> Path:
    """The program, cached by all that goes into it. Raises BuildError."""
    archive = verilator.runtime()
    flags = [*verilator.COMMON, *verilator.trace_flags(None), *verilator.include_flags(), f"-DWIDTH={width}"]
    level = ["-O2", "-march=native"] if fast else ["-O0"]

    def fill(folder: Path) -> None:
        (folder / "design.v").write_text(verilog, encoding="utf-8")
        arguments = ["--top-module", top, "--Mdir", "generated", "design.v"]
        verilator.verilate(arguments, f"Verilator cannot build {top}", folder)
        # One unit: each one more would read all headers again.
        names = sorted(file.name for file in (folder / "generated").glob("*.cpp"))
        (folder / "all.cpp").write_text("".join(f'#include "{name}"\n' for name in [*names, str(MAIN)]))
        inputs: list[str | Path] = ["all.cpp", archive, "-Igenerated", "-pthread", "-o", PROGRAM]
        verilator.compile_cxx([*level, *flags, *inputs], f"compiling the simulation of {top}", folder)
        for file in (folder / "generated").iterdir():
            file.unlink()
        (folder / "generated").rmdir()

    key = content_hash("device", verilator.identity(), level, verilog, top, width, MAIN)
    return cached_build("device", key, fill) / PROGRAM
