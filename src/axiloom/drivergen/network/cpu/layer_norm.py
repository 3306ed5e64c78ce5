"""Layer norm of int8 over the last dim: four ops that read each row three times become one."""

from __future__ import annotations

from functools import cache

from xdsl.dialects import func

from axiloom.drivergen.c.expressions import floating
from axiloom.drivergen.network.cpu import form, pattern

LARGEST_ROW = (1 << 15) - 1
"""Elements of a row at most: their number is a factor of 16 bits."""


@cache
def _pattern(rank: int) -> func.FuncOp:
    every, outer = form.loops(rank), form.loops(rank - 1)
    x, sums = form.kind_of(rank, "i8"), form.kind_of(rank - 1, "i32")
    wide, inputs = "%e = arith.extsi %a0 : i8 to i32", [("%x", x, every)]
    last = f"d{rank - 1}"
    ops = [
        pattern.generic(
            "%sum", [("%x", x, every)], ("%zeros", sums, outer), [wide, "%s = arith.addi %o, %e : i32"], rank
        ),
        pattern.generic(
            "%squares",
            inputs,
            ("%zeros", sums, outer),
            [wide, "%p = arith.muli %e, %e : i32", "%s = arith.addi %o, %p : i32"],
            rank,
        ),
        pattern.generic(
            "%scale",
            [("%sum", sums, outer), ("%squares", sums, outer)],
            ("%row", sums, outer),
            [
                "%s = arith.extsi %a0 : i32 to i64",
                "%q = arith.extsi %a1 : i32 to i64",
                "%n = arith.muli %q, %width64 : i64",
                "%m = arith.muli %s, %s : i64",
                "%v = arith.subi %n, %m : i64",
                "%f = arith.sitofp %v : i64 to f32",
                "%g = arith.addf %f, %epsilon : f32",
                "%r = math.sqrt %g : f32",
                "%d = arith.divf %unit, %r : f32",
                "%i = arith.fptosi %d : f32 to i32",
            ],
            rank - 1,
        ),
        pattern.generic(
            "%out",
            [
                ("%x", x, every),
                ("%sum", sums, outer),
                ("%scale", sums, outer),
                ("%gain", "tensor<2xi32>", last),
                ("%offset", "tensor<2xi32>", last),
            ],
            ("%start", x, every),
            [
                wide,
                "%n = arith.muli %e, %width : i32",
                "%f = arith.subi %n, %a1 : i32",
                "%s = arith.muli %f, %a2 : i32",
                "%r = arith.addi %s, %half : i32",
                "%q = arith.shrsi %r, %of_row : i32",
                "%g = arith.muli %q, %a3 : i32",
                "%h = arith.addi %g, %a4 : i32",
                "%t = arith.shrsi %h, %of_gain : i32",
                "%l = arith.maxsi %t, %lo : i32",
                "%m = arith.minsi %l, %hi : i32",
                "%y = arith.trunci %m : i32 to i8",
            ],
            rank,
        ),
    ]
    holes = {"i32": ("zero", "width", "half", "of_row", "of_gain", "lo", "hi"), "i64": ("width64",)}
    starts = [
        *(f"%{name} = arith.constant 0 : {kind}" for kind, names in holes.items() for name in names),
        *(f"%{name} = arith.constant 0.0 : f32" for name in ("epsilon", "unit")),
        f"%row = tensor.empty() : {sums}",
        f"%zeros = linalg.fill ins(%zero : i32) outs(%row : {sums}) -> {sums}",
        f"%start = tensor.empty() : {x}",
    ]
    lines = "\n".join([*(f"  {line}" for line in starts), *ops])
    return pattern.read(
        f"func.func @norm(%x: {x}, %gain: tensor<2xi32>, %offset: tensor<2xi32>) -> {x} {{\n{lines}\n"
        f"  func.return %out : {x}\n}}"
    )


def statements(function: func.FuncOp) -> list[str] | None:
    """C for the layer `function`, None if it is something else."""
    rank = form.rank_of(function)
    holes = None if rank is None or rank < 2 else pattern.unify(_pattern(rank), function)
    if holes is None:
        return None
    width, of_row, of_gain = form.shape(function.args[0])[-1], int(holes["of_row"]), int(holes["of_gain"])
    fixed = {"zero": 0, "width": width, "width64": width, "half": (1 << of_row) >> 1}
    if any(holes[name] != value for name, value in fixed.items()) or width > LARGEST_ROW:
        return None
    if (
        not all(shift in range(1, 31) for shift in (of_row, of_gain))
        or not -128 <= holes["lo"] <= holes["hi"] <= 127
    ):
        return None
    x, gain, offset = (arg.name_hint for arg in function.args)
    rows = form.count(function.args[0]) // width
    epsilon, unit = (floating(float(holes[name]), single=True) for name in ("epsilon", "unit"))
    return [
        "/* Shifts behind the scale of a row and behind the gain, and bounds. */",
        f"const axl_norm norm = {{{of_row}, {of_gain}, {holes['lo']}, {holes['hi']}}};",
        f"axl_layer_norm_int8(out, {x}, {gain}, {offset}, {rows}, {width}, {epsilon}, {unit}, norm);",
    ]


FORM = form.Form("layer norm of each row", statements, word="layer_norm", ops=4)
