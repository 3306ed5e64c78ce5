"""The driver in C of a nest behind ports: a function with the arguments of the user's.

It comes twice: ``gemm(float alpha, float C[200][220], ...)``, and ``gemm_flat``, which takes a pointer to the
first element of each argument, of scalars too. With a DMA that has scatter-gather, arrays that lie in memory
as they travel are read and written in place; others, and all in the DMA's direct mode, go through its
windows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from axiloom.base.errors import CompileError
from axiloom.drivergen.c.status import TRY
from axiloom.isa.contract.spec import Link
from axiloom.nests.ports.packet import Packet, Part
from axiloom.nests.program import Array, Program, Role

HEADER, DRIVER = "driver.h", "driver.c"
_TAKEN = re.compile(
    r"(axl_|dma_|AXL_|DMA_|__)|(main|memcpy|memset|results|from|in_place|send|unpack|take_results)$"
)
_NAME = re.compile(r"[A-Za-z_]\w*$", re.ASCII)
_KINDS = {"float32": "f32", "int8": "i8", "uint8": "u8"} | {
    f"{sign}int{bits}": f"i{bits}" for bits in (16, 32) for sign in ("", "u")
}
_UNPACK = """/* Rows of `bytes` bytes, each in `padded` bytes of a packet. Returns the end of the last one. */
static const uint8_t *unpack(void *to, const uint8_t *from, uint32_t rows, uint32_t bytes, uint32_t padded)
{
    for (uint32_t row = 0; row < rows; row++)
        memcpy((uint8_t *)to + row * bytes, from + row * padded, bytes);
    return from + rows * padded;
}"""
_SEND = """/* Bytes as they lie in memory, whole beats: the CPU cleans some while the DMA sends others. */
static dma_status send(const void *from, uint32_t bytes)
{
    for (uint32_t at = 0; at < bytes; at += 8192) {
        const uint32_t size = bytes - at < 8192 ? bytes - at : 8192;
        dma_clean_rows((const uint8_t *)from + at, size, 1, size);
        TRY(dma_queue_rows((const uint8_t *)from + at, size, 1, size));
    }
    return DMA_OK;
}

