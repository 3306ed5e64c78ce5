"""Checks of an accelerator with several kernels: in place on its result, and beside the first one. See
:mod:`axiloom.isa.check.check`."""

from __future__ import annotations

from collections.abc import Iterator

from axiloom.isa.check.sizes import not_int32
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import Compute
from axiloom.isa.kernels.forms import COPY
from axiloom.isa.kernels.language.kernel import Kernel


def in_place(spec: AcceleratorSpec) -> Iterator[str]:
    """Kernels that are applied to the result: they have one input, and work element by element."""
    if not spec.in_place:
        return
    if spec.form.saves or spec.form is COPY:
        why = "keeps several results" if spec.form.saves else "copies"
        yield f"in_place: a device that {why} applies no kernels in place"
    if spec.post:
        yield "in_place: a device with post-processing applies no kernels in place"
    actions = [action for opcode in spec.opcodes.values() for action in opcode.device]
    for name, kernel in spec.in_place.items():
        if not elementwise(kernel):
            what = f"{kernel.name} is no kernel of one input, element by element, such as relu"
            yield f"in_place.{name}: {what}"
        for fault in not_int32(kernel, spec.result_type):
            yield f"in_place.{name}.body: {fault}"
        if Compute(name) not in actions:
            yield f"in_place.{name}: no opcode does `compute {name}`"


def elementwise(kernel: Kernel) -> bool:
    """Whether each element of the result is made of the element in its place, and of nothing else."""
    if len(kernel.inputs) != 1 or kernel.reductions or kernel.combine is not None:
        return False
    maps = kernel.maps
    return list(maps[kernel.inputs[0]].values()) == list(maps[kernel.output].values())


def opcode_words(spec: AcceleratorSpec) -> Iterator[str]:
    """Further kernels: no opcode word is that of another kernel."""
    if len(spec.parts) < 2:
        return
    first: dict[int, str] = {}
    for part in spec.parts:
        place = f"kernels.{part.use.name}." if part.at else ""
        if part.bits:
            yield f"{place}bits: with several kernels an opcode word is that of one opcode"
        for opcode in part.opcodes.values():
            at = f"{place}opcode_map.{opcode.name}"
            if opcode.literal is None:
                yield f"{at}: with several kernels each opcode begins with send_literal"
            elif opcode.literal in first:
                taken = (
                    f"literal {opcode.literal} ({opcode.literal:#x}) is taken by `{first[opcode.literal]}`"
                )
                yield f"{at}: {taken}; the device could not tell them apart"
            else:
                first[opcode.literal] = f"{place}{opcode.name}".removeprefix("kernels.")


def no_copies(spec: AcceleratorSpec) -> Iterator[str]:
    for part in spec.parts[1:]:
        if part.form is COPY or spec.form is COPY:
            yield f"kernels.{part.use.name}: a device for copies has no further kernel"
            return
