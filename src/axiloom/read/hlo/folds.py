"""Rules of windows and folds: ``reduce``, ``reduce_window``, ``convolution``."""

from __future__ import annotations

from typing import Any

from axiloom.graph.graph import GraphError, Node
from axiloom.graph.numbers import number
from axiloom.graph.ops.convolution import dims_of
from axiloom.graph.ops.elementwise import FUNCTION_OF
from axiloom.graph.ops.reduce import FOLDS, neutral
from axiloom.read.hlo.call import Call, Rule
from axiloom.read.hlo.program import Function

_OP_OF = {function: op for op, function in FUNCTION_OF.items()}


def kind_of(call: Call) -> str:
    """What a reduction's body does: ``add``, ``max``, ... of its two arguments. Raises ReadError."""
    applied = call.take("applies")
    name = call.take("to_apply")
    if applied is None:
        body = call.functions.get(name) if name else next(iter(call.statement.regions), None)
        if body is None:
            raise call.refuse(f"no body {name or ''}".rstrip())
        applied = _applied(call, body)
    kind = FUNCTION_OF.get(applied, "")
    if kind not in FOLDS:
        raise call.refuse(f"a body of {applied}; known are {', '.join(_OP_OF[fold] for fold in FOLDS)}")
    return kind


def _applied(call: Call, body: Function) -> str:
    """The only operation of a body of two scalars, which takes both."""
    if len(body.parameters) != 2 or len(body.statements) != 1:
        raise call.refuse(
            f"a body of {len(body.parameters)} arguments and {len(body.statements)} operations, not 2 and 1"
        )
    (statement,), names = body.statements, sorted(name for name, _ in body.parameters)
    scalars = all(type_.shape == () and type_.number == call.number for _, type_ in body.parameters)
    same = sorted(statement.operands) == names and body.results == (statement.result,)
    if not (scalars and same and statement.types[0].number == call.number) or statement.attributes:
        raise call.refuse("a body that is not one operation of its two arguments")
    return statement.op


def _with_initial(call: Call, node: Node, initial: Node, kind: str) -> Node:
    """The value to start from, unless it changes nothing."""
    of = number(node.type.number)
    if call.context.known(initial):
        value = call.context.value(initial).reshape(-1)[0]
        if value == neutral(kind, of) or (of.kind == "float" and kind == "add" and value == 0):
            return node
    spread = call.context.broadcast(initial, node.type.shape, ())
    return call.make(_OP_OF[kind], node, spread)


def _reduce(call: Call) -> Node:
    if len(call.operands) != 2:
        raise call.refuse(f"of {len(call.operands) // 2} tensors at once is not read")
    kind, dimensions = kind_of(call), call.ints("dimensions")
    x, initial = call.operands
    if not dimensions:
        return _with_initial(call, x, initial, kind)
    return _with_initial(call, call.make("reduce", x, kind=kind, dimensions=dimensions), initial, kind)


def _reduce_window(call: Call) -> Node:
    if len(call.operands) != 2:
        raise call.refuse(f"of {len(call.operands) // 2} tensors at once is not read")
    kind = kind_of(call)
    x, initial = call.operands
    rank = len(x.type.shape)
    geometry = _window(call, rank)
    if geometry["base"] != (1,) * rank:
        raise call.refuse(f"base dilation {geometry['base']} is not read")
    folded = call.make(
        "reduce_window", x, kind=kind, window=geometry["size"], strides=geometry["stride"],
        padding=geometry["pad"], dilation=geometry["dilate"],
    )  # fmt: skip
    return _with_initial(call, folded, initial, kind)


