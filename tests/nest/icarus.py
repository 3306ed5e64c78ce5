"""The same as :mod:`axiloom.nest.run` by Icarus Verilog: a second opinion, a hundred times slower.

The test bench is Verilog: memories and streams are arrays of it, read and written as hexadecimal files.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from axiloom.base import processes
from axiloom.cosim.build import icarus
from axiloom.hw.nest.circuit import Circuit, Memory, Storage
from axiloom.hw.nest.core import input_name, output_name, peak_name, stream_bits, touched
from axiloom.hw.nest.forms import plain
from axiloom.hw.nest.memory import external_ports
from axiloom.hw.nest.units import Find
from axiloom.hw.verilog.nest import emit_nest
from axiloom.nest.ports import external, words
from axiloom.nest.run import Arrays, NestError, Outcome, Words, fed, iterations_take, registry, why

BENCH = "nest_bench"


def run_icarus(
    circuit: Circuit, memories: Arrays, inputs: Arrays | None = None, *, find: Find | None = None
) -> Outcome:
    """Run `circuit` once, with checks, streams without pauses. As :func:`axiloom.nest.run`."""
    verilog = emit_nest(circuit, find or registry(), checks=True)
    limit = 1000 + 4 * iterations_take(circuit)
    text = _bench(circuit, verilog.top, limit)
    program = icarus.build((("design.v", verilog.text), ("bench.v", text)), BENCH) / icarus.PROGRAM
    with processes.scratch() as name:
        folder = Path(name)
        for what, values, bits in fed(circuit, memories, inputs or {}):
            (folder / f"{plain(what)}.in").write_text(_hex(values.reshape(-1, words(bits))))
        done = processes.run([icarus.find()[1], program], cwd=folder)
        said = done.stdout.strip().splitlines()
        if done.returncode or not said or not said[-1].startswith("cycles "):
            raise NestError(f"{circuit.name}: {why(circuit, said[-1]) if said else done.stderr.strip()}")
        numbers = [int(part) for part in said[-1].split()[1:]]
        if numbers[1]:
            raise NestError(f"{circuit.name}: {verilog.checks[numbers[1] - 1]}")
        results = dict[str, Words]()
        for memory in external(circuit):
            values = _numbers(folder / f"{plain(memory.name)}.out", memory.bits)
            results[memory.name] = values.reshape(memory.banks, memory.depth, *values.shape[1:])
        outputs = {
            port.fifo: _numbers(folder / f"{plain(port.fifo)}.out", circuit.fifo(port.fifo).bits)
            for port in circuit.outputs
        }
    peaks = {fifo.name: peak for fifo, peak in zip(circuit.fifos, numbers[2:], strict=True)}
    return Outcome(numbers[0], results, outputs, peaks)


def _hex(values: Words) -> str:
    rows = ("".join(f"{int(word):016x}" for word in reversed(row)) for row in values)
    return "\n".join(rows) + "\n"


def _numbers(file: Path, bits: int) -> Words:
    lines = [line for line in file.read_text().splitlines() if not line.startswith("//")]
    if undefined := [number for number, line in enumerate(lines) if "x" in line.lower()]:
        raise NestError(f"{file.stem}: element {undefined[0]} is undefined (X)")
    whole = [int(line, 16) for line in lines]
    count = words(bits)
    mask = (1 << 64) - 1
    rows = [[number >> 64 * k & mask for k in range(count)] for number in whole]
    cells = np.array(rows, np.uint64).reshape(-1, count)
    return cells[:, 0] if count == 1 else cells


def _bench(circuit: Circuit, top: str, limit: int) -> str:
    """Verilog that drives the circuit's ports. Inputs change after the clock's edge, outputs are taken
    before it."""
    declared = ["reg aclk = 0, aresetn = 0, start = 0;", "wire busy, done;", "wire [47:0] cycles;"]
    declared += ["wire [31:0] debug_error;", "integer number;"]
    ports = ["aclk", "aresetn", "start", "busy", "done", "cycles", "debug_error"]
    begin, edge, end, free = list[str](), list[str](), list[str](), list[str]()
    for memory in external(circuit):
        _memory(circuit, memory, declared, ports, begin, edge, end, free)
    for port in circuit.inputs:
        name, bits = input_name(port), circuit.fifo(port.fifo).bits
        data, at = f"data_{name}", f"at_{name}"
        declared += [
            f"reg [{64 * words(bits) - 1}:0] {data} [0:{max(port.elements - 1, 0)}];",
            f"integer {at} = 0;",
            f"wire {name}_tready;",
            f"wire {name}_tvalid = {at} < {port.elements}, {name}_tlast = {at} == {port.elements - 1};",
            f"wire [{stream_bits(bits) - 1}:0] {name}_tdata = {data}[{at}];",
        ]
        ports += [f"{name}_{end_}" for end_ in ("tready", "tvalid", "tlast", "tdata")]
        begin.append(f'$readmemh("{plain(port.fifo)}.in", {data});')
        edge.append(f"if ({name}_tvalid && {name}_tready) {at} <= {at} + 1;")
    for port in circuit.outputs:
        name, bits = output_name(port), circuit.fifo(port.fifo).bits
        data, at = f"data_{name}", f"at_{name}"
        declared += [
            f"reg [{bits - 1}:0] {data} [0:{max(port.elements - 1, 0)}];",
            f"integer {at} = 0;",
            f"wire {name}_tready = 1;",
            f"wire {name}_tvalid, {name}_tlast;",
            f"wire [{stream_bits(bits) - 1}:0] {name}_tdata;",
        ]
        ports += [f"{name}_{end_}" for end_ in ("tready", "tvalid", "tlast", "tdata")]
        edge.append(f"if ({name}_tvalid) begin {data}[{at}] <= {name}_tdata; {at} <= {at} + 1; end")
        wrong = f"{name}_tvalid && {name}_tlast != ({at} == {port.elements - 1})"
        edge.append(f'if ({wrong}) begin $display("{name}: TLAST is wrong"); $finish; end')
        end.append(f'$writememh("{plain(port.fifo)}.out", {data});')
    peaks = [peak_name(fifo) for fifo in circuit.fifos]
    declared += [f"wire [31:0] {peak};" for peak in peaks]
    ports += peaks
    shown = ", ".join(["cycles", "debug_error", *peaks])
    formats = " ".join(["%0d"] * (2 + len(peaks)))
    lines = [
        f"module {BENCH};",
        *declared,
        f"{top} dut ({', '.join(f'.{port}({port})' for port in ports)});",
        "always #5 aclk = ~aclk;",
        *free,
        "always @(posedge aclk) if (aresetn) begin",
        *edge,
        "end",
        "initial begin",
        *begin,
        "repeat (4) @(posedge aclk); #1 aresetn = 1; @(posedge aclk); #1 start = 1;",
        "@(posedge aclk); #1 start = 0; number = 0;",
        f"while (!done && debug_error == 0 && number < {limit})",
        "begin @(posedge aclk); #1; number = number + 1; end",
        f'if (!done && debug_error == 0) $display("not done after {limit} cycles");',
        f'else begin {" ".join(end)} $display("cycles {formats}", {shown}); end',
        "$finish;",
        "end",
        "endmodule",
    ]
    return "\n".join(lines) + "\n"


def _memory(
    circuit: Circuit,
    memory: Memory,
    declared: list[str],
    ports: list[str],
    begin: list[str],
    edge: list[str],
    end: list[str],
    free: list[str],
) -> None:
    """One array holds all banks. A read port without a read gives X."""
    array, read, written = f"words_{plain(memory.name)}", *touched(circuit, memory)
    declared.append(f"reg [{memory.bits - 1}:0] {array} [0:{memory.banks * memory.depth - 1}];")
    begin.append(f'$readmemh("{plain(memory.name)}.in", {array});')
    end.append(f'$writememh("{plain(memory.name)}.out", {array});')
    for bank in range(memory.banks):
        for name, (direction, bits) in external_ports(memory, bank, read, written).items():
            kind = "reg" if direction == "in" else "wire"
            declared.append(f"{kind} [{bits - 1}:0] {name};")
            ports.append(name)
        base, name = bank * memory.depth, f"{plain(memory.name)}_{bank}"
        for port in range(memory.ports if read else 0):
            value = f"{name}_r{port}_en ? {array}[{base} + {name}_r{port}_addr] : {memory.bits}'bx"
            if memory.storage is Storage.BLOCK:
                edge.append(f"{name}_r{port}_data <= {value};")
            else:
                free.append(f"always @* {name}_r{port}_data = {value};")
        if written:
            edge.append(f"if ({name}_w_en) {array}[{base} + {name}_w_addr] <= {name}_w_data;")
