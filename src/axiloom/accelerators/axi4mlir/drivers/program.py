"""A driver in MLIR as a program in C.

Of a text with several functions the program is its `main`, or else the functions with transfers that no other
one calls, one after the other. Arguments and arrays that a function makes are global, of the name that they
have in the text (with `_` behind it, where C or the runtime has that name), so that the simulator fills and
reads them.
"""

from __future__ import annotations

import re

from xdsl.dialects import func

from axiloom.accelerators.axi4mlir.drivers import loops, lowered, transfers
from axiloom.accelerators.axi4mlir.drivers.writer import Writer
from axiloom.base.errors import CompileError
from axiloom.base.wording.names import hint
from axiloom.drivergen.c.status import TRY
from axiloom.drivergen.dialects.others import Drivers, Program

assert loops  # its ops are known once it is imported
Functions = dict[str, func.FuncOp]
BOARD = (0x4040_0000, 0x1600_0000, 65536, 0x1640_0000, 65536)
"""A DMA's registers, and address and bytes of its windows, where no specification says others."""
HEAD = """/* {name}: a driver in MLIR, as C. */
#include "axiloom.h"

{leave}{shows}
typedef uint32_t __attribute__((may_alias)) word; /* elements of any type travel as words */
"""
SHOWS = """
#if AXL_LINUX
#include <stdio.h>
#define SHOW(...) ((void)printf(__VA_ARGS__))
#else
#define SHOW(...) ((void)0) /* there is nothing to write to */
#endif
"""
BEGIN = """
/* A text that was made for no board has addresses of 0: then this board's are taken. */
static dma_status begin(uint32_t dma, uint32_t in, uint32_t in_bytes, uint32_t out, uint32_t out_bytes)
{{
    if (dma == 0)
        return dma_init({board});
    return dma_init(dma, in, in_bytes, out, out_bytes);
}}
"""
RESTART = """/* The text starts transfers that it does not wait for. */
static dma_status restart_{way}(uint32_t words, uint32_t offset)
{{
    const dma_status status = dma_start_{way}(words, offset);
    if (status != DMA_ERR_BUSY)
        return status;
    TRY(dma_wait_{way}());
    return dma_start_{way}(words, offset);
}}
"""
WORDS = {"send": "send", "recv": "receive"}


def translate(
    text: str, name: str, wanted: str | None = None, board: tuple[int, int, int, int, int] = BOARD
) -> Program:
    """The program in C; raises CompileError with the place of an op that no driver has.

    `wanted`: the one function that is meant. `board`: see `BOARD`.
    """
    module = lowered.parse(text, name)
    known = {op.sym_name.data: op for op in module.walk() if isinstance(op, func.FuncOp) and op.body.blocks}
    entries = _entries(known, name, wanted)
    unwaited = transfers.unwaited(module.walk())
    writer = Writer(known, unwaited)
    for entry in entries:
        writer.entry(known[entry], f"{entry}_" if len(entries) > 1 else "")
    if not any("TRY(begin(" in line for line in writer.lines):  # whoever calls these functions does it
        writer.lines.insert(0, "    TRY(begin(0, 0, 0, 0, 0));")
    notes = []
    if len(entries) > 1:
        notes.append(f"{name}: {', '.join(entries)} run one after the other")
    for way in unwaited:
        notes.append(
            f"{name}: nothing waits for a {WORDS[way]} (dma_wait_{way}): here the next one does; on a board "
            "it may come too early"
        )
    lines = (
        HEAD.format(name=name, leave=TRY, shows=SHOWS if writer.prints else ""),
        *writer.arrays,
        BEGIN.format(board=", ".join(map(str, board))),
        *(RESTART.format(way=way) for way in unwaited),
        "static dma_status driver(void)\n{",
        *writer.lines,
        "    return dma_free();\n}\n",
        "int main(void)\n{\n    return driver();\n}\n",
    )
    return Program("\n".join(lines), tuple(notes), tuple(sorted(writer.prints)))


def _entries(known: Functions, name: str, wanted: str | None) -> list[str]:
    """The functions that are the program."""
    calls = {caller: _called(function) & set(known) for caller, function in known.items()}
    sending = {symbol for symbol, function in known.items() if any(map(transfers.transfers, function.walk()))}
    while more := {caller for caller, inner in calls.items() if inner & sending} - sending:
        sending |= more
    if wanted is not None:
        if wanted not in sending:
            there = ", ".join(symbol for symbol in known if symbol in sending) or "none"
            raise CompileError(
                f"{name}: no function `{wanted}` with transfers{hint(wanted, sending)}; there are {there}"
            )
        return [wanted]
    inside = set().union(*calls.values()) if calls else set()
    entries = [symbol for symbol in known if symbol in sending - inside]
    if not entries:
        raise CompileError(f"{name}: a driver has a function with transfers; here is none")
    return ["main"] if "main" in entries else entries


def _called(function: func.FuncOp) -> set[str]:
    return {op.callee.root_reference.data for op in function.walk() if isinstance(op, func.CallOp)}


_MADE = "AXI4MLIR made it of linalg: give that file, or run this one as a driver: axiloom simulate FILE.mlir"
DRIVERS = Drivers(
    (
        (
            re.compile(
                r"\baccel\.(?:init_dma\s+%|sendLiteral\b|send(?:Dim|Idx)?\s+%\w+\s*(?:,|:)|recv\s+%\w+\s*,)"
            ),
            f"an op of the published accel dialect. {_MADE}",
        ),
        (
            re.compile(r"(?<!func\.)\bcall @(?:dma_(?:init|start_send|start_recv)|copy_to_inbuffer_\w+)\("),
            f"a call of the published DMA library. {_MADE}",
        ),
    ),
    translate,
)
