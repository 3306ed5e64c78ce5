"""Transfers of the published dialect, and what calls of its DMA library become.

The library's functions are found by name, in any spelling of their types. Those of MLIR's runner that print
write in a Linux process only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from xdsl.dialects import func
from xdsl.ir import Operation, SSAValue

from axiloom.accelerators.axi4mlir.drivers.lowered import InitDmaOp, LoweredOp, RecvOp, SendLiteralOp, SendOp
from axiloom.accelerators.axi4mlir.drivers.view import View, total
from axiloom.accelerators.axi4mlir.drivers.writer import TYPES, Writer, writes
from axiloom.drivergen.dialects.mlir import fail


def transfers(op: Operation) -> bool:
    """Whether it does something with the DMA."""
    return isinstance(op, LoweredOp) or (
        isinstance(op, func.CallOp) and op.callee.root_reference.data in LIBRARY
    )


def unwaited(ops: Iterable[Operation]) -> list[str]:
    """Directions that these ops start and never wait for."""
    called = {op.callee.root_reference.data for op in ops if isinstance(op, func.CallOp)}
    return [
        way for way in ("send", "recv") if f"dma_start_{way}" in called and f"dma_wait_{way}" not in called
    ]


def _put(writer: Writer, view: View, offset: str) -> None:
    writer.over(view, lambda element, place: f"dma_in_buffer()[{place}] = *(word *)&{element};", offset)


def _get(writer: Writer, view: View, offset: str) -> None:
    writer.over(view, lambda element, place: f"*(word *)&{element} = dma_out_buffer()[{place}];", offset)


def _moved(writer: Writer, direction: str, words: str, offset: str) -> None:
    writer.say(f"TRY(dma_start_{direction}((uint32_t)({words}), (uint32_t)({offset})));")
    writer.say(f"TRY(dma_wait_{direction}());")


def _ends(writer: Writer, op: Operation, offset: str, words: int) -> None:
    for result in op.results:
        writer.values[result] = f"({total([offset, str(words)])})"


# --- the dialect -------------------------------------------------------------------------------------------


def _offset(writer: Writer, op: LoweredOp) -> str:
    """The second operand."""
    if len(op.values) > 2:
        fail(op, "expected a value and its offset")
    return writer.text(op.values[1]) if len(op.values) > 1 else "0"


@writes(InitDmaOp)
def _init(writer: Writer, op: Any) -> None:
    operands = op.values if isinstance(op, InitDmaOp) else op.arguments
    if len(operands) != 5:
        fail(op, "expected the DMA's address, and address and bytes of both windows")
    writer.say(f"TRY(begin({', '.join(f'(uint32_t)({writer.text(operand)})' for operand in operands)}));")


@writes(SendLiteralOp)
def _send_literal(writer: Writer, op: SendLiteralOp) -> None:
    offset = _offset(writer, op)
    writer.say(f"dma_in_buffer()[{offset}] = (uint32_t)({writer.text(op.values[0])});")
    _moved(writer, "send", "1", offset)
    _ends(writer, op, offset, 1)


@writes(SendOp)
def _send(writer: Writer, op: SendOp) -> None:
    view, offset = writer.view(op, op.values[0]), _offset(writer, op)
    _put(writer, view, offset)
    _moved(writer, "send", str(view.words), offset)
    _ends(writer, op, offset, view.words)


@writes(RecvOp)
def _recv(writer: Writer, op: RecvOp) -> None:
    view, offset = writer.view(op, op.values[0]), _offset(writer, op)
    _moved(writer, "recv", str(view.words), offset)
    _get(writer, view, offset)
    _ends(writer, op, offset, view.words)


# --- calls of the library ----------------------------------------------------------------------------------


def _given(op: func.CallOp, count: int) -> Sequence[SSAValue]:
    if len(op.arguments) != count:
        fail(op, f"@{op.callee.root_reference.data} has {('no', 'one', 'two', 'three')[count]} arguments")
    return op.arguments


def _start(direction: str) -> Callable[[Writer, func.CallOp], None]:
    def write(writer: Writer, op: func.CallOp) -> None:
        words, offset = map(writer.text, _given(op, 2))
        start = f"restart_{direction}" if direction in writer.unwaited else f"dma_start_{direction}"
        writer.say(f"TRY({start}((uint32_t)({words}), (uint32_t)({offset})));")
        _ends(writer, op, "0", 0)

    return write


def _copy(move: Callable[[Writer, View, str], None]) -> Callable[[Writer, func.CallOp], None]:
    def write(writer: Writer, op: func.CallOp) -> None:
        array, place = _given(op, 2)
        move(writer, writer.view(op, array), writer.text(place))
        _ends(writer, op, "0", 0)

    return write


def _copy_of(move: Callable[[Writer, View, str], None]) -> Callable[[Writer, func.CallOp], None]:
    """The older form, which says how many words: here those of the array."""

    def write(writer: Writer, op: func.CallOp) -> None:
        array, words, place = _given(op, 3)
        view = writer.view(op, array)
        if writer.numbers.get(words) != view.words:
            fail(op, f"the array has {view.words} words; a copy of another number of them is not read")
        move(writer, view, writer.text(place))
        _ends(writer, op, "0", 0)

    return write


def _wait(direction: str) -> Callable[[Writer, func.CallOp], None]:
    return lambda writer, _op: writer.say(f"TRY(dma_wait_{direction}());")


def _window(direction: str) -> Callable[[Writer, func.CallOp], None]:
    def write(writer: Writer, op: func.CallOp) -> None:
        _given(op, 0)
        for result in op.results:
            writer.values[result] = f"dma_{direction}_buffer()"

    return write


LIBRARY: dict[str, Callable[[Writer, func.CallOp], None]] = {
    "dma_init": _init,
    "dma_free": lambda _writer, _op: None,  # at the end of every program
    **{f"dma_get_{way}buffer": _window(way) for way in ("in", "out")},
    **{f"dma_start_{way}": _start(way) for way in ("send", "recv")},
    **{f"dma_wait_{way}": _wait(way) for way in ("send", "recv")},
    **{f"copy_to_inbuffer_{kind}": _copy(_put) for kind in TYPES},
    **{f"copy_from_outbuffer_{kind}": _copy(_get) for kind in TYPES},
    "mlir_dma_copy_to_inbuffer": _copy_of(_put),
    "mlir_dma_copy_from_outbuffer": _copy_of(_get),
}
_PRINT = re.compile(r"print_?[mM]emref_?[fFiI](32)")


def _print(writer: Writer, op: func.CallOp) -> None:
    """Rows of an array, as `printf` writes them."""
    (array,) = _given(op, 1)
    view = writer.view(op, array)
    writer.prints.add(op.callee.root_reference.data)
    form, kind = ("%g", "double") if view.element == "float" else ("%d", "int")
    row = view.sizes[-1] if view.sizes else 1
    writer.say(f'SHOW("{view.base}, {" x ".join(map(str, view.sizes))}:\\n");')
    writer.over(
        view,
        lambda element, place: (
            f"SHOW(\"{form}%c\", ({kind}){element}, ({place}) % {row} == {row - 1} ? '\\n' : ' ');"
        ),
    )


@writes(func.CallOp)
def _call(writer: Writer, op: func.CallOp) -> None:
    name = op.callee.root_reference.data
    if name in writer.functions:
        writer.call(op)
    elif name in LIBRARY:
        LIBRARY[name](writer, op)
    elif _PRINT.fullmatch(name):
        _print(writer, op)
    else:
        fail(op, f"@{name} has no body here and is none of the library's {', '.join(LIBRARY)}")
