"""The text of a scheduled program, read again."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import affine, arith, builtin, func, math, memref
from xdsl.dialects.builtin import AffineMapAttr, ModuleOp
from xdsl.ir.affine import AffineExpr
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from axiloom.base.errors import CompileError
from axiloom.nests.affine.dialect import Nest


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
    _without_symbols(module)
    return module


def _without_symbols(module: ModuleOp) -> None:
    """xDSL reads the indices of loads and stores as symbols; for us all are dimensions, in their order."""
    for op in module.walk():
        for name, value in op.properties.items():
            if isinstance(value, AffineMapAttr) and value.data.num_symbols:
                affine_map = value.data
                dims: list[AffineExpr] = [AffineExpr.dimension(i) for i in range(affine_map.num_dims)]
                symbols: list[AffineExpr] = [
                    AffineExpr.dimension(affine_map.num_dims + i) for i in range(affine_map.num_symbols)
                ]
                total = affine_map.num_dims + affine_map.num_symbols
                op.properties[name] = AffineMapAttr(
                    affine_map.replace_dims_and_symbols(dims, symbols, total, 0)
                )
