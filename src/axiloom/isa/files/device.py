"""A plain device for a kernel: one opcode an operand, one that computes, one that brings the result back.

It is what a specification of one's own begins with, and what runs a kernel before there is RTL.
"""

from __future__ import annotations

from collections.abc import Mapping

from axiloom.base.errors import SpecError, UsageError
from axiloom.base.wording.names import hint
from axiloom.isa import numerics
from axiloom.isa.check import check
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import (
    Clear,
    Compute,
    DimField,
    DmaConfig,
    HostAction,
    Load,
    Opcode,
    Recv,
    Scope,
    Send,
    SendDim,
    SendLiteral,
    SetDims,
    Store,
    TileRule,
)
from axiloom.isa.files.json_form import default_macs
from axiloom.isa.kernels.forms import FORMS, plain_form
from axiloom.isa.kernels.language.kernel import REDUCTION, WINDOW, Kernel
from axiloom.isa.kernels.named import KERNELS
from axiloom.isa.numerics import Numerics

TILES = {0: 1, 1: 256, 2: 16, 3: 16, 4: 8, 5: 4}
"""Default size of a tile in a dim that is no window, by the number of the host's loops."""
TAPS = 3
"""And of a window."""
SPARE = 4
"""Room in the buffers, in tiles of the default size."""


def device_of(
    kernel: str | Kernel,
    tile: Mapping[str, int] | None = None,
    data_type: str | Numerics = "int32",
    name: str | None = None,
) -> AcceleratorSpec:
    """A device that executes `kernel` (a name of `axiloom.isa.kernels.named`, or a value) in tiles of any
    size.

    `tile`: its default tile, iterator to size; where it says nothing, `TILES` (windows: 3). Its buffers
    hold four
    such tiles. It has the opcodes ``dims``, ``s`` and the name of each input, ``c`` and ``r``.
    Raises SpecError for what makes no sound specification.
    """
    what = kernel if isinstance(kernel, Kernel) else _named(kernel)
    plain = KERNELS.get(what.name) is what and all(form.kernel != what.name for form in FORMS)
    own, form = None if plain else what, plain_form(what)
    side = TILES.get(len(form.loops), 2)
    sizes = {n: TAPS if kind == WINDOW else side for n, kind in what.iterators.items()} | dict(tile or {})
    words: list[HostAction] = [
        SendLiteral(1),
        *(SendDim((DimField(dim),)) for dim in (*form.dims, *_names(what))),
    ]
    opcodes = [Opcode("dims", tuple(words), (SetDims(),) * (len(words) - 1))]
    for number, operand in enumerate(what.inputs):
        opcodes.append(Opcode(f"s{operand}", (SendLiteral(2 + number), Send(operand)), (Load(operand),)))
    at = 2 + len(what.inputs)
    opcodes.append(Opcode("c", (SendLiteral(at),), (Compute(),)))
    receive = (SendLiteral(at + 1), Recv(what.output))
    opcodes.append(Opcode("r", receive, (Store(what.output), Clear(what.output))))
    sends = (*(f"s{operand}" for operand in what.inputs), "c")
    flow = Scope(sends)
    for _ in (loop for loop in what.loops if what.iterators[loop] == REDUCTION):
        flow = Scope((flow,)) if flow.depth < len(what.loops) else flow
    flow = Scope((*flow.items, "r"))
    spec = AcceleratorSpec.of(
        name=name or "".join(c if c.isalnum() else "_" for c in what.name),
        version="1.0",
        description=f"A plain device for {what.name}",
        kernel=what.name,
        data_type=data_type if isinstance(data_type, Numerics) else numerics.of(data_type),
        dims=form.dims,
        data=dict(form.operands),
        opcodes={opcode.name: opcode for opcode in opcodes},
        flows={"plain": flow},
        selected_flow="plain",
        init_opcodes=(),
        dma=DmaConfig(),
        buffers={},
        tile=TileRule(tuple(sizes[dim] for dim in form.dims), (1,) * len(form.dims)),
        macs=1,
        own_kernel=own,
    )
    held = {o: SPARE * max(1, spec.held_words(o, spec.operand_shape(o))) for o in spec.operands}
    spec = spec.replace(buffers=held, macs=default_macs(spec))
    spec = spec.replace(init_opcodes=("dims",)) if spec.sets(form.dims[0] if form.dims else "") else spec
    if faults := check.check(spec):
        raise SpecError([f"{spec.name}: {fault}" for fault in faults])
    return spec


def _named(name: str) -> Kernel:
    if name not in KERNELS:
        raise UsageError(f"no kernel `{name}`{hint(name, KERNELS)}; there are {', '.join(KERNELS)}")
    return KERNELS[name]


def _names(kernel: Kernel) -> tuple[str, ...]:
    return (*kernel.derived, *kernel.settings)
