"""A table of 256 int8 for each int8: GELU, sigmoid, any function of one element."""

from __future__ import annotations

from functools import cache

from xdsl.dialects import func

from axiloom.drivergen.network.cpu import form, pattern

ENTRIES = 256


@cache
def _pattern(rank: int) -> func.FuncOp:
    dims, kind = form.loops(rank), form.kind_of(rank, "i8")
    body = [
        "%i = arith.index_cast %a0 : i8 to index",
        "%j = arith.addi %i, %middle : index",
        "%y = tensor.extract %table[%j] : tensor<256xi8>",
    ]
    op = pattern.generic("%out", [("%x", kind, dims)], ("%start", kind, dims), body, rank)
    return pattern.read(
        f"func.func @table(%x: {kind}, %table: tensor<256xi8>) -> {kind} {{\n"
        f"  %middle = arith.constant 0 : index\n  %start = tensor.empty() : {kind}\n{op}\n"
        f"  func.return %out : {kind}\n}}"
    )


def statements(function: func.FuncOp) -> list[str] | None:
    """C for the layer `function`, None if it is something else."""
    rank = form.rank_of(function)
    holes = None if rank is None else pattern.unify(_pattern(rank), function)
    if holes is None or holes["middle"] != ENTRIES // 2 or form.shape(function.args[1]) != (ENTRIES,):
        return None
    x, table = (arg.name_hint for arg in function.args)
    return [f"axl_table_int8(out, {x}, {table}, {form.count(function.args[0])}u);"]


FORM = form.Form("a table of 256 int8", statements, word="table")
