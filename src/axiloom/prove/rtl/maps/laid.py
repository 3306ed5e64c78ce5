"""What state maps are made of: where operands lie in buffers, and what a multiplier gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from axiloom.base.errors import BuildError
from axiloom.hw.array.mac_array import Columns
from axiloom.hw.array.operand_layout import OperandLayout
from axiloom.hw.array.pair import HELD_BITS
from axiloom.isa.contract.types import WORD_BITS, SendDim
from axiloom.isa.formal.beats import Beats
from axiloom.prove.rtl.maps.device import Link, Links, element
from axiloom.prove.rtl.terms.machine import Machine

Multiply = Callable[[Any, Any], Any]
Sizes = tuple[int, int]
Shape = Mapping[str, int]
"""Sizes and settings, by name."""


@dataclass(frozen=True)
class Laid:
    """What an engine has of its model. `multiplier`: how its product is read off the machine; `sizes`: dims
    that words set; `shapes`: values of sizes and settings, of which words are made where the model waits for
    some; `limited`: other words are not looked at; `settles`: cycles from reset until it is at rest."""

    links: Links
    bits: int
    multiplier: Callable[[Machine, int], Multiply]
    sizes: tuple[str, ...] = ()
    shapes: Sequence[Shape] = ()
    limited: bool = False
    settles: int = 0


def settings(beats: Beats, shapes: Sequence[Shape]) -> dict[int, tuple[int, ...]]:
    """Where the model waits for sizes, the words that set those of `shapes`."""
    return {
        step: tuple(
            sorted({sum(shape[field.dim] << field.shift for field in host.fields) for shape in shapes})
        )
        for step, wait in beats.waits.items()
        if not wait.memory and isinstance(host := beats.host(wait), SendDim) and shapes
    }


def laid(
    elements: Any,
    layout: OperandLayout,
    sizes: Sizes,
    k_inner: bool,
    half: Any,
    buffer: str,
    count: int | None = None,
    row: int | None = None,
) -> Iterator[Link]:
    """The first `count` elements (default: all) of an operand, in the half of `buffer` that `half` says.
    `row`: elements of a line, if the model has no padding behind them."""
    lines, depth_k = sizes
    total = lines * depth_k if count is None else count
    for number in range(total):
        line, k = divmod(number, depth_k) if k_inner else reversed(divmod(number, lines))
        if row is not None and k >= row:
            continue
        if layout.along_k:
            bank, block = line % layout.banks, line // layout.banks
            word, lane = k // layout.per_word, k % layout.per_word
            offset = block * (depth_k // layout.per_word) + word
        else:
            word, lane = divmod(line, layout.per_word)
            bank, block = word % layout.banks, word // layout.banks
            offset = block * depth_k + k
        term = element(elements, number if row is None else line * row + k)
        for side in range(2):
            address = side * layout.depth + offset
            yield Link(f"{buffer}.bank_{bank}[{address}]", lane * layout.bits, term, half == side)


def in_array(columns: Columns) -> Callable[[Machine, int], Multiply]:
    """What the array adds up as the product of two elements, read off its first row: a first product, three
    cycles after its factors."""
    row = "array.row_0"
    valid_and_first = [(f"{row}.control_next", z3.BitVecVal(3, 2))]
    # A pair whose high element is zero has lent one to a low element below zero.
    held = HELD_BITS if columns.paired else columns.bits

    def multiplier(machine: Machine, bits: int) -> Multiply:
        factors, result = {f"{row}.a": bits, f"{row}.b_held": held}, (f"{row}.totals", columns.sum_bits)
        return read_off(machine, bits, factors, result, 3, valid_and_first)

    return multiplier


def read_off(
    machine: Machine,
    bits: int,
    factors: Mapping[str, int],
    result: tuple[str, int],
    cycles: int,
    others: Sequence[tuple[str, Any]] = (),
) -> Multiply:
    """What is in the register `result` (name, bits; as a word with its sign) so many `cycles` after two
    elements were in those of `factors` (name to bits, with their signs)."""
    state: dict[str, Any] = {name: z3.BitVecVal(0, term.size()) for name, term in machine.registers.items()}
    a, b = z3.BitVec("factor_a", bits), z3.BitVec("factor_b", bits)
    given_factors = [
        (name, z3.SignExt(size - bits, one) if size > bits else one)
        for (name, size), one in zip(factors.items(), (a, b), strict=True)
    ]
    for register, value in (*given_factors, *others):
        name, low = _register(machine, register, value.size())
        rest = state[name].size() - value.size() - low
        state[name] = z3.ZeroExt(rest, value) if rest else value
    name, size = result
    own, low = _register(machine, name, size)
    step = machine.stepper()
    given = {
        name: z3.BitVecVal(int(name == "aresetn"), _width(term)) for name, term in machine.inputs.items()
    }
    for _ in range(cycles):
        state, _ = step(state, given)
    product = z3.simplify(z3.SignExt(WORD_BITS - size, z3.Extract(low + size - 1, low, state[own])))
    return lambda x, y: z3.substitute(product, (a, x), (b, y))


def _register(machine: Machine, name: str, size: int) -> tuple[str, int]:
    if (found := machine.place(name, 0, size)) is None:
        raise BuildError(f"{machine.top}: no register {name}")
    return found


def _width(term: Any) -> int:
    return 1 if z3.is_bool(term) else term.size()
