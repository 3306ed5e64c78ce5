"""An operator's netlist, computed for many operands at once: quick enough for all pairs of 8-bit numbers.

Each net knows in which cycle its value comes. Whatever meets in one cell must come in the same cycle, so that
a delay that is forgotten is found whatever the values are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from amaranth.hdl import Module, Signal
from amaranth.hdl import _ir as ir
from amaranth.hdl import _nir as nir

from axiloom.hw.nest.operators import Operator
from axiloom.hw.nest.operators.formats import bits_of, unsigned

Word = tuple[Any, int | None]
"""Elements, each with all bits of a cell's output; and the cycle, None for constants."""


def computed(operator: Operator, *operands: Any) -> Any:
    """Raw results of raw operands, by the RTL. Raises AssertionError unless they come `latency` later, in as
    many bits as their format has: whoever reads them takes the highest bit for the sign."""
    m = Module()
    sizes = operator.operand_bits
    inputs = [Signal(bits, name=f"i{place}") for place, bits in enumerate(sizes)]
    output = Signal(bits_of(operator.result), name="o")
    result = operator.build(m, "op", *inputs)
    assert len(result) == len(output), f"{operator}: {len(result)} bits, not {len(output)}"
    m.d.comb += output.eq(result)
    fragment = ir.Fragment.get(m, platform=None)
    netlist = ir.build_netlist(fragment, ports=_ports(inputs, output))
    values, cycle = _Evaluation(netlist, operands, len(operands[0])).output()
    assert cycle in (None, operator.latency), f"results come {cycle} cycles later, not {operator.latency}"
    return np.asarray(values).astype(unsigned(len(output)))


def _ports(inputs: Sequence[Signal], output: Signal) -> list[tuple[str, Signal, Any]]:
    return [(each.name, each, ir.PortDirection.Input) for each in inputs] + [
        (output.name, output, ir.PortDirection.Output)
    ]


class _Evaluation:
    def __init__(self, netlist: Any, operands: Sequence[Any], count: int) -> None:
        self.netlist = netlist
        self.count = count
        self.words: dict[int, Word] = {}
        top = netlist.top
        self.inputs: dict[int, tuple[Any, int]] = {}
        for place, operand in enumerate(operands):
            start, width = top.ports_i.get(f"i{place}", (0, 0))
            word = np.asarray(operand).astype(np.uint64)
            for bit in range(width):
                self.inputs[start + bit] = (word, bit)

    def output(self) -> Word:
        return self.gathered(self.netlist.top.ports_o["o"])

    def bit(self, net: Any) -> Word:
        if net.is_const:
            return np.full(self.count, net.const, np.uint64), None
        if net.cell == 0:
            word, bit = self.inputs[net.bit]
            return (word >> np.uint64(bit)) & np.uint64(1), 0
        word, cycle = self.word(net.cell)
        return _narrow((word >> _as(word, net.bit)) & _as(word, 1)), cycle

    def gathered(self, value: Any) -> Word:
        """A value's elements; runs of bits of one cell are taken together."""
        wide = len(value) > 63
        found: Any = np.zeros(self.count, object if wide else np.uint64)
        cycles: set[int] = set()
        place = 0
        while place < len(value):
            net, end = value[place], place + 1
            while end < len(value) and _follows(net, value[end], end - place):
                if net.cell == 0 and self.inputs[value[end].bit][0] is not self.inputs[net.bit][0]:
                    break  # another operand
                end += 1
            if net.is_const:
                end = place + 1
                while end < len(value) and value[end].is_const:
                    end += 1
                constant = sum(each.const << bit for bit, each in enumerate(value[place:end]))
                word, cycle, low = np.full(self.count, constant, found.dtype), None, 0
            elif net.cell == 0:
                (word, low), cycle = self.inputs[net.bit], 0
            else:
                (word, cycle), low = self.word(net.cell), net.bit
            mask = (1 << (end - place)) - 1
            part = (word >> _as(word, low)) & _as(word, mask)
            found = found | (part.astype(found.dtype) << _as(found, place))
            if cycle is not None:
                cycles.add(cycle)
            place = end
        assert len(cycles) <= 1, f"values of cycles {sorted(cycles)} meet in one cell: {value}"
        return found, (cycles.pop() if cycles else None)

    def word(self, cell: int) -> Word:
        if cell not in self.words:
            self.words[cell] = self.compute(self.netlist.cells[cell])
        return self.words[cell]

    def together(self, *values: Any) -> tuple[list[Any], int | None]:
        words = [self.gathered(value) for value in values]
        cycles = {cycle for _, cycle in words if cycle is not None}
        assert len(cycles) <= 1, f"values of cycles {sorted(cycles)} meet in one cell"
        return [word for word, _ in words], (cycles.pop() if cycles else None)

    def compute(self, cell: Any) -> Word:
        if isinstance(cell, nir.Operator):
            words, cycle = self.together(*cell.inputs)
            return _operate(cell, words), cycle
        if isinstance(cell, nir.FlipFlop):
            (word,), cycle = self.together(cell.data)
            return word, None if cycle is None else cycle + 1
        if isinstance(cell, nir.Part) and cell.value.is_const and not cell.value_signed:
            (offset,), cycle = self.together(cell.offset)
            constant = sum(each.const << bit for bit, each in enumerate(cell.value))
            mask = (1 << cell.width) - 1
            table = [constant >> place * cell.stride & mask for place in range(1 << len(cell.offset))]
            return np.array(table, np.uint64)[offset.astype(np.int64)], cycle
        if isinstance(cell, nir.Part):
            (value, offset), cycle = self.together(cell.value, cell.offset)
            wide = (
                _signed(value.astype(object), len(cell.value)) if cell.value_signed else value.astype(object)
            )
            found = (wide >> (offset.astype(object) * cell.stride)) & ((1 << cell.width) - 1)
            return _fit(found, cell.width), cycle
        if isinstance(cell, nir.Matches):
            (value,), cycle = self.together(cell.value)
            hits = np.zeros(self.count, bool)
            for pattern in cell.patterns:
                care = int("".join("0" if each == "-" else "1" for each in pattern), 2)
                want = int(pattern.replace("-", "0"), 2)
                hits |= (value & _as(value, care)) == _as(value, want)
            return hits.astype(np.uint64), cycle
        if isinstance(cell, nir.PriorityMatch):
            (enable, inputs), cycle = self.together((cell.en,), cell.inputs)
            lowest = inputs & (~inputs + _as(inputs, 1))
            return np.where(enable.astype(bool), lowest, _as(inputs, 0)), cycle
        if isinstance(cell, nir.AssignmentList):
            return self.assigned(cell)
        raise NotImplementedError(type(cell))

    def assigned(self, cell: Any) -> Word:
        conditions = [(each.cond,) for each in cell.assignments]
        values = [each.value for each in cell.assignments]
        # A register that is always assigned does not wait for itself.
        covered = {
            bit
            for each in cell.assignments
            if each.cond == 1
            for bit in range(each.start, each.start + len(each.value))
        }
        zero = nir.Net.from_const(0)
        default = nir.Value(zero if bit in covered else net for bit, net in enumerate(cell.default))
        words, cycle = self.together(default, *conditions, *values)
        found = words[0]
        for each, condition, value in zip(
            cell.assignments, words[1 : 1 + len(values)], words[1 + len(values) :], strict=True
        ):
            mask = ((1 << len(each.value)) - 1) << each.start
            keep = ((1 << len(cell.default)) - 1) & ~mask
            new = (found & _as(found, keep)) | (value.astype(found.dtype) << _as(found, each.start))
            found = np.where(condition.astype(bool), new, found)
        return found, cycle


