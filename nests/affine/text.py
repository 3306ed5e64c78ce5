"""IR of scheduled programs as text."""

from __future__ import annotations

from io import StringIO

from xdsl.context import Context
from xdsl.dialects import affine, arith, builtin, func, math, memref
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException

from axiloom.errors import CompileError
from axiloom.nests.affine.dialect import Nest


def to_text(module: ModuleOp) -> str:
    out = StringIO()
    Printer(out).print_op(module)
    return out.getvalue() + "\n"


def from_text(text: str, name: str = "<text>") -> ModuleOp:
    """Raises CompileError with the place of what cannot be read, or what does not verify."""
    context = Context()
    for dialect in (
        affine.Affine, arith.Arith, builtin.Builtin, func.Func, math.Math, memref.MemRef, Nest
    ):  # fmt: skip
        context.load_dialect(dialect)
    try:
        module = Parser(context, text, name).parse_module()
        module.verify()
    except (ParseError, VerifyException) as error:
        raise CompileError(f"{name}: {error}") from error
    return module
