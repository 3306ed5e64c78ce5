"""Prints a circuit as Verilog: its core, and each kind of operator in it once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from axiloom.hw.nest.accelerator import NestAccelerator
from axiloom.hw.nest.circuit import Circuit
from axiloom.hw.nest.core import Core
from axiloom.hw.nest.forms import plain
from axiloom.hw.nest.operators import Operator
from axiloom.hw.nest.units import Built, Find, OperatorModule
from axiloom.hw.verilog.emit import convert


@dataclass(frozen=True)
class NestVerilog:
    """`text` is all of it, `top` the module. `checks` are what ``debug_error`` counts, `operators` the names
    of the operators' modules."""

    top: str
    text: str
    checks: tuple[str, ...]
    operators: tuple[str, ...]
    built: Mapping[str, Built] = field(default_factory=dict, compare=False)
    """Of :attr:`operators`, what each is."""


def emit_nest(circuit: Circuit, find: Find, checks: bool = False, readable: bool = True) -> NestVerilog:
    """Verilog of `circuit` with clock ``aclk`` and reset ``aresetn`` (synchronous, active low); the same
    bytes for the same circuit."""
    top = f"nest_{plain(circuit.name)}"
    core = Core(circuit, find, checks)
    parts = [convert(core, top, readable=readable)]
    operators = core.operators
    parts += [_operator(name, *built, readable) for name, built in sorted(operators.items())]
    return NestVerilog(top, "\n".join(parts), tuple(core.checks), tuple(sorted(operators)), operators)


def emit_accelerator(circuit: Circuit, find: Find, readable: bool = True) -> NestVerilog:
    """As :func:`emit_nest`, of `circuit` behind one AXI4-Stream each way."""
    top = f"nest_{plain(circuit.name)}"
    accelerator = NestAccelerator(circuit, find)
    parts = [convert(accelerator, top, readable=readable)]
    operators = accelerator.core.operators
    parts += [_operator(name, *built, readable) for name, built in sorted(operators.items())]
    return NestVerilog(top, "\n".join(parts), (), tuple(sorted(operators)), operators)


@lru_cache(maxsize=256)
def _operator(name: str, operator: Operator, operands: tuple[int, ...], bits: int, readable: bool) -> str:
    """Verilog of an operator's module. Circuits have few kinds, and mostly the same ones."""
    return convert(OperatorModule(operator, operands, bits), name, readable=readable)
