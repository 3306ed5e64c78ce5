"""The driver in C of a nest behind ports: a function with the arguments of the user's, and a main to try it.

With a DMA that has scatter-gather, arrays that lie in memory as they travel are read and written in place;
others, and all in the DMA's direct mode, go through its windows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from axiloom.errors import CompileError
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.nests.ports.packet import Packet, Part
from axiloom.nests.program import Array, Program, Role

HEADER, DRIVER, MAIN = "driver.h", "driver.c", "driver_main.c"
SYMBOL = "arg_"
"""Before an argument's name: its array in `MAIN`."""
_TAKEN = re.compile(r"(axl_|dma_|AXL_|DMA_|__)|(main|memcpy|memset|memmove)$")
_NAME = re.compile(r"[A-Za-z_]\w*$", re.ASCII)
_KINDS = {"float32": "f32", "int8": "i8", "uint8": "u8", "int16": "i16", "uint16": "i16", "int32": "i32"}
_TRY = """#define TRY(call)                             \\
    do {                                      \\
        const dma_status try_status = (call); \\
        if (try_status != DMA_OK)             \\
            return try_status;                \\
    } while (0)"""
_UNPACK = """/* Rows of `bytes` bytes, of which each takes `padded` bytes in a packet. Returns the end of the last one. */
static const uint8_t *unpack(void *to, const uint8_t *from, uint32_t rows, uint32_t bytes, uint32_t padded)
{
    for (uint32_t row = 0; row < rows; row++)
        memcpy((uint8_t *)to + row * bytes, from + row * padded, bytes);
    return from + rows * padded;
}"""
_SEND = """/* Rows of `bytes` bytes, which are whole beats: as they lie in memory, if they begin on a beat. */
#define SEND(KIND, array, rows, columns, padded)                                                    \\
    do {                                                                                            \\
        const uint32_t bytes = (rows) * (columns) * (uint32_t)sizeof *(array);                      \\
        if ((columns) == (padded) && (uintptr_t)(array) % (AXL_STREAM_BITS / 8) == 0) {             \\
            dma_clean_rows((array), bytes, 1, bytes);                                               \\
            TRY(dma_queue_rows((array), bytes, 1, bytes));                                          \\
        } else {                                                                                    \\
            TRY(dma_queue_tile_##KIND((array), (rows), (columns), (columns), 1, (rows), (padded))); \\
        }                                                                                           \\
    } while (0)"""


@dataclass(frozen=True)
class Sources:
    """Files of C, by name, and what is in them."""

    function: str
    files: dict[str, str]
    arguments: tuple[Array, ...]
    """In the order of the function's parameters."""

    def symbol(self, array: str) -> str:
        """Of the argument's array in `MAIN`."""
        return f"{SYMBOL}{array}"


def sources(
    program: Program, inputs: Packet, outputs: Packet, spec: AcceleratorSpec, banner: str = ""
) -> Sources:
    """The driver of `spec`, whose RTL takes and gives these packets. CompileError for names that C or the
    runtime has already."""
    arguments = tuple(array for array in program.arrays if array.role is not Role.LOCAL)
    for name in (program.name, *(array.name for array in arguments)):
        if not _NAME.match(name) or _TAKEN.match(name):
            raise CompileError(f"{program.name}: `{name}` cannot be a name in the driver in C; give it another")
    head = f"/* {program.name}: driver of {spec.name}.{f' {banner}' if banner else ''} */\n"
    signature = f"{program.name}({', '.join(map(_parameter, arguments))})"
    queue = spec.dma.scatter_gather
    body = _queued(inputs, outputs) if queue else _windows(inputs, outputs)
    dma = spec.dma
    windows = (dma.address, dma.input_address, dma.input_buffer_size, dma.output_address, dma.output_buffer_size)
    order = [
        *_comment("In: ", inputs),
        *_comment("Back: ", outputs),
    ]
    text = [
        head,
        "#include <string.h>\n",
        f'#include "{HEADER}"',
        *(['#include "axiloom_sg.h"'] if queue else []),
        "",
        _TRY,
        "",
        _UNPACK,
        *(["", _SEND, "", *_taker(outputs)] if queue else []),
        "",
        f"dma_status {program.name}_init(void)",
        "{",
        f"    return dma_init({', '.join(f'{value:#x}u' for value in windows)});",
        "}",
        "",
        *order,
        f"dma_status {signature}",
        "{",
        *body,
        "    return DMA_OK;",
        "}",
        "",
    ]
    header = [
        head,
        "#ifndef DRIVER_H",
        "#define DRIVER_H",
        "",
        '#include "axiloom.h"',
        "",
        "/* Once, before the function. */",
        f"dma_status {program.name}_init(void);",
        "",
        f"dma_status {signature};",
        "",
        "#endif",
        "",
    ]
    return Sources(
        program.name,
        {HEADER: "\n".join(header), DRIVER: "\n".join(text), MAIN: _main(head, program.name, arguments)},
        arguments,
    )


def _parameter(array: Array) -> str:
    return f"{_type(array)} {array.name}" + (
        "".join(f"[{size}]" for size in array.shape) if array.shape else _pointer(array)
    )


def _pointer(array: Array) -> str:
    """A scalar that is given comes by value; one that is a result, by its address."""
    return "[1]" if array.role.is_result else ""


