"""Tables of descriptors in C: what `sw/include/axiloom_table.h` takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from axiloom.drivergen.c.names import identifier
from axiloom.drivergen.dialects import table

WORD_BYTES = 4


def table_names(op: table.TableOp) -> list[str]:
    """The names in C that a table takes."""
    name = identifier(op.sym_name.data)
    ends = ("words", "sent", "received", "sends", "receives")
    return [name, *(f"{name}_{end}" for end in ends)]


def table_lines(op: table.TableOp) -> list[str]:
    """Single words, what is sent and received, and the table that is made of them."""
    name, words, sent, received, *_ = table_names(op)
    arguments = op.arguments.value.data
    return [
        f"static const uint32_t {words}[] AXL_BEATS = {{",
        *_lines(_words(op)),
        "};",
        f"static const dma_piece {sent}[] = {{",
        *_lines(_sent(op, arguments)),
        "};",
        f"static const dma_piece {received}[] = {{",
        *_lines((_received(piece), piece) for piece in op.receives()),
        "};",
        f"DMA_TABLE({', '.join([name, str(arguments), words, sent, received])},",
        f"          {', '.join(_settings(op))})",
    ]


def _lines(pieces: Iterator[tuple[str, Operation]]) -> list[str]:
    return [f"    {text},{_opcode(op)}" for text, op in pieces]


def _opcode(op: Operation) -> str:
    opcode = op.attributes.get("opcode")
    return f" /* {opcode.data} */" if isinstance(opcode, StringAttr) else ""


def _words(op: table.TableOp) -> Iterator[tuple[str, Operation]]:
    for piece in op.sends():
        if isinstance(piece, table.TableWordsOp):
            yield ", ".join(f"{word:#x}u" for word in piece.words.get_values()), piece


def _sent(op: table.TableOp, words: int) -> Iterator[tuple[str, Operation]]:
    """`words`: the number of the argument that the single words count as."""
    at = 0
    for piece in op.sends():
        if isinstance(piece, table.TableWordsOp):
            size = len(piece.words.get_values()) * WORD_BYTES
            yield _rows((words, at, size, 1, size)), piece
            at += size
        else:
            yield _rows(piece.numbers()), piece


def _received(op: table.TableReceiveOp | table.TableTileOp) -> str:
    if isinstance(op, table.TableTileOp):
        return f"DMA_TILE({', '.join(map(str, op.numbers()))})"
    return _rows(op.numbers())


def _rows(numbers: Sequence[int]) -> str:
    return f"DMA_ROWS({', '.join(map(str, numbers))})"


def _settings(op: table.TableOp) -> list[str]:
    if not op.taker.data:
        return [f".unit = {'AXL_STREAM_BITS / 8' if op.beats.value.data else 'AXL_CACHE_LINE'}"]
    row_bytes, rows, stride, most = op.place.get_values()
    return [
        f".take = {identifier(op.taker.data)}",
        *(f".row_bytes = {row_bytes}", f".rows = {rows}", f".stride = {stride}", f".most = {most}"),
    ]