/* Rows that are whole beats and begin on one as they lie in memory, others packed. */
#define SEND(KIND, array, rows, columns, padded)                                                    \\
    do {                                                                                            \\
        if ((columns) == (padded) && (uintptr_t)(array) % (AXL_STREAM_BITS / 8) == 0)               \\
            TRY(send((array), (rows) * (columns) * (uint32_t)sizeof *(array)));                     \\
        else                                                                                        \\
            TRY(dma_queue_tile_##KIND((array), (rows), (columns), (columns), 1, (rows), (padded))); \\
    } while (0)"""


@dataclass(frozen=True)
class Sources:
    """`c` and `header` are the texts of `DRIVER` and `HEADER`. `function` takes pointers to all `arguments`;
    ``<program>_init`` comes before its first call."""

    function: str
    init: str
    arguments: tuple[Array, ...]
    c: str
    header: str


def sources(program: Program, inputs: Packet, outputs: Packet, spec: Link, banner: str = "") -> Sources:
    """The driver of `spec`, whose RTL takes and gives these packets. CompileError for names that C or the
    runtime has already."""
    arguments = tuple(array for array in program.arrays if array.role is not Role.LOCAL)
    for name in (program.name, *(array.name for array in arguments)):
        if not _NAME.match(name) or _TAKEN.match(name):
            raise CompileError(
                f"{program.name}: `{name}` cannot be a name in the driver in C; give it another"
            )
    head = f"/* {program.name}: driver of {spec.name}.{f' {banner}' if banner else ''} */\n"
    name = program.name
    plain = f"{name}({', '.join(map(_parameter, arguments))})"
    flat = f"{name}_flat({', '.join(map(_pointer, arguments))})"
    arguments_given = ", ".join(_first(array) for array in arguments)
    queue = spec.dma.scatter_gather
    body = _queued(inputs, outputs) if queue else _windows(inputs, outputs)
    dma = spec.dma
    windows = (
        dma.address,
        dma.input_address,
        dma.input_buffer_size,
        dma.output_address,
        dma.output_buffer_size,
    )
    text = [
        head,
        "#include <string.h>\n",
        f'#include "{HEADER}"',
        *(['#include "axiloom_sg.h"'] if queue else []),
        "",
        TRY,
        _UNPACK,
        *(["", _SEND, "", *_taker(outputs)] if queue else []),
        "",
        f"dma_status {name}_init(void)",
        "{",
        f"    return dma_init({', '.join(f'{value:#x}u' for value in windows)});",
        "}",
        "",
        _comment("In", inputs),
        _comment("Back", outputs),
        f"dma_status {flat}",
        "{",
        *body,
        "    return DMA_OK;",
        "}",
        "",
        f"dma_status {plain} {{ return {name}_flat({arguments_given}); }}",
        "",
    ]
    header = [
        head,
        "#ifndef AXILOOM_DRIVER_H",
        "#define AXILOOM_DRIVER_H",
        "",
        '#include "axiloom.h"',
        "",
        "/* Once, before the function. */",
        f"dma_status {name}_init(void);",
        "",
        f"dma_status {plain};",
        "",
        "/* The same, given the first element of each argument. */",
        f"dma_status {flat};",
        f"#define {name}_flat_init {name}_init",
        "",
        "#endif",
        "",
    ]
    return Sources(f"{name}_flat", f"{name}_init", arguments, "\n".join(text), "\n".join(header))


def _parameter(array: Array) -> str:
    """As the user has it: scalars by value, but for one that is a result."""
    by_value = not array.shape and not array.role.is_result
    return f"{_type(array)} {array.name}{'' if by_value else ''.join(f'[{n}]' for n in array.shape or (1,))}"


def _pointer(array: Array) -> str:
    return f"{'' if array.role.is_result else 'const '}{_type(array)} *{array.name}"


def _type(array: Array) -> str:
    host = Part(array, 64).host
    return "float" if host.kind == "f" else f"{host.name}_t"


def _kind(part: Part) -> str:
    kind = _KINDS.get(part.host.name)
    if kind is None:
        raise CompileError(
            f"array {part.array.name} of {part.array.number} has no function in the runtime that packs it; "
            f"there are {', '.join(_KINDS)}"
        )
    return kind


def _first(array: Array) -> str:
    """A pointer to the first element, from an argument as the user has it."""
    if not array.shape:
        return array.name if array.role.is_result else f"&{array.name}"
    return f"&{array.name}{'[0]' * len(array.shape)}"


def _cast(part: Part) -> str:
    """The first element in the type that the runtime's functions take."""
    place = f"{part.array.name} + {part.start}" if part.start else part.array.name
    kind = _kind(part)
    return f"(const int{kind[1:]}_t *)({place})" if kind[0] == "i" and part.host.kind == "u" else place


def _comment(title: str, packet: Packet) -> str:
    arrays = [
        f"{part.array.name} {'x'.join(map(str, part.shape)) or '(scalar)'}" for part in packet.parts[:8]
    ]
    if len(packet.pieces) > len(arrays):
        arrays.append(f"and {len(packet.pieces) - len(arrays)} more")
    return f"/* {title}: {', '.join(arrays)}: {packet.beats} beats of {packet.parts[0].width} bits. */"


def _queued(inputs: Packet, outputs: Packet) -> list[str]:
    words = outputs.words
    lines, only = [], outputs.pieces[0] if len(outputs.pieces) == 1 else None
    if only is not None and only.in_place:
        size = only.beats * only.width // 8
        place = only.array.name
        lines += [
            "    /* In place, if no cache line has something else in it. */",
            f"    const int in_place = ((uintptr_t){place} | {size}u) % AXL_CACHE_LINE == 0;",
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
        places = ", ".join(_names(outputs))
        lines += [
            f"    TRY(dma_queue_open({words}u, take_results));",
            f"    void *results[] = {{{places}}};",
            "    TRY(dma_queue_receive(results, 1, 1));",
        ]
    for part in inputs.pieces:
        shape = f"{part.rows}u, {part.columns}u, {part.row_beats * part.lanes}u"
        lines.append(f"    SEND({_kind(part)}, {_cast(part)}, {shape});")
    return [*lines, "    TRY(dma_queue_close());"]


def _taker(outputs: Packet) -> list[str]:
    """The function that takes a packet that came through the output window."""
    names = _names(outputs)
    return [
        "static void take_results(void *to, const int32_t *packet, uint32_t rows, uint32_t cols)",
        "{",
        "    void *const *results = to;",
        "    const uint8_t *from = (const uint8_t *)packet;",
        "    (void)rows, (void)cols;",
        *(
            f"    from = unpack({_target(part, f'results[{names.index(part.array.name)}]', True)}, from, "
            f"{_unpacked(part)});"
            for part in outputs.pieces
        ),
        "    (void)from;",
        "}",
    ]


def _names(outputs: Packet) -> list[str]:
    return list(dict.fromkeys(part.array.name for part in outputs.parts))


def _target(part: Part, place: str, is_void: bool = False) -> str:
    """Where its first element lies."""
    if not part.start:
        return place
    return f"(uint8_t *){place} + {part.start * part.bits // 8}u" if is_void else f"{place} + {part.start}"


def _unpacked(part: Part) -> str:
    return f"{part.rows}u, {part.columns * part.bits // 8}u, {part.row_beats * part.width // 8}u"


def _windows(inputs: Packet, outputs: Packet) -> list[str]:
    lines, offset = [], 0
    for part in inputs.pieces:
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
        *(
            f"    from = unpack({_target(part, part.array.name)}, from, {_unpacked(part)});"
            for part in outputs.pieces
        ),
        "    (void)from;",
    ]
