"""Runs a circuit in Verilator: arrays and streams in, arrays, streams and cycles out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from axiloom.base import processes
from axiloom.base.errors import AxiloomError
from axiloom.base.files import check_written
from axiloom.hw.nest.circuit import Circuit
from axiloom.hw.nest.core import stream_bits
from axiloom.hw.nest.units import Find
from axiloom.nest.build import emit_and_build
from axiloom.nest.ports import cell, external, words
from axiloom.nest.progress import SILENT, Steps
from axiloom.nests.timing import deadlock

Words = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]
Cells = npt.NDArray[np.unsignedinteger]
Arrays = Mapping[str, npt.NDArray[np.unsignedinteger]]


class NestError(AxiloomError):
    """A circuit that did not run as it must."""


@dataclass(frozen=True)
class Pauses:
    """Streams that stand still now and then: a source in `source` of 256 cycles, a sink in `sink` of 256."""

    seed: int = 0
    source: int = 0
    sink: int = 0


@dataclass(frozen=True)
class Outcome:
    """`memories` as :func:`run` takes them, in the smallest integers that hold an element; `outputs` by FIFO;
    `peaks`: the most places of each FIFO that were taken at once (empty without checks)."""

    cycles: int
    memories: dict[str, Cells]
    outputs: dict[str, Words]
    peaks: dict[str, int] = field(default_factory=dict)


def run(
    circuit: Circuit,
    memories: Arrays,
    inputs: Arrays | None = None,
    *,
    find: Find | None = None,
    checks: bool = True,
    fast: bool | None = None,
    pauses: Pauses = Pauses(),
    limit: int | None = None,
    steps: Steps = SILENT,
) -> Outcome:
    """Run `circuit` once.

    `memories`: for each external memory its raw elements, (banks, depth), unsigned integers; beyond 64 bits
    (banks, depth, words), 64-bit words with the lowest first. `inputs`: for each input's FIFO its elements,
    (elements,) or (elements, words). Results have the same forms.

    With `checks` the RTL watches itself. `fast` compiles for longer so that it runs faster (None: as the
    number of iterations suggests). Raises :exc:`NestError` if a check fails, or if the circuit is not done
    after `limit` cycles (None: many times what its iterations take). `steps` tells how far it is.
    """
    return runs(
        circuit,
        memories,
        inputs,
        find=find,
        checks=checks,
        fast=fast,
        pauses=pauses,
        limit=limit,
        times=1,
        steps=steps,
    )[0]


def runs(
    circuit: Circuit,
    memories: Arrays,
    inputs: Arrays | None = None,
    *,
    find: Find | None = None,
    checks: bool = True,
    fast: bool | None = None,
    pauses: Pauses = Pauses(),
    limit: int | None = None,
    times: int = 2,
    reset_between: bool = False,
    steps: Steps = SILENT,
) -> list[Outcome]:
    """As :func:`run`, `times` times in a row with the same memories and inputs; `reset_between`: with another
    run before each, which a reset breaks off."""
    expected = iterations_take(circuit)
    program, verilog = emit_and_build(
        circuit, find or registry(), checks, expected > 50_000 if fast is None else fast, steps
    )
    paused = 256 / (256 - max(pauses.source, pauses.sink))
    limit = limit or 1000 + int(4 * paused * expected)
    with processes.scratch() as folder:
        data, result = Path(folder) / "input", Path(folder) / "output"
        taken = fed(circuit, memories, inputs or {})
        held = len(external(circuit))
        with data.open("wb") as file:
            for number, (_, part, bits) in enumerate(taken):
                kind = _kind(cell(bits) if number < held else 64)
                file.write(np.ascontiguousarray(part, kind).data)
        numbers = (times, int(reset_between), limit, pauses.seed, pauses.source, pauses.sink)
        command: list[str | Path] = [program, data, result, *map(str, numbers)]
        size = times * expected * len(verilog.text)
        with steps.step(f"simulating about {expected:,} cycles", "simulate", size):
            done = processes.run(command)
        check_written(result, done)
        if done.returncode:
            said = why(circuit, done.stdout.strip()) or f"exit code {done.returncode}"
            raise NestError(f"{circuit.name}: {said}")
        raw = np.fromfile(result, np.uint8)
    outcomes = []
    for _ in range(times):
        error, outcome, raw = _unpack(circuit, raw, checks)
        if error:
            raise NestError(f"{circuit.name}: {verilog.checks[error - 1]}")
        outcomes.append(outcome)
    return outcomes


NOT_DONE = "not done after"


def why(circuit: Circuit, said: str) -> str:
    """What a simulation said, and of a circuit that was not done, who waits for what."""
    if not said.startswith(NOT_DONE):
        return said
    waits = deadlock(circuit)
    return f"{said}: {waits or 'by the timing no pipe waits forever, so the RTL differs from it'}"


def registry() -> Find:
    from axiloom.hw.nest import operators

    return operators.operator


def iterations_take(circuit: Circuit) -> int:
    """Cycles, if nothing happens at the same time."""
    steps = sum(pipe.iterations * pipe.interval + pipe.last_slot + 1 for pipe in circuit.pipes)
    return steps + sum(port.elements for port in (*circuit.inputs, *circuit.outputs))


def fed(
    circuit: Circuit, memories: Arrays, inputs: Arrays
) -> list[tuple[str, npt.NDArray[np.unsignedinteger], int]]:
    """What goes in, in the order of ports: name, elements, bits of one. Raises :exc:`NestError`."""
    ports = []
    for memory in external(circuit):
        shape = (memory.banks, memory.depth, words(memory.bits))
        array = _checked(f"memory {memory.name}", memories.get(memory.name), shape)
        ports.append((memory.name, array, memory.bits))
    for port in circuit.inputs:
        bits = circuit.fifo(port.fifo).bits
        array = _checked(f"input {port.fifo}", inputs.get(port.fifo), (port.elements, words(bits)))
        ports.append((port.fifo, array, bits))
    return ports


def _checked(
    what: str, array: npt.NDArray[np.unsignedinteger] | None, shape: tuple[int, ...]
) -> npt.NDArray[np.unsignedinteger]:
    shown = shape[:-1] if shape[-1] == 1 else shape
    if array is None or array.shape not in (shape, shown) or array.dtype.kind != "u":
        shape_given = "nothing" if array is None else f"{array.dtype} of shape {array.shape}"
        raise NestError(f"{what} takes unsigned integers of shape {shown}, not {shape_given}")
    return array


def _kind(bits: int) -> np.dtype[np.unsignedinteger]:
    return np.dtype(f"<u{bits // 8}")


def _unpack(circuit: Circuit, raw: Bytes, checks: bool) -> tuple[int, Outcome, Bytes]:
    """The number of the check that failed, what came out of a run, and the rest of `found`."""
    at = 0

    def taken(number: int, bits: int = 64) -> Cells:
        nonlocal at
        first, at = at, at + number * bits // 8
        return raw[first:at].view(_kind(bits))

    cycles, error = (int(word) for word in taken(2))
    memories, outputs, peaks = dict[str, Cells](), dict[str, Words](), dict[str, int]()
    for memory in external(circuit):
        count = words(memory.bits)
        size = memory.banks * memory.depth * count
        part = taken(size, cell(memory.bits)).reshape(memory.banks, memory.depth, count)
        memories[memory.name] = part[:, :, 0] if count == 1 else part
    for port in circuit.outputs:
        bits = circuit.fifo(port.fifo).bits
        count = words(stream_bits(bits))
        sent = taken(port.elements * count).astype(np.uint64).reshape(port.elements, count)
        outputs[port.fifo] = sent[:, 0] if words(bits) == 1 else sent[:, : words(bits)]
    for fifo in circuit.fifos if checks else ():
        peaks[fifo.name] = int(taken(1)[0])
    return error, Outcome(cycles, memories, outputs, peaks), raw[at:]
