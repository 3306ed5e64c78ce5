"""Softmax of int8 over the last dim: five ops that read each row five times become one."""

from __future__ import annotations

from functools import cache

from xdsl.dialects import func

from axiloom.drivergen.network.cpu import form, pattern

LARGEST_ROW = 4096
"""Elements of a row at most: its powers lie on the stack."""


@cache
def _pattern(rank: int) -> func.FuncOp:
    every, outer = form.loops(rank), form.loops(rank - 1)
    x, powers = ("%x", form.kind_of(rank, "i8"), every), ("%powers", form.kind_of(rank, "i32"), every)
    rows, sums = form.kind_of(rank - 1, "i8"), form.kind_of(rank - 1, "i32")
    ops = [
        pattern.generic("%top", [x], ("%lows", rows, outer), ["%m = arith.maxsi %o, %a0 : i8"], rank),
        pattern.generic(
            "%powers",
            [x, ("%top", rows, outer)],
            ("%wide", powers[1], every),
            [
                "%e = arith.index_cast %a0 : i8 to index",
                "%m = arith.index_cast %a1 : i8 to index",
                "%d = arith.subi %m, %e : index",
                "%p = tensor.extract %table[%d] : tensor<256xi32>",
            ],
            rank,
        ),
        pattern.generic("%sum", [powers], ("%zeros", sums, outer), ["%s = arith.addi %o, %a0 : i32"], rank),
        pattern.generic(
            "%inverse",
            [("%sum", sums, outer)],
            ("%row", sums, outer),
            ["%q = arith.divsi %numerator, %a0 : i32"],
            rank - 1,
        ),
        pattern.generic(
            "%out",
            [powers, ("%inverse", sums, outer)],
            ("%start", x[1], every),
            [
                "%p = arith.muli %a0, %a1 : i32",
                "%r = arith.addi %p, %half : i32",
                "%q = arith.shrsi %r, %shift : i32",
                "%h = arith.minsi %q, %most : i32",
                "%y = arith.trunci %h : i32 to i8",
            ],
            rank,
        ),
    ]
    starts = [
        "%low = arith.constant -128 : i8",
        *(f"%{name} = arith.constant 0 : i32" for name in ("zero", "numerator", "half", "shift", "most")),
        *(f"%e{n} = tensor.empty() : {kind}" for n, kind in enumerate((rows, sums))),
        f"%lows = linalg.fill ins(%low : i8) outs(%e0 : {rows}) -> {rows}",
        f"%zeros = linalg.fill ins(%zero : i32) outs(%e1 : {sums}) -> {sums}",
        f"%wide = tensor.empty() : {powers[1]}",
        f"%row = tensor.empty() : {sums}",
        f"%start = tensor.empty() : {x[1]}",
    ]
    lines = "\n".join([*(f"  {line}" for line in starts), *ops])
    return pattern.read(
        f"func.func @softmax(%x: {x[1]}, %table: tensor<256xi32>) -> {x[1]} {{\n{lines}\n"
        f"  func.return %out : {x[1]}\n}}"
    )


def statements(function: func.FuncOp) -> list[str] | None:
    """C for the layer `function`, None if it is something else."""
    rank = form.rank_of(function)
    holes = None if rank is None or rank < 2 else pattern.unify(_pattern(rank), function)
    if holes is None or form.shape(function.args[1]) != (256,):
        return None
    shift, width = int(holes["shift"]), form.shape(function.args[0])[-1]
    fixed = {"low": -128, "zero": 0, "most": 127, "half": (1 << shift) >> 1}
    if any(holes[name] != value for name, value in fixed.items()) or shift not in range(31):
        return None
    if width > LARGEST_ROW:
        return None
    x, table = (arg.name_hint for arg in function.args)
    rows = form.count(function.args[0]) // width
    return [
        f"int32_t powers[{width}];",
        f"axl_softmax_int8(out, {x}, {table}, powers, {rows}, {width}, {int(holes['numerator'])}, {shift});",
    ]


FORM = form.Form("softmax of each row", statements, word="softmax", ops=5)
