"""Layers of the CPU by the NEON kernels that are written by hand (``sw/baselines``): what to measure against.

A kernel takes an image with its padding in it, or matrices that are not transposed, of i8 or i32; other
layers stay loops.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir.affine import AffineMap

from axiloom.drivergen.network.passes import generics

ROWS = 4
"""Rows of C that the kernel has in registers."""
_INITS = (arith.ConstantOp, tensor.EmptyOp, linalg.FillOp, func.ReturnOp)


def kernel(function: func.FuncOp, header: str, kernels: Path) -> str | None:
    """The C file of a layer's function, that includes `header`; None if no kernel is written for it.

    `kernels`: their folder.
    """
    ops = [op for op in function.body.block.ops if not isinstance(op, _INITS)]
    if len(ops) != 1 or not isinstance(ops[0], linalg.GenericOp) or not generics.is_contraction(ops[0]):
        return None
    op = ops[0]
    bits = {generics.width(generics.element(value)) for value in op.inputs}
    zeroed = isinstance(op.outputs[0].owner, linalg.FillOp)
    if bits not in ({8}, {32}) or generics.width(generics.element(op.outputs[0])) != 32 or not zeroed:
        return None
    if list(op.inputs) != list(function.args):
        return None
    sizes = _convolution(op)
    file, shared = "cpu_conv_neon.c", "conv.h"
    if sizes is None:
        sizes, file, shared = _matmul(op), "cpu_neon.c", "cpu.h"
    if sizes is None:
        return None
    macros = {"LAYER": function.sym_name.data, "BITS": bits.pop(), **sizes}
    lines = [f"#define {name} {value}" for name, value in macros.items()]
    texts = {name: (kernels / name).read_text(encoding="utf-8") for name in (file, shared)}
    text = texts[file].replace(f'#include "{shared}"\n', texts[shared])
    return "\n".join([f"/* {file} for {function.sym_name.data} */", f'#include "{header}"', *lines, "", text])


def _steps(m: AffineMap) -> list[tuple[int, ...]]:
    """What one step of each loop adds to an index."""
    first = m.eval([0] * m.num_dims, [])
    steps = []
    for loop in range(m.num_dims):
        at = m.eval([int(other == loop) for other in range(m.num_dims)], [])
        steps.append(tuple(b - a for a, b in zip(first, at, strict=True)))
    return steps


def _convolution(op: linalg.GenericOp) -> Mapping[str, int] | None:
    """Sizes of one image (1, IC, IH, IW) by filters (OC, IC, FH, FW), without dilation."""
    loops, maps = op.get_static_loop_ranges(), generics.maps_of(op)
    if len(loops) != 7 or loops[0] != 1:
        return None
    image, filters, sums = (_steps(m) for m in maps)
    if len(image[0]) != 4 or len(filters[0]) != 4:
        return None
    sh, sw_ = image[2][2], image[3][3]
    wanted = [(1, 0, 0, 0), (0,) * 4, (0, 0, sh, 0), (0, 0, 0, sw_), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)]
    plain = generics.plain_dims(maps[1]) == [1, 4, 5, 6] and generics.plain_dims(maps[2]) == [0, 1, 2, 3]
    kind = op.inputs[0].type
    assert isinstance(kind, TensorType)
    _, _, ih, iw = kind.get_shape()
    _, oc, oh, ow, ic, fh, fw = loops
    if image != wanted or not plain or len(sums[0]) != 4:
        return None
    if (oh, ow) != ((ih - fh) // sh + 1, (iw - fw) // sw_ + 1):
        return None
    return {"IC": ic, "IH": ih, "IW": iw, "OC": oc, "FH": fh, "FW": fw, "SH": sh, "SW": sw_}


def _matmul(op: linalg.GenericOp) -> Mapping[str, int] | None:
    """Sizes of C (M, N) = A (M, K) B (K, N), perhaps in batches."""
    loops = op.get_static_loop_ranges()
    dims = [generics.plain_dims(m) for m in generics.maps_of(op)]
    if len(loops) < 3:
        return None
    *batches, m, n, k = range(len(loops))
    if dims != [[*batches, m, k], [*batches, k, n], [*batches, m, n]]:
        return None
    if loops[m] < ROWS:
        return None  # the kernel would leave it to plain loops
    count = 1
    for batch in batches:
        count *= loops[batch]
    return {"BATCHES": count, "M": loops[m], "N": loops[n], "K": loops[k]}
