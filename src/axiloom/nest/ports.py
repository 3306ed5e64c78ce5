"""``ports.h``: what connects `main.cpp` with the ports of one circuit."""

from __future__ import annotations

from collections.abc import Callable

from axiloom.hw.nest.circuit import Circuit, Memory, Port, Storage
from axiloom.hw.nest.core import input_name, output_name, peak_name, touched
from axiloom.hw.nest.forms import plain


def words(bits: int) -> int:
    """64-bit words of an element."""
    return max(1, -(-bits // 64))


def cell(bits: int) -> int:
    """Bits of the integer that holds an element of a memory, or each of its 64-bit words."""
    return next((size for size in (8, 16, 32) if bits <= size), 64)


def mask(bits: int) -> int:
    """Of the last word of an element."""
    return (1 << (bits - 64 * (words(bits) - 1))) - 1


def _reads(circuit: Circuit, wanted: Callable[[Memory], bool]) -> list[tuple[int, Memory, int, int, str]]:
    """Every read port: memory's number, memory, bank, port's number, and its name in Verilog."""
    return [
        (number, memory, bank, port, f"{plain(memory.name)}_{bank}_r{port}")
        for number, memory in enumerate(external(circuit))
        if touched(circuit, memory)[0] and wanted(memory)
        for bank in range(memory.banks)
        for port in range(memory.ports)
    ]


def external(circuit: Circuit) -> list[Memory]:
    return [memory for memory in circuit.memories if memory.external]


def _clocked(memory: Memory) -> bool:
    return memory.storage is Storage.BLOCK


def header(circuit: Circuit, checks: bool) -> str:
    """The text of ``ports.h``."""
    memories = external(circuit)
    lines = ["// Generated: the ports of one circuit."]
    for number, memory in enumerate(memories):
        kind = f"Memory<uint{cell(memory.bits)}_t, {words(memory.bits)}>"
        size = f"{memory.banks}, {memory.depth}"
        lines.append(f'static {kind} memory_{number}{{"{plain(memory.name)}", {size}, {{}}, {{}}}};')
        lines.append(
            f"static uint64_t kept_{number}[{memory.banks}][{memory.ports}][{words(memory.bits)}];",
        )
    for number, port in enumerate(circuit.inputs):
        bits = circuit.fifo(port.fifo).bits
        lines.append(
            f"static Input input_{number}{{{port.elements}, {words(bits)}, {mask(bits):#x}ull, {{}}}};"
        )
    for number, port in enumerate(circuit.outputs):
        bits = circuit.fifo(port.fifo).bits
        size = f"{port.elements}, {_stream_words(circuit, port)}"
        lines.append(f'static Output output_{number}{{"{plain(port.fifo)}", {size}, {{}}}};')
    lines.append(f"#define ERROR(top) {'top->debug_error' if checks else '0'}")
    lines += _function("void load(FILE *file)", _loads(circuit))
    lines += _function("void begin(bool again)", _begins(circuit))
    lines += _function(
        "void drive_streams(Vtop *top, unsigned pause_in, unsigned pause_out)", _drives(circuit)
    )
    lines += _function("bool settle_reads(Vtop *top)", _settles(circuit))
    lines += _function("void sample_ports(Vtop *top)", _samples(circuit))
    lines += _function("void drive_reads(Vtop *top)", _driven(circuit))
    lines += _function("void save(Vtop *top, FILE *file)", _saves(circuit, checks))
    return "\n".join(lines) + "\n"


def _function(head: str, body: list[str]) -> list[str]:
    return [f"static {head} {{", *(f"    {line}" for line in body), "}"]


def _stream_words(circuit: Circuit, port: Port) -> int:
    """The stream's width in words: more than the element's where that is no power of two."""
    from axiloom.hw.nest.core import stream_bits

    return words(stream_bits(circuit.fifo(port.fifo).bits))


def _loads(circuit: Circuit) -> list[str]:
    return [
        *(f"memory_{number}.load(file);" for number, _ in enumerate(external(circuit))),
        *(f"input_{number}.load(file);" for number, _ in enumerate(circuit.inputs)),
    ]


def _begins(circuit: Circuit) -> list[str]:
    return [
        *(f"memory_{n}.begin(again);" for n, _ in enumerate(external(circuit))),
        *(f"input_{n}.next = 0, input_{n}.offered = false;" for n, _ in enumerate(circuit.inputs)),
        *(
            f"output_{n}.next = 0, output_{n}.data.assign(output_{n}.elements * output_{n}.words, 0);"
            for n, _ in enumerate(circuit.outputs)
        ),
    ]


def _drives(circuit: Circuit) -> list[str]:
    names = [(n, input_name(port)) for n, port in enumerate(circuit.inputs)]
    return [
        *(f"input_{n}.drive(top->{x}_tvalid, top->{x}_tlast, top->{x}_tdata, pause_in);" for n, x in names),
        *(f"top->{output_name(port)}_tready = random_byte() >= pause_out;" for port in circuit.outputs),
    ]


def _settles(circuit: Circuit) -> list[str]:
    """Reads without latency."""
    lines = []
    for n, memory, bank, port, name in _reads(circuit, lambda memory: not _clocked(memory)):
        kept = f"kept_{n}[{bank}][{port}]"
        lines.append(f"memory_{n}.read({bank}, top->{name}_en, top->{name}_addr, {kept});")
        lines.append(f"put(top->{name}_data, {kept}, {mask(memory.bits):#x}ull);")
    return [*lines, f"return {'true' if lines else 'false'};"]


def _samples(circuit: Circuit) -> list[str]:
    """All reads come before all writes: they see what was there."""
    lines = [
        f"memory_{n}.read({bank}, top->{name}_en, top->{name}_addr, kept_{n}[{bank}][{port}]);"
        for n, _, bank, port, name in _reads(circuit, _clocked)
    ]
    for n, memory in enumerate(external(circuit)):
        for bank in range(memory.banks if touched(circuit, memory)[1] else 0):
            name = f"top->{plain(memory.name)}_{bank}_w"
            lines.append(f"memory_{n}.write({bank}, {name}_en, {name}_addr, {name}_data);")
    lines += [f"input_{n}.sample(top->{input_name(port)}_tready);" for n, port in enumerate(circuit.inputs)]
    for n, port in enumerate(circuit.outputs):
        x = f"top->{output_name(port)}"
        lines.append(f"output_{n}.sample({x}_tvalid, {x}_tready, {x}_tlast, {x}_tdata);")
    return lines


def _driven(circuit: Circuit) -> list[str]:
    return [
        f"put(top->{name}_data, kept_{n}[{bank}][{port}], {mask(memory.bits):#x}ull);"
        for n, memory, bank, port, name in _reads(circuit, _clocked)
    ]


def _saves(circuit: Circuit, checks: bool) -> list[str]:
    lines = [f"memory_{n}.save(file);" for n, _ in enumerate(external(circuit))]
    for n, _ in enumerate(circuit.outputs):
        lines.append(f"std::fwrite(output_{n}.data.data(), 8, output_{n}.data.size(), file);")
    for fifo in circuit.fifos if checks else ():
        lines.append(f"{{ uint64_t peak = top->{peak_name(fifo)}; std::fwrite(&peak, 8, 1, file); }}")
    return lines
