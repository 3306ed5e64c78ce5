"""Tables of descriptors in C: what `sw/include/axiloom_table.h` takes."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from axiloom.drivergen.c.names import identifier
from axiloom.drivergen.dialects import table


def table_names(op: table.TableOp) -> list[str]:
    """The names in C that a table takes."""
    name = identifier(op.sym_name.data)
    return [name, f"{name}_sent", f"{name}_received", f"{name}_sends", f"{name}_receives"]


def table_lines(op: table.TableOp) -> list[str]:
    """Two arrays of pieces, and the table that is made of them."""
    name, sent, received, *_ = table_names(op)
    settings = [name, sent, received, str(op.arguments.value.data)]
    if op.taker.data:
        row_bytes, rows, stride, most = op.place.get_values()
        settings += [
            f".take = {identifier(op.taker.data)}",
            *(f".row_bytes = {row_bytes}", f".rows = {rows}", f".stride = {stride}", f".most = {most}"),
        ]
    else:
        settings.append(f".unit = {'AXL_STREAM_BITS / 8' if op.beats.value.data else 'AXL_CACHE_LINE'}")
    return [
        *_pieces(sent, op.sends()),
        *_pieces(received, op.receives()),
        f"DMA_TABLE({', '.join(settings)})",
    ]


def _pieces(name: str, ops: list[Operation]) -> list[str]:
    return [f"static const dma_piece {name}[] = {{", *(f"    {_piece(op)}" for op in ops), "};"]


def _piece(op: Operation) -> str:
    opcode = op.attributes.get("opcode")
    behind = f" /* {opcode.data} */" if isinstance(opcode, StringAttr) else ""
    return f"{_PIECES[type(op)](op)},{behind}"


def _words(op: table.TableWordsOp) -> str:
    words = op.words.get_values()
    return f"DMA_WORDS({len(words)}, {', '.join(f'{word:#x}u' for word in words)})"


def _rows(op: table.TableSendOp | table.TableReceiveOp) -> str:
    return f"DMA_ROWS({', '.join(map(str, op.numbers()))})"


def _tile(op: table.TableTileOp) -> str:
    return f"DMA_TILE({', '.join(map(str, op.numbers()))})"


_PIECES = {
    table.TableWordsOp: _words,
    table.TableSendOp: _rows,
    table.TableReceiveOp: _rows,
    table.TableTileOp: _tile,
}
