"""Nodes with int32 sums, and the bias and requantisation that follow them."""

from __future__ import annotations

import numpy as np

from axiloom.quantise.emit.emitter import Emitter, dims, tensor
from axiloom.quantise.emit.places import expanded
from axiloom.quantise.graph.graph import Bias, Conv, Linear, MatMul, Requantise, Shift, SumPool


def conv(emitter: Emitter, node: Conv, x: str) -> str:
    image, image_type = emitter.padded(x, node.padding, 0)
    out_type = tensor(node.shape, "i32")
    (sh, sw), (dh, dw) = node.stride, node.dilation
    start = emitter.fill(node.shape, "i32")
    if node.groups == 1:
        filters = emitter.weight("weight", node.weight)
        kind = "tensor<2xi64>"
        steps = f"{{dilations = dense<[{dh}, {dw}]> : {kind}, strides = dense<[{sh}, {sw}]> : {kind}}}"
        return emitter.line(
            "",
            f"linalg.conv_2d_nchw_fchw {steps} ins({image}, {filters} : {image_type}, "
            f"{tensor(node.weight.shape, 'i8')}) outs({start} : {out_type}) -> {out_type}",
        )
    flat = np.ascontiguousarray(node.weight[:, 0])
    filters = emitter.weight("weight", flat)
    rows, columns = _step("d2", sh, "d4", dh), _step("d3", sw, "d5", dw)
    return emitter.generic(
        "",
        [
            (image, image_type, emitter.map(6, f"d0, d1, {rows}, {columns}")),
            (filters, tensor(flat.shape, "i8"), emitter.map(6, "d1, d4, d5")),
        ],
        (start, out_type, emitter.map(6, "d0, d1, d2, d3")),
        [
            "%x = arith.extsi %a0 : i8 to i32",
            "%f = arith.extsi %a1 : i8 to i32",
            "%p = arith.muli %x, %f : i32",
            "%s = arith.addi %o, %p : i32",
        ],
        reduced=(4, 5),
        rank=6,
    )


def _step(place: str, stride: int, offset: str, dilation: int) -> str:
    """``d2 * 2 + d4``"""
    return " + ".join(f"{d} * {n}" if n != 1 else d for d, n in ((place, stride), (offset, dilation)))


def linear(emitter: Emitter, node: Linear, x: str) -> str:
    weight = emitter.weight("weight", node.weight)
    start, kind = emitter.fill(node.shape, "i32"), tensor(node.shape, "i32")
    types = f"{emitter.type_of()}, {tensor(node.weight.shape, 'i8')}"
    return emitter.line("", f"linalg.matmul ins({x}, {weight} : {types}) outs({start} : {kind}) -> {kind}")


def matmul(emitter: Emitter, node: MatMul, a: str, b: str) -> str:
    start, kind = emitter.fill(node.shape, "i32"), tensor(node.shape, "i32")
    types = f"{emitter.type_of(0)}, {emitter.type_of(1)}"
    return emitter.line("", f"linalg.batch_matmul ins({a}, {b} : {types}) outs({start} : {kind}) -> {kind}")


def sum_pool(emitter: Emitter, node: SumPool, x: str) -> str:
    image, kind = emitter.padded(x, node.padding, 0)
    body = ["%x = arith.extsi %a0 : i8 to i32", "%s = arith.addi %o, %x : i32"]
    if node.shape[2:] == (1, 1) and node.padding == (0, 0) and node.kernel == emitter.shape_of()[2:]:
        flat = node.shape[:2]
        sums = emitter.generic(
            "flat",
            [(image, kind, emitter.same(4))],
            (emitter.fill(flat, "i32"), tensor(flat, "i32"), emitter.map(4, "d0, d1")),
            body,
            reduced=(2, 3),
            rank=4,
        )
        return expanded(emitter, sums, flat, node.shape, "i32", "")
    window = emitter.empty(node.kernel, "i8")  # only its sizes count, as in linalg.pooling_nchw_max
    rows, columns = _step("d2", node.stride[0], "d4", 1), _step("d3", node.stride[1], "d5", 1)
    return emitter.generic(
        "",
        [
            (image, kind, emitter.map(6, f"d0, d1, {rows}, {columns}")),
            (window, tensor(node.kernel, "i8"), emitter.map(6, "d4, d5")),
        ],
        (emitter.fill(node.shape, "i32"), tensor(node.shape, "i32"), emitter.map(6, "d0, d1, d2, d3")),
        body,
        reduced=(4, 5),
        rank=6,
    )


def bias(emitter: Emitter, node: Bias, x: str) -> str:
    rank = len(node.shape)
    kind = tensor(node.shape, "i32")
    channel = emitter.map(rank, dims(node.axis))
    bias = (emitter.weight("bias", node.bias), tensor(node.bias.shape, "i32"), channel)
    return emitter.generic(
        "",
        [(x, kind, emitter.same(rank)), bias],
        (emitter.empty(node.shape, "i32"), kind, emitter.same(rank)),
        ["%s = arith.addi %a0, %a1 : i32"],
        rank=rank,
    )


def requantise(emitter: Emitter, node: Requantise, x: str) -> str:
    channel = emitter.map(len(node.shape), dims(node.axis))
    more = [
        (emitter.weight(what, data), tensor(data.shape, "i32"), channel)
        for what, data in (("bias", node.bias), ("multiplier", node.multiplier), ("shift", node.shift))
    ]
    one, zero = emitter.constant(1, "i64"), emitter.constant(0, "i64")
    lo, hi = emitter.constant(node.lo, "i64"), emitter.constant(node.hi, "i64")
    return emitter.elementwise(
        x,
        [
            "%s = arith.addi %a0, %a1 : i32",
            "%w = arith.extsi %s : i32 to i64",
            "%m = arith.extui %a2 : i32 to i64",
            "%p = arith.muli %w, %m : i64",
            "%sh = arith.extui %a3 : i32 to i64",
            f"%unit = arith.shli {one}, %sh : i64",
            f"%half = arith.shrui %unit, {one} : i64",
            "%r = arith.addi %p, %half : i64",
            "%q = arith.shrsi %r, %sh : i64",
            f"%z = arith.addi %q, {zero} : i64",
            f"%l = arith.maxsi %z, {lo} : i64",
            f"%h = arith.minsi %l, {hi} : i64",
            "%y = arith.trunci %h : i64 to i8",
        ],
        *more,
    )


def shift(emitter: Emitter, node: Shift, x: str) -> str:
    channel = emitter.map(len(node.shape), dims(node.axis))
    bias = (emitter.weight("bias", node.bias), tensor(node.bias.shape, "i32"), channel)
    places = emitter.constant(node.shift, "i32")
    lo, hi = emitter.constant(node.lo, "i32"), emitter.constant(node.hi, "i32")
    return emitter.elementwise(
        x,
        [
            "%s = arith.addi %a0, %a1 : i32",
            f"%q = arith.shrsi %s, {places} : i32",
            f"%l = arith.maxsi %q, {lo} : i32",
            f"%h = arith.minsi %l, {hi} : i32",
            "%y = arith.trunci %h : i32 to i8",
        ],
        bias,
    )
