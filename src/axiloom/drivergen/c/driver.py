"""What the compiler delivers: C files, the stages on the way, and what the function's arguments are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, MemRefType, StringAttr

from axiloom.drivergen.c.names import c_of_numpy, c_type, comment, identifier, numpy_type
from axiloom.drivergen.c.reserved import taken
from axiloom.drivergen.dialects.mlir import fail
from axiloom.drivergen.dialects.packing import Packs
from axiloom.drivergen.nest.results import ACCUMULATED, Results
from axiloom.drivergen.nest.tile import CACHE_LINE
from axiloom.isa import AcceleratorSpec

ACCEPTED = "accepted are i1, i8, i16, i32, i64, f32 and f64"


@dataclass(frozen=True)
class Arg:
    """An argument of the function, and the array of the harness that is passed for it."""

    symbol: str
    """``axl_arg0``: global in the harness, found in the ELF's symbols."""
    shape: tuple[int, ...]
    dtype: str
    """NumPy's name, ``int32``."""
    kind: str
    """``in``, ``out`` or ``inout``."""
    name: str = ""
    """As in the MLIR, where it has one."""
    result: int | None = None
    """Number of the result, of a function on tensors, that is found here afterwards."""

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def array_size(self) -> int:
        """Elements of an array for it: one that is written has its last cache line alone."""
        return self.size if self.kind == "in" else in_whole_lines(self.size, self.dtype)


