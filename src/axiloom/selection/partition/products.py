"""Products of a network as operations of the tensor IR: what rules make other forms of."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr

from axiloom.drivergen.match.conv import match_conv
from axiloom.drivergen.match.matmul import Match, NoMatchError
from axiloom.drivergen.network.passes.generics import maps_of
from axiloom.graph.graph import Graph, Node, Type
from axiloom.graph.ops import Builder

NUMBERS: Mapping[str, str] = {
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "f32": "float32", "f64": "float64",
}  # fmt: skip


def graph_of(op: linalg.GenericOp, place: str) -> Graph | None:
    """A sum of products of ``a`` and ``b`` alone; None for one that the IR has no operation for."""
    builder = Builder()
    types = [_type(value) for value in (*op.inputs, op.outputs[0])]
    if len(types) != 3 or None in types:
        return None
    a, b, result = (type_ for type_ in types if type_ is not None)
    leaves = builder.leaf("parameter", "a", a, place), builder.leaf("parameter", "b", b, place)
    try:
        node = _convolution(builder, op, leaves, result.number, place)
    except NoMatchError:
        node = _product(builder, op, leaves, result.number, place)
    if node is None or node.type != result:
        return None
    return Graph(place or "product", leaves, (node,))


def _type(value: SSAValue) -> Type | None:
    kind = value.type
    if not isinstance(kind, TensorType) or str(kind.element_type) not in NUMBERS:
        return None
    return Type(tuple(kind.get_shape()), NUMBERS[str(kind.element_type)])


def _convolution(
    builder: Builder, op: linalg.GenericOp, leaves: tuple[Node, Node], number: str, place: str
) -> Node | None:
    """Of images in the order of their channels; raises NoMatchError where it is none."""
    match: Match = match_conv(op)
    named = dict(enumerate(match.dims))
    maps = maps_of(op)
    image, kernel = (match.operands.index(name) for name in ("I", "F"))
    axes = {
        n: [named.get(getattr(e, "position", -1), "") for e in maps[n].results] for n in (image, kernel, 2)
    }
    batch = axes[2][0]
    wanted = {image: [batch, "ic", "", ""], kernel: ["oc", "ic", "fh", "fw"], 2: [batch, "oc", "oh", "ow"]}
    if axes != wanted or batch in ("oc", "oh", "ow"):
        return None
    settings = match.settings
    return builder.op(
        "convolution", leaves[image], leaves[kernel], place=place, dims="bf01_oi01->bf01", number=number,
        strides=(settings.get("sh", 1), settings.get("sw", 1)), padding=(0, 0, 0, 0), lhs_dilation=(1, 1),
        rhs_dilation=(settings.get("dh", 1), settings.get("dw", 1)), feature_group_count=1,
    )  # fmt: skip


def _product(
    builder: Builder, op: linalg.GenericOp, leaves: tuple[Node, Node], number: str, place: str
) -> Node | None:
    """``dot_general``, and a transpose where the result's order is another."""
    loops = []
    for map_ in maps_of(op):
        if not all(isinstance(e, AffineDimExpr) for e in map_.results):
            return None
        loops.append([e.position for e in map_.results if isinstance(e, AffineDimExpr)])
    a, b, result = loops
    if len(set(a)) != len(a) or len(set(b)) != len(b):
        return None
    both = [dim for dim in result if dim in a and dim in b]
    summed = [dim for dim in a if dim in b and dim not in result]
    node = builder.op(
        "dot_general", *leaves, place=place, number=number,
        lhs_batch=tuple(map(a.index, both)), rhs_batch=tuple(map(b.index, both)),
        lhs_contracting=tuple(map(a.index, summed)), rhs_contracting=tuple(map(b.index, summed)),
    )  # fmt: skip
    order = [*both, *(dim for side in (a, b) for dim in side if dim not in both and dim not in summed)]
    if sorted(order) != sorted(result):
        return None
    if order != result:
        node = builder.op("transpose", node, place=place, permutation=tuple(map(order.index, result)))
    return node
