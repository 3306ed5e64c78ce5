"""Rows of a table by their numbers, each added to the row of its place: words and their positions."""

from __future__ import annotations

from functools import cache

from xdsl.dialects import func

from axiloom.drivergen.network.cpu import add, form, pattern


@cache
def _pattern() -> func.FuncOp:
    body = [
        "%w = arith.index_cast %a1 : i32 to index",
        "%n = linalg.index 2 : index",
        "%z = tensor.extract %table[%w, %n] : tensor<2x2xi8>",
        "%e = arith.extsi %z : i8 to i32",
        "%f = arith.extsi %a0 : i8 to i32",
        "%p = arith.muli %e, %first : i32",
        "%q = arith.muli %f, %second : i32",
        "%s = arith.addi %p, %q : i32",
        "%r = arith.addi %s, %half : i32",
        "%t = arith.shrsi %r, %shift : i32",
        "%l = arith.maxsi %t, %lo : i32",
        "%m = arith.minsi %l, %hi : i32",
        "%y = arith.trunci %m : i32 to i8",
    ]
    place, words, kind = (form.kind_of(2, "i8"), form.kind_of(2, "i32"), form.kind_of(3, "i8"))
    op = pattern.generic(
        "%out",
        [("%x", place, "d1, d2"), ("%words", words, "d0, d1")],
        ("%start", kind, "d0, d1, d2"),
        body,
        3,
    )
    constants = "".join(
        f"  %{name} = arith.constant 0 : i32\n" for name in ("first", "second", "half", "shift", "lo", "hi")
    )
    return pattern.read(
        f"func.func @rows(%x: {place}, %words: {words}, %table: {place}) -> {kind} {{\n{constants}"
        f"  %start = tensor.empty() : {kind}\n{op}\n  func.return %out : {kind}\n}}"
    )


def statements(function: func.FuncOp) -> list[str] | None:
    """C for the layer `function`, None if it is something else."""
    holes = None if form.rank_of(function) != 3 else pattern.unify(_pattern(), function)
    if holes is None:
        return None
    first, second, shift, lo, hi = (int(holes[name]) for name in ("first", "second", "shift", "lo", "hi"))
    addition = add.Sum(first, second, shift, lo, hi)
    if holes["half"] != (1 << addition.shift) >> 1 or not add.fits(addition):
        return None
    x, words, table = (arg.name_hint for arg in function.args)
    count, width = form.shape(function.args[0])
    rows = form.count(function.args[1])
    numbers = f"{addition.first}, {addition.second}, {addition.shift}, {addition.lo}, {addition.hi}"
    return [f"axl_embed_int8(out, {table}, {words}, {x}, {rows}, {count}, {width}, {numbers});"]


FORM = form.Form("rows of a table, each added to that of its place", statements)