def _follows(first: Any, net: Any, distance: int) -> bool:
    return not first.is_const and not net.is_const and int(net) == int(first) + distance


def _as(word: Any, value: int) -> Any:
    return value if word.dtype == object else np.uint64(value)


def _narrow(word: Any) -> Any:
    return word.astype(np.uint64) if word.dtype == object else word


def _fit(word: Any, bits: int) -> Any:
    return word if bits > 63 else word.astype(np.uint64)


def _signed(word: Any, bits: int) -> Any:
    return word - ((word >> (bits - 1)) << bits)


def _operate(cell: Any, words: list[Any]) -> Any:
    kind = cell.operator
    bits = len(cell.inputs[0])
    mask = (1 << cell.width) - 1
    if kind == "m":
        return np.where(words[0].astype(bool), words[1], words[2])
    x, *rest = words
    if kind in _BITWISE and x.dtype == np.uint64:
        return _BITWISE[kind](x, *rest) & np.uint64(mask)
    if kind in ("+", "-", "*") and bits <= 63:
        with np.errstate(over="ignore"):
            found = {"+": np.add, "-": np.subtract, "*": np.multiply}[kind](x, rest[0]) if rest else -x
        return found & np.uint64(mask)
    if kind in ("r|", "b"):
        return (x != _as(x, 0)).astype(np.uint64)
    if kind == "r&":
        return (x == _as(x, (1 << bits) - 1)).astype(np.uint64)
    if kind in _COMPARE:
        return _COMPARE[kind](x, rest[0]).astype(np.uint64)
    x, *rest = (word.astype(object) for word in words)
    if kind[0] == "s":
        x = _signed(x, bits)
        if kind != "s>>":
            rest = [_signed(word, bits) for word in rest]
    found = _WIDE[kind](x, *rest)
    return _fit(found.astype(object) & mask, cell.width)


_BITWISE: dict[str, Callable[..., Any]] = {
    "~": np.bitwise_not,
    "&": np.bitwise_and,
    "|": np.bitwise_or,
    "^": np.bitwise_xor,
}
_COMPARE: dict[str, Callable[..., Any]] = {
    "==": np.equal,
    "!=": np.not_equal,
    "u<": np.less,
    "u>": np.greater,
    "u<=": np.less_equal,
    "u>=": np.greater_equal,
}
_WIDE: dict[str, Callable[..., Any]] = {
    "~": lambda x: ~x,
    "-": lambda x, *y: x - y[0] if y else -x,
    "+": lambda x, y: x + y,
    "*": lambda x, y: x * y,
    "&": lambda x, y: x & y,
    "|": lambda x, y: x | y,
    "^": lambda x, y: x ^ y,
    "<<": lambda x, y: x << y,
    "u>>": lambda x, y: x >> y,
    "s>>": lambda x, y: x >> y,
    "r^": lambda x: np.array([bin(each).count("1") & 1 for each in x], object),
    "s<": lambda x, y: (x < y).astype(object),
    "s>": lambda x, y: (x > y).astype(object),
    "s<=": lambda x, y: (x <= y).astype(object),
    "s>=": lambda x, y: (x >= y).astype(object),
}