def in_whole_lines(elements: int, dtype: str) -> int:
    """`elements` of a NumPy type, and so many more that an array of them ends with a cache line."""
    element_bytes = np.dtype(dtype).itemsize
    return -(-elements * element_bytes // CACHE_LINE) * CACHE_LINE // element_bytes


@dataclass(frozen=True)
class Call:
    """One offloaded op: sizes of the problem, and how the accelerator is used."""

    sizes: Mapping[str, int]
    """Iterations of each loop of the op: those of the host (batches, ``b``), then the accelerator's dims."""
    tile: tuple[int, ...]
    """In the order of the accelerator's dims: m, n, k."""
    flow: str
    """Name of the flow; the flow itself where it was written by hand."""
    order: tuple[str, ...]
    """Loops of the host, outermost first."""
    one_row: bool = False
    """Of a convolution: its rows of pixels could as well be one long row, in the image and in the result."""
    words: tuple[int, int] = (0, 0)
    """Over the streams, to the accelerator and from it, about
    (:mod:`axiloom.drivergen.cost.stream_words`)."""

    lean: bool = False
    """It has few multiply-adds for each element that travels: those of a vector, or of a channel by
    itself."""
    merged: int = 1
    """Groups of a convolution put together: of as many multiply-adds, one is not by zero."""
    kernel: int = 0
    """Which of the accelerator's kernels it is (:attr:`AcceleratorSpec.parts`)."""
    results: Results = ACCUMULATED
    """Whether they are added to what is there, and how wide they leave."""

    @property
    def M(self) -> int:
        """Rows of a matmul's C, as N and K are its other sizes."""
        return self.sizes["m"]

    @property
    def N(self) -> int:
        return self.sizes["n"]

    @property
    def K(self) -> int:
        return self.sizes["k"]

    @property
    def multiply_adds(self) -> int:
        """Multiply-adds of the whole op, without padding and zeros."""
        return prod(self.sizes.values()) // self.merged

    def array_cycles(self, device: AcceleratorSpec) -> int:
        """The least cycles in which the accelerator's array can do them.

        One that works on blocks of output channels and pixels of a row has idle lanes where these are no
        multiples of its rows and columns, whatever the driver does: 7 pixels take as long as 8. Where all
        pixels are one row (`one_row`), only its end is rounded up.
        """
        sizes = dict(self.sizes)
        spec = device.parts[self.kernel] if device.parts else None
        if spec is None or spec.form.array is None:
            return -(-self.multiply_adds // device.macs)
        if self.one_row:
            sizes["ow"] *= sizes.pop("oh")
        for dim, lanes in zip(spec.form.array, spec.array, strict=True):
            sizes[dim] = -(-sizes[dim] // lanes) * lanes
        return prod(sizes.values()) // prod(spec.array)


@dataclass
class Driver:
    """A compiled function. `c`, `header`, `harness` are empty where compilation stopped before."""

    function: str
    args: list[Arg]
    stages: dict[str, str]
    """``linalg``, ``accel``, ``calls`` and ``c`` (``loops`` and ``c`` for the CPU) to text."""
    calls: list[Call] = field(default_factory=list)
    c: str = ""
    header: str = ""
    header_name: str = "driver.h"
    harness: str = ""
    passes: tuple[str, ...] = ()
    """The passes on transfers that really ran."""
    note: str | None = None
    """Why a pass that was asked for did not run."""
    origins: list[tuple[int, ...]] = field(default_factory=list)
    """For each argument the numbers of those of the original function that it is made of."""
    packings: Mapping[int, Packs] = field(default_factory=dict)
    """By number of the argument: how it is packed (:mod:`axiloom.drivergen.dialects.packing`)."""


def arguments(function: func.FuncOp) -> list[Arg]:
    """The arguments of a bufferised function."""
    args = []
    for arg, attrs in zip(function.body.block.args, function.arg_attrs or [], strict=True):
        number, kind, access = arg.index, arg.type, attrs.data["accel.kind"]
        assert isinstance(kind, MemRefType)
        assert isinstance(access, StringAttr)
        shape, element = kind.get_shape(), c_type(kind.element_type)
        if element is None:
            fail(function, f"argument {number} has elements of {kind.element_type}; {ACCEPTED}")
        if any(size == DYNAMIC_INDEX for size in shape):
            fail(function, f"argument {number} has a dynamic size ({kind}); sizes must be known")
        strides = kind.get_strides()
        if strides is None or list(strides) != [prod(shape[dim + 1 :]) for dim in range(len(shape))]:
            fail(function, f"argument {number} is not contiguous and row major ({kind})")
        result = attrs.data.get("accel.result")
        args.append(
            Arg(
                f"axl_arg{number}",
                tuple(shape),
                numpy_type(element),
                access.data,
                arg.name_hint or "",
                result.value.data if isinstance(result, IntegerAttr) else None,
            )
        )
    return args


def harness(driver: Driver, banner: str, *, init: str | None, calls: int = 1) -> str:
    """``main.c``: arrays for the arguments, and a main that calls `init` (unless None), then the function,
    `calls` times.

    It returns 0, or the dma_status that stopped it. The simulator fills the inputs and reads the outputs
    through the symbols of the arrays; none of them is const, so that they all lie in RAM.
    """
    lines = [comment(banner), f'#include "{driver.header_name}"', ""]
    for arg in driver.args:
        shape = " x ".join(map(str, arg.shape)) or "1"
        lines.append(f"/* {arg.name or 'argument'}: {shape}, {arg.kind} */")
        lines.append(
            f"{c_of_numpy(arg.dtype)} {arg.symbol}[{arg.array_size}] __attribute__((aligned({CACHE_LINE})));"
        )
    call = f"{driver.function}({', '.join(arg.symbol for arg in driver.args)})"
    lines += ["", "int main(void)", "{"]
    if init is None:
        again = [] if calls == 1 else [f"    for (int call = 0; call < {calls}; call++)"]
        lines += [*again, f"{'    ' * len(again)}    {call};", "    return 0;"]
    else:
        lines += [
            f"    dma_status status = {init}();",
            "    if (status == DMA_OK)"
            if calls == 1
            else f"    for (int call = 0; call < {calls} && status == DMA_OK; call++)",
            f"        status = {call};",
            "    if (status == DMA_OK)",
            "        status = dma_free();",
            "    return (int)status;",
        ]
    return "\n".join([*lines, "}"]) + "\n"


def entry_name(function: func.FuncOp) -> str:
    """The function's name in C; CompileError where that is somebody else's."""
    name = function.sym_name.data
    if (whose := taken(name)) is not None:
        fail(function, f"{whose}: give @{ascii(name)[1:-1]} another name, since C calls it by that")
    return identifier(name)


def init_name(function: func.FuncOp) -> str:
    """The name in C of the function that initialises the DMA for it."""
    return identifier(f"{function.sym_name.data}_init")
