"""Operators in a circuit: each kind is one module, instantiated wherever it is used.

So Yosys and Verilator read it once, whatever the number of lanes.
"""

from __future__ import annotations

from collections.abc import Callable

from amaranth.hdl import ClockSignal, Fragment, Instance, Module, ResetSignal, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.nest.circuit import Operate
from axiloom.hw.nest.forms import plain
from axiloom.hw.nest.operators import Operator
from axiloom.hw.nest.operators.formats import bits_of
from axiloom.hw.nest.requests import Request, choose

Find = Callable[[str, str, str, int], Operator]
"""An operator by its name, its operands' format, its result's, and its latency."""

Built = tuple[Operator, tuple[int, ...], int]
"""What an operator's module is built of: the operator, bits of its operands, bits of its result."""

INPUTS = "abcdefgh"
Kind = tuple[str, str, str, int, tuple[int, ...], int]
"""Operator, operands' format, result's, latency, bits of the operands, bits of the result."""


def module_name(kind: Kind) -> str:
    """Name of the module of an operator."""
    name, number, result, latency, _, _ = kind
    formats = number if number == result else f"{number}_{result}"
    return f"nest_{plain(name)}_{plain(formats)}_{latency}"


class OperatorModule(wiring.Component):
    """An operator by itself: ports ``a``, ``b``, ... and ``y``."""

    def __init__(self, operator: Operator, operands: tuple[int, ...], bits: int) -> None:
        self._operator, self._operands = operator, operands
        self.result_bits = bits
        """Those of the operator's own result, once this is elaborated."""
        super().__init__(
            {**{INPUTS[i]: In(width) for i, width in enumerate(operands)}, "y": Out(bits)},
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # The clock domain is there even if the operator has no register.
        ports = [getattr(self, INPUTS[i]) for i in range(len(self._operands))]
        result = self._operator.build(m, self._operator.name, *ports)
        self.result_bits = len(result)
        m.d.comb += self.y.eq(result)
        return m


class Units:
    """The operators of a circuit. Nodes of the same unit share an instance, each in its phase."""

    def __init__(self, find: Find) -> None:
        self._find = find
        self._units: dict[tuple[str, str], tuple[str, Kind, Signal, list[Request]]] = {}
        self._bits: dict[tuple[str, str, str, int, tuple[int, ...]], int] = {}
        self.kinds: dict[Kind, Operator] = {}

    def operate(self, node: Operate, name: str, request: Request) -> Value:
        """The result of `node`, `latency` cycles after `request` is active."""
        operator = self._find(node.operator, node.number, node.result, node.latency)
        if operator.latency != node.latency:
            raise ValueError(
                f"{node.operator} of {node.number} takes {operator.latency} cycles, "
                f"not the circuit's {node.latency}"
            )
        operands = tuple(len(value) for value in request.values)
        named = (node.operator, node.number, node.result, node.latency, operands)
        if named not in self._bits:
            trial = OperatorModule(operator, operands, 1)
            Fragment.get(trial, None)
            if trial.result_bits != bits_of(node.result):
                raise ValueError(
                    f"{node.operator} gives {trial.result_bits} bits, not the {bits_of(node.result)} of "
                    f"{node.result}: readers would take another one for the sign"
                )
            self._bits[named] = trial.result_bits
        kind = (*named, self._bits[named])
        self.kinds[kind] = operator
        key = (request.beat.pipe, node.unit or name)
        if key not in self._units:
            self._units[key] = (name, kind, Signal(kind[-1], name=f"{name}_{plain(node.operator)}"), [])
        _, there, result, requests = self._units[key]
        if there != kind:
            raise ValueError(f"unit {node.unit} is {there[0]} of {there[1]} and {kind[0]} of {kind[1]}")
        requests.append(request)
        return result

    def build(self, m: Module) -> None:
        for name, kind, result, requests in self._units.values():
            inputs = {}
            for index, bits in enumerate(kind[4]):
                operand = Signal(bits, name=f"{name}_{INPUTS[index]}")
                m.d.comb += operand.eq(choose(m, requests, index))
                inputs[f"i_{INPUTS[index]}"] = operand
            m.submodules[f"{name}_unit"] = Instance(
                module_name(kind),
                i_aclk=ClockSignal(),
                i_aresetn=~ResetSignal(allow_reset_less=True),
                o_y=result,
                **inputs,
            )

    def modules(self) -> dict[str, Built]:
        """By name, what :class:`OperatorModule` takes to be one that :meth:`build` instantiates."""
        return {module_name(kind): (operator, kind[4], kind[5]) for kind, operator in self.kinds.items()}
