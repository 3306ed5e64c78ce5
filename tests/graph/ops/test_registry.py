"""What the builder refuses, with its reason; and that equal nodes are one."""

from __future__ import annotations

from typing import Any

import pytest

from axiloom.graph import GraphError, Node, Type
from axiloom.graph.ops import OPS, Builder


def _operands(builder: Builder, *shapes: str) -> list[Node]:
    """``2x3xint8``"""
    made = []
    for i, one in enumerate(shapes):
        *sizes, of = one.split("x")
        made.append(builder.leaf("parameter", f"p{i}", Type(tuple(map(int, sizes)), of)))
    return made


_DOT = {"lhs_batch": (), "rhs_batch": (), "lhs_contracting": (1,), "rhs_contracting": (0,), "number": "int32"}
_CONVOLUTION = {
    "dims": "b0f_0io->b0f", "strides": (1,), "padding": (0, 0), "lhs_dilation": (1,), "rhs_dilation": (1,),
    "feature_group_count": 1, "number": "float32",
}  # fmt: skip
_WINDOW = {"kind": "max", "window": (3,), "strides": (1,), "padding": (0, 0), "dilation": (1,)}
REFUSED: list[tuple[str, list[str], dict[str, Any], str]] = [
    ("frobnicate", [], {}, "unknown operation `frobnicate`; known are abs,"),
    ("add", ["2xint8"], {}, "add: takes 2 operands, not 1"),
    ("add", ["2xint8", "3xint8"], {}, "operands of one type are needed, not 2xint8 and 3xint8"),
    ("add", ["2xint8", "2xint16"], {}, "operands of one type are needed, not 2xint8 and 2xint16"),
    (
        "add",
        ["2xadaptivfloat<8,3>"] * 2,
        {},
        "numbers of kind integer or float or bool are needed, not adaptivfloat<8,3>",
    ),
    ("exponential", ["2xint8"], {}, "numbers of kind float are needed, not int8"),
    ("transpose", ["2x3xint8"], {"permutation": (0, 0)}, "a dimension twice in (0, 0)"),
    (
        "transpose",
        ["2x3xint8"],
        {"permutation": "10"},
        "attribute permutation is a tuple of integers, not 10",
    ),
    ("transpose", ["2x3xint8"], {"perm": (1, 0)}, "takes the attributes ['permutation'], not ['perm']"),
    ("reshape", ["2x3xint8"], {"shape": (4,)}, "2x3xint8 has 6 elements, not 4"),
    ("slice", ["4xint8"], {"start": (1,), "limit": (5,), "strides": (1,)}, "a slice from 1 to 5 of 4"),
    ("concatenate", ["2x3xint8", "3x2xint8"], {"dimension": 0}, "2x3xint8 and 3x2xint8 along dimension 0"),
    ("concatenate", [], {"dimension": 0}, "takes at least one operand, not 0"),
    (
        "broadcast_in_dim",
        ["2xint8"],
        {"shape": (3,), "dimensions": (0,)},
        "an operand of 2 cannot fill dimension 0 of 3",
    ),
    (
        "pad",
        ["2xint8", "1xint8"],
        {"low": (0,), "high": (0,), "interior": (0,)},
        "the padding is a int8 without dimensions, not 1xint8",
    ),
    ("compare", ["2xint8"] * 2, {"direction": "LESS"}, "direction LESS: there are EQ, NE, LT, LE, GT, GE"),
    ("select", ["2xint8"] * 3, {}, "the condition is bool, not int8"),
    (
        "dot_general",
        ["2x3xint8", "4x2xint8"],
        _DOT,
        "dimension 1 of 2x3xint8 is not as long as dimension 0 of 4x2xint8",
    ),
    (
        "dot_general",
        ["2x3xint32", "3x2xint32"],
        {**_DOT, "number": "int8"},
        "products of int32 in int8: it must hold them",
    ),
    ("dot_general", ["2x0xint8", "0x2xint8"], _DOT, "a sum over nothing"),
    (
        "convolution",
        ["1x8x4xfloat32", "3x3x2xfloat32"],
        _CONVOLUTION,
        "a kernel of 3 features in 1 groups, an image of 4",
    ),
    ("convolution", ["1x2x4xfloat32", "3x4x2xfloat32"], _CONVOLUTION, "a window of 3 in 2 with padding 0, 0"),
    (
        "convolution",
        ["1x2x4xfloat32", "1x4x2xfloat32"],
        {**_CONVOLUTION, "dims": "b0f"},
        "such as b01f_01io->b01f is needed",
    ),
    (
        "reduce",
        ["2xint8"],
        {"kind": "mean", "dimensions": (0,)},
        "kind mean: there are add, mul, max, min, and, or",
    ),
    ("reduce", ["0xint8"], {"kind": "add", "dimensions": (0,)}, "a fold over nothing"),
    ("reduce_window", ["2xint8"], _WINDOW, "a window of 3 in 2 with padding 0, 0"),
    ("splat", [], {"shape": (2,), "number": "int8", "value": "300"}, "`300` is no int8"),
    (
        "splat",
        [],
        {"shape": (1 << 41,), "number": "int8", "value": "0"},
        "a tensor of 1 dimensions and 2199023255552 elements",
    ),
    (
        "dense",
        ["2x3xint8", "4x5xint8"],
        {"number": "int32"},
        "dimension 1 of 2x3xint8 is not as long as dimension 1 of 4x5xint8",
    ),
    (
        "requantise",
        ["2xint8"] * 4,
        {"dimension": 0, "zero": 0, "low": 0, "high": 1},
        "int32 is needed, not 2xint8",
    ),
    ("embedding", ["2xuint8", "256x3xint8"], {}, "row numbers with a sign are needed, not 2xuint8"),
    ("lookup", ["2xint8", "255xint8"], {}, "a table of 256 is needed, not 255xint8"),
    (
        "requantise_shift",
        ["2xint32", "2xint32"],
        {"dimension": 0, "shift": 32, "low": 0, "high": 1},
        "a shift of 32 places: 0 to 31 are needed",
    ),
]


@pytest.mark.parametrize(("name", "shapes", "attributes", "reason"), REFUSED)
def test_refused(name: str, shapes: list[str], attributes: dict[str, Any], reason: str) -> None:
    builder = Builder()
    with pytest.raises(GraphError) as caught:
        builder.op(name, *_operands(builder, *shapes), place="layer1", **attributes)
    assert reason in str(caught.value)
    assert str(caught.value).startswith("layer1: ")
    assert "\n" not in str(caught.value)


def test_equal_nodes_are_one() -> None:
    builder = Builder()
    a, b = _operands(builder, "2xint8", "2xint8")
    assert builder.op("add", a, b) is builder.op("add", a, b)
    assert builder.op("add", a, b) is not builder.op("add", b, a)


def test_every_operation_says_what_it_is() -> None:
    assert all(op.doc and op.name == name for name, op in OPS.items())
    assert len(OPS) >= 35
