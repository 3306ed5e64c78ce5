"""The functions of numbers in a device's Verilog, by the names that its text has for them.

A text's ``@external`` functions are known by name alone, in its model as here: ``float32.add`` in the RTL is
then the text's ``add``. A bfloat16 is the upper half of a float32 on both sides, as that is wires.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import z3

from axiloom.device.rtl import DeviceRtl
from axiloom.hw.numbers.function import Function as Rtl
from axiloom.hw.numbers.registry import FUNCTIONS
from axiloom.hw.numbers.unit import RESULT, ports
from axiloom.hw.verilog.functions import module_of
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.prove.rtl.terms.cut import Part, with_functions, without
from axiloom.prove.rtl.terms.machine import Machine, read

_WIDE = "bfloat16.to_float32"
_OF_BFLOAT16 = " of bfloat16"
"""Ends the name of a function that widens its operands."""


def machine(device: DeviceRtl) -> Machine:
    """The registers of `device`, and those of who waits behind its functions."""
    names = _names(device.isa)
    text, parts = device.verilog, dict[str, Part]()
    for one in FUNCTIONS.values():
        module = module_of(device.top, one)
        if re.search(rf"^module {module} \(", text, re.MULTILINE):
            parts[module] = _part(one, names)
            text = without(text, module, parts[module])
    found = read(((f"{device.top}.v", text),), device.top)
    return with_functions(found, parts) if parts else found


def with_wires(isa: InstructionSet, term: Any) -> Any:
    """A term of the text in which a bfloat16 becomes a float32 by wires."""
    name = _names(isa).get(_WIDE)
    if name is None:
        return term
    function = z3.Function(name, z3.BitVecSort(16), z3.BitVecSort(32))
    return z3.substitute_funs(term, (function, _widened(z3.Var(0, z3.BitVecSort(16)))))


def _names(isa: InstructionSet) -> Mapping[str, str]:
    """What the text calls its external functions."""
    return {function.external: name for name, function in isa.functions.items() if function.external}


def _part(function: Rtl, names: Mapping[str, str]) -> Part:
    external = function.external.removesuffix(_OF_BFLOAT16)
    widens = external != function.external
    operand_bits = [32 if widens else bits for bits in function.operand_bits]
    sorts = [z3.BitVecSort(bits) for bits in (*operand_bits, function.result_bits)]
    named = z3.Function(names.get(external, external), *sorts)

    def value(operands: Any) -> Any:
        return named(*(_widened(operand) if widens else operand for operand in operands))

    return Part(ports(function), RESULT, function.result_bits, function.latency, value)


def _widened(term: Any) -> Any:
    return z3.Concat(term, z3.BitVecVal(0, 16))
