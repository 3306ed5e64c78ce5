"""A transposition of int8 that moves the last dim: eight rows of eight at a time."""

from __future__ import annotations

from math import prod

from xdsl.dialects import func
from xdsl.dialects.linalg import ops as linalg

from axiloom.drivergen.network.cpu import form
from axiloom.drivergen.network.passes import generics


def statements(function: func.FuncOp) -> list[str] | None:
    """C for the layer `function`, None if it is something else. Where rows stay rows, loops copy as well."""
    ops = form.ops_of(function)
    op = ops[0] if len(ops) == 1 else None
    if not isinstance(op, linalg.GenericOp) or not generics.moves_only(op) or len(function.args) != 1:
        return None
    if op.inputs[0] is not function.args[0] or not form.is_int8(*op.inputs, *op.results):
        return None
    source, target = (generics.plain_dims(m) for m in generics.maps_of(op))
    if source is None or target is None or sorted(source) != sorted(target) or source[-1] == target[-1]:
        return None
    sizes = dict(zip(source, form.shape(op.inputs[0]), strict=True))
    read, written = _strides(source, sizes), _strides(target, sizes)
    row, column = target[-1], source[-1]
    outer = [loop for loop in target if loop not in (row, column)]
    x = function.args[0].name_hint
    heads = [
        f"for (uint32_t d{loop} = 0; d{loop} < {sizes[loop]}; d{loop}++)" for loop in outer if sizes[loop] > 1
    ]
    places = [_place(strides, outer, sizes) for strides in (written, read)]
    call = (
        f"axl_transpose_int8(&out[{places[0]}], {written[column]}, &{x}[{places[1]}], {read[row]}, "
        f"{sizes[row]}, {sizes[column]});"
    )
    return [*(f"{'    ' * depth}{head}" for depth, head in enumerate(heads)), f"{'    ' * len(heads)}{call}"]


def _strides(dims: list[int], sizes: dict[int, int]) -> dict[int, int]:
    """Elements from one to the next along each loop, row major."""
    return {loop: prod(sizes[inner] for inner in dims[at + 1 :]) for at, loop in enumerate(dims)}


def _place(strides: dict[int, int], loops: list[int], sizes: dict[int, int]) -> str:
    return " + ".join(f"d{loop} * {strides[loop]}" for loop in loops if sizes[loop] > 1) or "0"


FORM = form.Form("a transposition", statements)