def _window(call: Call, rank: int) -> dict[str, tuple[int, ...]]:
    """Size, stride, pad (flat), base and dilate, from either text."""
    ones = (1,) * rank
    window = call.take("window")
    if isinstance(window, dict) and "size" in window:
        return _classic_window(call, window, rank)
    parts = {
        "size": call.ints("window_dimensions", default=ones),
        "stride": call.ints("window_strides", default=ones),
        "base": call.ints("base_dilations", default=ones),
        "dilate": call.ints("window_dilations", default=ones),
        "pad": _pairs(call, call.take("padding"), rank),
    }
    if isinstance(window, dict):
        parts["pad"] = _pairs(call, window.pop("pad", None), rank)
        _no_reversal(call, window.pop("reverse", None))
        for name, short in (("stride", "stride"), ("base", "lhs_dilate"), ("dilate", "rhs_dilate")):
            parts[name] = call.plain(window.pop(short, ones), short)
        _nothing_left(call, window)
    return parts


def _classic_window(call: Call, window: dict[str, str], rank: int) -> dict[str, tuple[int, ...]]:
    def sizes(name: str) -> tuple[int, ...]:
        text = window.pop(name, None)
        return (1,) * rank if text is None else call.numbers(text, name, "x")

    names = {"size": "size", "stride": "stride", "base": "lhs_dilate", "dilate": "rhs_dilate"}
    parts = {name: sizes(key) for name, key in names.items()}
    pad = window.pop("pad", None)
    pairs = None if pad is None else [call.numbers(pair, "pad", "_") for pair in pad.split("x")]
    parts["pad"] = _pairs(call, pairs, rank)
    turned = window.pop("rhs_reversal", None)
    _no_reversal(call, None if turned is None else [flag != "0" for flag in turned.split("x")])
    _nothing_left(call, window)
    return parts


def _nothing_left(call: Call, window: dict[str, Any]) -> None:
    if window:
        raise call.refuse(f"a window's {', '.join(window)} is not read")


def _no_reversal(call: Call, turned: list[bool] | None) -> None:
    if turned and any(turned):
        raise call.refuse("a kernel that is turned round (reverse) is not read")


def _pairs(call: Call, padding: Any, rank: int) -> tuple[int, ...]:
    """Low and high of each dimension, one after the other."""
    if padding is None or padding == 0:
        return (0, 0) * rank
    rows = padding if isinstance(padding, list) else []
    if len(rows) != rank or not all(isinstance(row, list | tuple) and len(row) == 2 for row in rows):
        raise call.refuse(f"padding {str(padding)[:60]}: low and high of {rank} dimensions are needed")
    return call.plain([side for row in rows for side in row], "padding")


def _convolution(call: Call) -> Node:
    for name in ("precision", "precision_config"):
        call.take(name)
    call.only("batch_group_count", 1)
    call.count(2)
    dims = call.take("dim_labels") or _dims(call, call.take("dim_numbers"))
    kernel = call.operands[1].type.shape
    try:
        places = dims_of(str(dims)).kernel_spatial
    except GraphError as error:
        raise call.refuse(str(error)) from None
    if len(places) + 2 != len(kernel):
        raise call.refuse(f"{dims} of a kernel of {len(kernel)} dimensions")
    geometry = _window(call, len(places))
    window = tuple(kernel[i] for i in places)
    if geometry["size"] not in ((1,) * len(window), window):
        raise call.refuse(f"a window of {geometry['size']} where the kernel has {window}")
    return call.make(
        "convolution", *call.operands, dims=dims, strides=geometry["stride"], padding=geometry["pad"],
        lhs_dilation=geometry["base"], rhs_dilation=geometry["dilate"],
        feature_group_count=call.integer("feature_group_count", default=1), number=call.number,
    )  # fmt: skip


def _dims(call: Call, dim_numbers: Any) -> str:
    """``[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`` as ``b01f_01io->b01f``."""
    if not (isinstance(dim_numbers, tuple) and len(dim_numbers) == 3):
        raise call.refuse("dim_numbers such as [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f] are needed")
    image, kernel, result = ("".join(map(str, labels)) for labels in dim_numbers)
    return f"{image}_{kernel}->{result}"


RULES: dict[str, Rule] = {"reduce": _reduce, "reduce_window": _reduce_window, "convolution": _convolution}
