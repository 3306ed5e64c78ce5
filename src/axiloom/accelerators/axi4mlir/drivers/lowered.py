"""The ops of the published `accel` dialect, whose operands are values: what AXI4MLIR makes of linalg.

Their names are those of our dialect, so a text is read with ``published.`` in their place, in MLIR's general
form.
"""

from __future__ import annotations

import re

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, var_operand_def, var_result_def
from xdsl.utils.exceptions import ParseError

from axiloom.base.errors import CompileError
from axiloom.drivergen.dialects.mlir import LocatedParser, context, explained, separated, verify


class LoweredOp(IRDLOperation):
    """Base: values in, and the offset of the next word out."""

    values = var_operand_def()
    ends = var_result_def()


@irdl_op_definition
class InitDmaOp(LoweredOp):
    """Addresses and sizes of the DMA and its two windows."""

    name = "published.init_dma"


@irdl_op_definition
class SendLiteralOp(LoweredOp):
    """Send one word; the second value is its offset in the window, without it 0."""

    name = "published.sendLiteral"


@irdl_op_definition
class SendOp(LoweredOp):
    """Send a tile, from the offset that may follow it."""

    name = "published.send"


@irdl_op_definition
class RecvOp(LoweredOp):
    """Receive a tile in place of what was there."""

    name = "published.recv"


PUBLISHED = Dialect("published", [InitDmaOp, SendLiteralOp, SendOp, RecvOp])
_OP = re.compile(
    r"\baccel\.(init_dma|sendLiteral|send|recv)\s+((?:%[\w.$-]+\s*,\s*)*%[\w.$-]+)(\s*:\s*\([^()]*\))"
)

_CAST = re.compile(r"\bmemref\.cast\s+(%[\w.$-]+)\s*:\s*(\S.*?)\s+to\s+(memref<[^\n]*>)")


def parse(text: str, name: str) -> ModuleOp:
    """The verified module of a text with transfers; raises CompileError with file, line and column."""

    def general(found: re.Match[str]) -> str:
        op, values, types = found.groups()
        ends = " -> ()" if op == "init_dma" else ""
        return f'"published.{op}"({values}){types}{ends}'

    ctx = context()
    ctx.load_dialect(PUBLISHED)
    try:
        module = LocatedParser(
            ctx, separated(_CAST.sub(r'"memref.cast"(\1) : (\2) -> \3', _OP.sub(general, text))), name
        ).parse_module()
    except ParseError as error:
        raise CompileError(explained(error)) from error
    verify(module, ctx)
    return module
