"""What a layer is: a group of ops that becomes one C function, its name, and why it runs where it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

from xdsl.dialects import arith, math, tensor
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Operation, SSAValue

from axiloom.drivergen.network.passes import generics
from axiloom.drivergen.network.passes.own_inits import is_init
from axiloom.isa.kernels.forms import IMAGE, MATMUL


@dataclass(frozen=True)
class Use:
    """How a layer uses its accelerator, as it came out and not as it was asked for."""

    flow: str
    tile: tuple[int, ...]
    pipeline: str
    note: str | None = None
    """Why it is not as it was asked for."""


Place = Literal["accelerator", "cpu"]


@dataclass(frozen=True)
class Layer:
    """One call of :func:`network`, as reports list it."""

    number: int
    function: str
    """In C; equal layers share one."""
    place: Place
    location: str
    """``file:line:column`` of its main op."""
    reason: str | None = None
    """Why it is on the CPU, where an accelerator might have been expected."""
    multiply_adds: int = 0
    device: int | None = None
    """Number of the accelerator, where there may be several."""
    ops: tuple[int, ...] = ()
    """Numbers of its ops in the network before the cut, which are the same however it is cut."""
    use: Use | None = None
    """Of a layer on an accelerator."""
    array_cycles: int = 0
    """The least cycles in which the accelerator's array can do it."""
    constant: bool = False
    """A matrix of its product is a weight, which is packed for the accelerator before."""

    @property
    def name(self) -> str:
        """``3:conv_56x56x64_f3_s1``."""
        return f"{self.number}:{self.function}"


VIEWS = (tensor.ExpandShapeOp, tensor.CollapseShapeOp, tensor.CastOp)
"""Ops that cost nothing: the same memory under another shape."""


def operands_of(op: Operation) -> list[SSAValue]:
    """Values from outside that an op or its body uses, each once."""
    inside = {result for inner in op.walk() for result in inner.results}
    blocks = [block for inner in op.walk() for region in inner.regions for block in region.blocks]
    inside |= {arg for block in blocks for arg in block.args}
    return list(dict.fromkeys(v for inner in op.walk() for v in inner.operands if v not in inside))


def with_inits(ops: Sequence[Operation]) -> list[Operation]:
    """The same ops, with what they start from (fills, empty tensors, scalars) in front."""
    found: dict[Operation, None] = {}

    def visit(op: Operation) -> None:
        for value in operands_of(op):
            if isinstance(value.owner, Operation) and is_init(value.owner):
                visit(value.owner)
        found[op] = None

    for op in ops:
        visit(op)
    return list(found)


def candidates(op: Operation, *, post: bool) -> Iterator[list[Operation]]:
    """Groups around a product that an accelerator may take, the largest first.

    The padding in front and, with `post`, the element-wise op behind are part of it where nobody else
    uses what lies in between.
    """
    assert isinstance(op, linalg.GenericOp)
    front = [v.owner for v in op.inputs if isinstance(v.owner, tensor.PadOp) and v.has_one_use()]
    behind = _epilogue(op) if post else None
    pads: list[list[Operation]] = [[*front], []] if front else [[]]
    for more in ([behind], []) if behind is not None else ([],):
        for pad in pads:
            yield [*pad, op, *more]


def _epilogue(op: linalg.GenericOp) -> Operation | None:
    if len(op.results) != 1 or not op.results[0].has_one_use():
        return None
    (use,) = op.results[0].uses
    return use.operation if generics.is_map(use.operation) else None


def multiply_adds(op: Operation) -> int:
    """Of a product, 0 for anything else."""
    if not isinstance(op, linalg.GenericOp) or not generics.is_contraction(op):
        return 0
    return prod(op.get_static_loop_ranges())


def title(op: Operation, word: str | None = None) -> str:
    """What a layer is called after its main op: ``conv_56x56x64_f3_s1``, ``matmul_128x312x312``; or ``word_``
    and its sizes."""
    if word is not None:
        return f"{word}_{_sizes(_shape(op.results[0]))}"
    if not isinstance(op, linalg.GenericOp):
        return f"{op.name.split('.')[-1]}_{_sizes(_shape(op.results[0]))}"
    if generics.is_contraction(op):
        return _title_of_product(op)
    return f"{_kind(op)}_{_sizes(_shape(op.results[0] if op.results else op.outputs[0]))}"


def _title_of_product(op: linalg.GenericOp) -> str:
    image, window, _ = generics.maps_of(op)
    sizes = op.get_static_loop_ranges()
    doc = op.doc.data if op.doc else ""
    if "conv_2d_nchw_fchw" in doc and len(sizes) == 7:
        _, oc, oh, ow, _, fh, fw = sizes
        stride = image.eval([0, 0, 1, 0, 0, 0, 0], [])[2]
        square = f"{fh}" if fh == fw else f"{fh}x{fw}"
        return f"conv_{oh}x{ow}x{oc}_f{square}_s{stride}"
    if generics.plain_dims(image) is None or generics.plain_dims(window) is None:
        return f"conv_{_sizes(sizes)}"
    kind = "matmul" if len(sizes) == 3 else "batch_matmul" if len(sizes) > 3 else "matvec"
    return f"{kind}_{_sizes(sizes)}"


def kernel_of(title: str) -> str | None:
    """The kernel of accelerators that are made for a layer of this `title`; None: of none in particular."""
    return next((kernel for begin, kernel in _KERNELS.items() if title.startswith(f"{begin}_")), None)


_KERNELS = {
    "conv": IMAGE.kernel,
    **dict.fromkeys(("matmul", "batch_matmul", "matvec"), MATMUL.kernel),
}
"""Of products, by what their titles begin with."""
_TELLING: tuple[tuple[type[Operation] | tuple[type[Operation], ...], str], ...] = (
    (math.ErfOp, "gelu"),
    (math.TanhOp, "tanh"),
    (math.ExpOp, "exp"),
    (math.LogOp, "log"),
    ((math.RsqrtOp, math.SqrtOp), "norm"),
    ((tensor.ExtractOp,), "lookup"),
    ((arith.ShRSIOp,), "requantise"),
)


def _kind(op: linalg.GenericOp) -> str:
    """What an op does, in a word."""
    body = list(op.body.block.ops)
    if not generics.is_parallel(op):
        last = generics.yielded(op)[0].owner
        sums, largest = arith.AddiOp | arith.AddfOp, arith.MaxSIOp | arith.MaximumfOp | arith.MaxnumfOp
        return "sum" if isinstance(last, sums) else "max" if isinstance(last, largest) else "reduce"
    for kinds, word in _TELLING:
        if any(isinstance(inner, kinds) for inner in body):
            return word
    if generics.moves_only(op):
        inner, outer = generics.maps_of(op)
        return "copy" if inner == outer else "transpose" if generics.is_permutation(inner) else "broadcast"
    yielded = generics.yielded(op)
    words: dict[type[Operation], str] = {
        arith.AddiOp: "add",
        arith.AddfOp: "add",
        arith.MuliOp: "multiply",
        arith.MulfOp: "multiply",
        arith.SubfOp: "subtract",
        arith.DivfOp: "divide",
        arith.SelectOp: "select",
        arith.MaximumfOp: "relu",
        arith.MaxSIOp: "relu",
    }
    return words.get(type(yielded[0].owner), "map") if yielded else "map"  # type: ignore[arg-type]


def _shape(value: SSAValue) -> tuple[int, ...]:
    return tuple(value.type.get_shape()) if isinstance(value.type, TensorType) else ()


def _sizes(sizes: Sequence[int]) -> str:
    return "x".join(map(str, sizes)) or "1"