def _type(array: Array) -> str:
    host = Part(array, 64).host
    return "float" if host.kind == "f" else f"{host.name}_t"


def _kind(part: Part) -> str:
    found = _KINDS.get(part.host.name)
    if found is None:
        raise CompileError(
            f"array {part.array.name} of {part.array.number} has no function in the runtime that packs it; "
            f"there are {', '.join(_KINDS)}"
        )
    return found


def _first(array: Array) -> str:
    """A pointer to the first element."""
    if not array.shape:
        return array.name if array.role.is_result else f"&{array.name}"
    return f"&{array.name}{'[0]' * len(array.shape)}"


def _cast(part: Part) -> str:
    """As :func:`_first`, in the type that the runtime's functions take."""
    return f"({part.host.name[1:]}_t *){_first(part.array)}" if part.host.name == "uint16" else _first(part.array)


def _comment(title: str, packet: Packet) -> list[str]:
    """One line an array: its shape and beats."""
    lines = [f"{part.array.name} {'x'.join(map(str, part.array.shape)) or 'scalar'}" for part in packet.parts]
    return [f"/* {title}{', '.join(lines)}: {packet.beats} beats. */"]


def _queued(inputs: Packet, outputs: Packet) -> list[str]:
    words = outputs.words
    lines, only = [], outputs.parts[0] if len(outputs.parts) == 1 else None
    if only is not None and only.in_place:
        size = only.beats * only.width // 8
        place = _first(only.array)
        lines += [
            "    /* In place, if no cache line has something else in it. */",
            f"    const int in_place = (uintptr_t){place} % AXL_CACHE_LINE == 0 && {size}u % AXL_CACHE_LINE == 0;",
            f"    TRY(dma_queue_open({words}u, in_place ? NULL : take_results));",
        ]
        if only.array.role.is_given:
            lines.append(f"    dma_clean_rows({place}, {size}u, 1, {size}u);")
        lines += [
            f"    void *results[] = {{{place}}};",
            "    if (in_place)",
            f"        TRY(dma_queue_receive_rows({place}, {size}u, 1, 0));",
            "    else",
            "        TRY(dma_queue_receive(results, 1, 1));",
        ]
    else:
        places = ", ".join(_first(part.array) for part in outputs.parts)
        lines += [
            f"    TRY(dma_queue_open({words}u, take_results));",
            f"    void *results[] = {{{places}}};",
            "    TRY(dma_queue_receive(results, 1, 1));",
        ]
    for part in inputs.parts:
        shape = f"{part.rows}u, {part.columns}u, {part.row_beats * part.lanes}u"
        lines.append(f"    SEND({_kind(part)}, {_cast(part)}, {shape});")
    return [*lines, "    TRY(dma_queue_close());"]


def _taker(outputs: Packet) -> list[str]:
    """The function that takes a packet that came through the output window."""
    return [
        "static void take_results(void *to, const int32_t *packet, uint32_t rows, uint32_t cols)",
        "{",
        "    void *const *results = to;",
        "    const uint8_t *from = (const uint8_t *)packet;",
        "    (void)rows, (void)cols;",
        *(f"    from = unpack(results[{i}], from, {_unpacked(part)});" for i, part in enumerate(outputs.parts)),
        "    (void)from;",
        "}",
    ]


def _unpacked(part: Part) -> str:
    return f"{part.rows}u, {part.columns * part.bits // 8}u, {part.row_beats * part.width // 8}u"


def _windows(inputs: Packet, outputs: Packet) -> list[str]:
    lines, offset = [], 0
    for part in inputs.parts:
        padded = part.row_beats * part.lanes
        lines.append(
            f"    TRY(dma_put_tile_{_kind(part)}({_cast(part)}, {part.rows}u, {part.columns}u, "
            f"{part.columns}u, 1, {part.rows}u, {padded}u, {offset}u));"
        )
        offset += part.beats * part.width // 32
    return [
        *lines,
        f"    TRY(dma_start_recv({outputs.words}u, 0));",
        f"    TRY(dma_start_send({inputs.words}u, 0));",
        "    TRY(dma_wait_send());",
        "    TRY(dma_wait_recv());",
        "    const uint8_t *from = (const uint8_t *)(uintptr_t)dma_out_buffer();",
        *(f"    from = unpack({_first(part.array)}, from, {_unpacked(part)});" for part in outputs.parts),
        "    (void)from;",
    ]


def _main(head: str, function: str, arguments: Sequence[Array]) -> str:
    """Arrays for the arguments, which a simulator fills and reads by their symbols, and one call."""
    lines = [head, f'#include "{HEADER}"', ""]
    for array in arguments:
        shape = "".join(f"[{size}]" for size in array.shape or (1,))
        lines.append(f"{_type(array)} {SYMBOL}{array.name}{shape} __attribute__((aligned(64)));")
    call = ", ".join(
        f"{SYMBOL}{array.name}{'[0]' if not array.shape and not array.role.is_result else ''}"
        for array in arguments
    )
    lines += [
        "",
        "int main(void)",
        "{",
        f"    dma_status status = {function}_init();",
        "    if (status == DMA_OK)",
        f"        status = {function}({call});",
        "    if (status == DMA_OK)",
        "        status = dma_free();",
        "    return (int)status;",
        "}",
        "",
    ]
    return "\n".join(lines)
