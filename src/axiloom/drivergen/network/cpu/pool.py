"""The largest int8 of each window of an image, with the padding around it."""

from __future__ import annotations

from xdsl.dialects import arith, func, tensor
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Operation, SSAValue

from axiloom.drivergen.dialects import accel
from axiloom.drivergen.network.cpu import form
from axiloom.drivergen.network.passes import generics

LOWEST = -128
"""What padding has to be, and what windows have to start from."""

BEHIND = 32
"""Elements behind a line that are read at most, though nobody needs them."""


def is_pool(op: Operation) -> bool:
    """The largest element of each window of (n, c, h, w), in steps along h and w."""
    if not isinstance(op, linalg.GenericOp) or len(op.inputs) != 2 or len(op.results) != 1:
        return False
    largest, fill = generics.yielded(op)[0].owner, op.outputs[0].owner
    arguments = [op.body.block.args[0], op.body.block.args[2]]
    if not isinstance(largest, arith.MaxSIOp) or {*largest.operands} != {*arguments}:
        return False
    if not isinstance(fill, linalg.FillOp) or accel.constant(fill.inputs[0]) != LOWEST:
        return False
    return form.is_int8(op.inputs[0], *op.results) and _steps(op) is not None


def _steps(op: linalg.GenericOp) -> tuple[int, int] | None:
    """Rows and columns from window to window, None where it is no plain window."""
    image, window, out = generics.maps_of(op)
    if generics.plain_dims(out) != [0, 1, 2, 3] or generics.plain_dims(window) != [4, 5]:
        return None
    unit = [image.eval([int(at == loop) for at in range(6)], []) for loop in range(6)]
    down, right = unit[2][2], unit[3][3]
    wanted = [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, down, 0), (0, 0, 0, right), (0, 0, 1, 0), (0, 0, 0, 1)]
    return (down, right) if [tuple(row) for row in unit] == wanted and down > 0 and right > 0 else None


def _padding(function: func.FuncOp, image: SSAValue) -> tuple[int, int] | None:
    """Rows above and columns to the left of the image that is the function's argument."""
    if image is function.args[0]:
        return 0, 0
    pad = image.owner
    if not isinstance(pad, tensor.PadOp) or pad.source is not function.args[0]:
        return None
    low, high = pad.static_low.get_values(), pad.static_high.get_values()
    value = pad.region.block.last_op
    if low[:2] != (0, 0) or high[:2] != (0, 0) or value is None or min(*low, *high) < 0:
        return None
    return (low[2], low[3]) if accel.constant(value.operands[0]) == LOWEST else None


def statements(function: func.FuncOp) -> list[str] | None:
    """C for the layer `function`, None if it is something else."""
    ops = form.ops_of(function)
    op = ops[-1] if ops else None
    if len(function.args) != 1 or op is None or not is_pool(op) or len(ops) > 2:
        return None
    assert isinstance(op, linalg.GenericOp)
    padding, steps = _padding(function, op.inputs[0]), _steps(op)
    if padding is None or steps is None or (len(ops) == 2) != (op.inputs[0] is not function.args[0]):
        return None
    _, _, height, width = form.shape(function.args[0])
    images, channels, out_height, out_width = form.shape(op.results[0])
    rows, columns = form.shape(op.inputs[1])
    above, left = padding
    if above >= rows or (out_height - 1) * steps[0] + 1 > above + height:
        return None  # windows that see nothing but padding
    length = max(left + width, (out_width - 1) * steps[1] + columns) + BEHIND
    x = function.args[0].name_hint
    return [
        "/* Rows, columns, their steps, and the padding above and to the left. */",
        f"const axl_window window = {{{rows}, {columns}, {steps[0]}, {steps[1]}, {above}, {left}}};",
        f"int8_t line[{length}];",
        f"axl_max_pool_int8(out, {x}, line, {length}, {images * channels}, {height}, {width}, {out_height}, "
        f"{out_width}, window);",
    ]


FORM = form.Form("the largest of each window", statements)
