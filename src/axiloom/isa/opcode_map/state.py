"""What a kernel's part of a device holds: registers of sizes, memories of tiles, and sizes as expressions."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from keyword import iskeyword
from math import prod
from typing import Any

import numpy as np

from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import WORD_BITS, SendDim
from axiloom.isa.instructions import externals
from axiloom.isa.instructions.arithmetic import MOST_WIDE, ZERO, all_of, apply, plus, times
from axiloom.isa.instructions.expressions import type_of
from axiloom.isa.instructions.tree import (
    BOOL,
    Apply,
    Const,
    Expr,
    Function,
    InstructionSet,
    Memory,
    Name,
    Range,
    Read,
    Register,
    Wrapped,
    signed,
    unsigned,
)  # fmt: skip
from axiloom.isa.kernels.forms import CHANNELS
from axiloom.isa.numerics import INT8, Numerics


@dataclass(frozen=True)
class Size:
    """An expression as a number: what computes sizes of integers computes expressions of these."""

    expr: Expr

    def __add__(self, other: Any) -> Size:
        return _size("add", self, other)

    def __sub__(self, other: Any) -> Size:
        return _size("sub", self, other)

    def __mul__(self, other: Any) -> Size:
        return self if other == 1 else _size("mul", self, other)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Size:
        match self.expr:
            case Apply(operation="neg", arguments=(inner,)):
                return Size(inner)
            case Apply(
                operation="floordiv", arguments=(Apply(operation="neg", arguments=(inner,)), Const(by))
            ):
                return (Size(inner) + (by - 1)) // by  # rounded up
        return _size("neg", self)

    def __floordiv__(self, by: int) -> Size:
        match self.expr:
            case Apply(operation="mul", arguments=(inner, Const(factor))) if by % factor == 0:
                return Size(inner) // (by // factor)
        return self if by == 1 else _size("floordiv", self, by)

    def __str__(self) -> str:
        """In a message."""
        return str(self.expr.value) if isinstance(self.expr, Const) else f"{{{self.expr.name}}}"  # type: ignore[union-attr]


def expr(value: Size | int) -> Expr:
    return value.expr if isinstance(value, Size) else Const(int(value))


def _size(operation: str, *values: Size | int) -> Size:
    return Size(apply(operation, *map(expr, values), most=MOST_WIDE))


RESERVED = ("word", "step", "error", "at", "sent", "last", "n_sent", "todo", "beat", "left")
"""What a formal model adds to registers and memories (:mod:`axiloom.isa.formal.beats`), and the input."""


class Names:
    """Names of one instruction set, each given once; none of them is a word of the language."""

    def __init__(self) -> None:
        self._taken = {*RESERVED}

    def new(self, stem: str) -> str:
        name = re.sub(r"\W", "_", stem, flags=re.ASCII)
        reserved = iskeyword(name) or hasattr(builtins, name) or type_of(name)
        first = name = name if name[:1].isalpha() and not reserved else f"op_{name}"
        number = 1
        while name in self._taken:
            number += 1
            name = f"{first}_{number}"
        self._taken.add(name)
        return name


class Part:
    """One kernel of a device.

    Attributes:
        sizes: of dims and settings: numbers, or registers where some word sets them.
        buffers: operand to its memory on the device.
        incoming: input to the memory of the host's from which its next tile comes.
        outgoing: number format of a result to the memory of the host's to which it goes.
        laid: operand to the registers with the sizes and settings under which its tile is there.
        there: operand to whether a tile of it is there.
    """

    def __init__(self, spec: AcceleratorSpec, isa: InstructionSet, names: Names) -> None:
        self.spec, self.form, self.isa, self.names = spec, spec.form, isa, names
        self.kind, self.result = spec.data_type, spec.result_type
        self.out = self.form.output
        self.inputs = (*self.form.inputs, *((CHANNELS,) if spec.post else ()))
        self.most = max(words * WORD_BITS // self.kind.bits for words in spec.buffers.values())
        """Elements of the largest buffer: no tile is larger, in no dim."""
        initial = spec.sizes()
        types = self._types(initial)
        self.sizes = {
            name: Size(self.register(name, types[name], value) if name in types else Const(value))
            for name, value in initial.items()
        }
        self.sums = signed(WORD_BITS) if self._sums(self.kind) else self._range(self.result)
        self.buffers = {name: self._buffer(name) for name in (*self.inputs, self.out)}
        self.incoming = {
            name: self.memory(f"{name}_in", self.buffers[name].shape[0], self.buffers[name].type, host=True)
            for name in self.inputs
        }
        room = (self.buffers[self.out].shape[0] + spec.link.stream_width // 8 + 3) // 4 * 4  # whole words
        self.outgoing = {
            self.result: self.memory(f"{self.out}_out", room, self.buffers[self.out].type, host=True)
        }
        if spec.post:
            self.outgoing[INT8] = self.memory(f"{self.out}_int8", room, signed(8), host=True)
        self.laid = {
            operand: {
                name: self.register(f"{operand}_{name}", types[name])
                for name in dict.fromkeys((*self.dims(operand), *self.form.laid.get(operand, ())))
                if name in types and not (operand == self.out and self.form.saves)
            }
            for operand in (*self.inputs, self.out)
        }
        self.there = {
            operand: self.register(f"{operand}_there", BOOL) for operand in (*self.inputs, self.out)
        }
        if self.form.saves:
            self.saved = self.register("saved", unsigned(spec.buffers[self.out].bit_length()))
            self.total = self.memory("total", 1, self.sums)

    # --- declarations -------------------------------------------------------------------------------------

    def register(self, stem: str, kind: Range, init: int = 0) -> Name:
        name = self.names.new(stem)
        self.isa.registers[name] = Register(name, kind, init)  # type: ignore[index]
        return Name(name, kind)

    def memory(self, stem: str, elements: int, kind: Range, host: bool = False, reset: int = 0) -> Memory:
        name = self.names.new(stem)
        self.isa.memories[name] = Memory(name, (elements,), kind, host, reset=reset)  # type: ignore[index]
        return self.isa.memories[name]

    def external(self, kind: Numerics, operation: str) -> Function:
        """An operation of a number format on bit patterns."""
        external, stem = f"numerics.{kind.name}.{operation}", f"{kind.name}_{operation}"
        for known in self.isa.functions.values():
            if known.external == external:
                return known
        many, (_, result) = externals.function(external).arguments, kind.operations[operation]
        parameters = {f"x{n}": unsigned(kind.bits) for n in range(many)}
        name = self.names.new(stem)
        function = Function(name, parameters, unsigned(result.bits), external=external, opaque=True)
        self.isa.functions[name] = function  # type: ignore[index]
        return function

    def _types(self, initial: Mapping[str, int]) -> dict[str, Range]:
        """Dims and settings that some word sets, each with what its register holds.

        A tile that fits its buffer is in no dim larger than the buffer, so registers need no more bits.
        """
        own = {setting.name for setting in self.spec.settings if setting.signed}
        types: dict[str, Range] = {}
        layouts = [a for opcode in self.spec.opcodes.values() for a in opcode.host if isinstance(a, SendDim)]
        for layout in layouts:
            for field in layout.fields:
                highest = self.form.highest.get(field.dim, self.most)
                bits = max(
                    min(layout.field_bits(field), highest.bit_length()), initial[field.dim].bit_length()
                )
                types[field.dim] = signed(8) if field.dim in own else unsigned(bits)
        return types | {dim: types[other] for dim, other in self.spec.tied.items()}

    def _range(self, kind: Numerics) -> Range:
        """What elements are: integers, or bit patterns."""
        if not kind.integral and not self._sums(kind):
            return unsigned(kind.bits)
        limits = np.iinfo(kind.numpy)
        return Range(int(limits.min), int(limits.max))

    def _sums(self, kind: Numerics) -> bool:
        """Whether all that is done with elements is sums of products of integers."""
        return kind.integral_sums and self.form.computes is None

    def _buffer(self, operand: str) -> Memory:
        words = self.spec.buffers[operand]
        if operand == self.out:  # each word has one element, and so has each of a packed one's
            return self.memory(operand, words, self.sums, reset=self.start)
        kind = self.spec.operand_type(operand)
        return self.memory(operand, words * WORD_BITS // kind.bits, self._range(kind))

    @cached_property
    def start(self) -> int:
        """What each element of a cleared result is."""
        combine = self.form.computes.combine if self.form.computes else "add"
        starts = {"mul": self.result.nearest(1), "max": self.result.lowest, "min": self.result.highest}
        value = starts.get(combine or "add", self.result.zero)
        return int(value if self.result.integral else self.result.encode(value))

    # --- sizes --------------------------------------------------------------------------------------------

    def dims(self, operand: str) -> tuple[str, ...]:
        return (self.form.channel,) if operand == CHANNELS else self.spec.data[operand]

    def shape(self, operand: str) -> tuple[Any, ...]:
        """Of a tile under the sizes of now."""
        sizes = tuple(self.sizes[dim] for dim in self.dims(operand))
        return (*sizes, 2) if operand == CHANNELS else sizes

    def shown(self, operand: str, laid: bool = False) -> tuple[str, ...]:
        """The shape in a message; `laid`: the one under which the operand is there."""
        own = self.laid[operand] if laid else {}
        sizes = [Size(own[dim]) if dim in own else self.sizes[dim] for dim in self.dims(operand)]
        return (*map(str, sizes), *(("2",) if operand == CHANNELS else ()))

    def under(self, operand: str) -> tuple[Any, ...]:
        """The shape of a tile under the sizes with which it is there."""
        laid = self.laid[operand]
        sizes = tuple(Size(laid[dim]) if dim in laid else self.sizes[dim] for dim in self.dims(operand))
        return (*sizes, 2) if operand == CHANNELS else sizes

    def fits(self, operand: str, shape: tuple[Any, ...]) -> Expr:
        """A tile of this shape fits its buffer."""
        held = expr(self.spec.held_words(operand, shape))
        return apply("le", held, Const(self.spec.buffers[operand]))

    def legal(self, dim: str, size: Size) -> Iterator[tuple[Expr, str]]:
        """What must hold of a dim or setting by itself, each with what it is said to be else."""
        value = size.expr
        units = dict(zip(self.spec.dims, self.spec.tile.granule or self.spec.tile.size, strict=True))
        lowest = {setting.name: setting.lowest for setting in self.spec.settings}.get(dim, 1)
        unit, highest = units.get(dim, 1), self.form.highest.get(dim)
        yield apply("le", Const(lowest), value), f"below {lowest}"
        if unit > 1:
            yield apply("eq", apply("mod", value, Const(unit)), ZERO), f"not a multiple of {unit}"
        if highest is not None:
            yield apply("le", value, Const(highest)), f"above {highest}"
        if dim in self.form.unit:
            yield apply("eq", value, Const(1)), "not 1"

    def legal_tile(self, sizes: Mapping[str, Size]) -> Expr:
        """What must hold of the dims of a MatMul, besides that its tiles fit."""
        whole, units = [], self.spec.tile.granule or self.spec.tile.size
        for dim, unit in zip(self.spec.dims, units, strict=True):
            value = sizes[dim].expr
            whole += [apply("lt", ZERO, value), apply("eq", apply("mod", value, Const(unit)), ZERO)]
        return all_of([condition for condition in whole if condition != Const(1)])

    def held(self, value: Size | int) -> Expr:
        """What is no larger than the largest buffer where the device gets to it."""
        whole, kind = expr(value), unsigned(self.most.bit_length())
        return whole if kind.holds(whole.range) else Wrapped(whole, kind)

    def count(self, operand: str) -> Expr:
        """Elements of a tile."""
        return self.held(prod(self.shape(operand)))

    def at(self, operand: str, index: Mapping[str, Expr]) -> Expr:
        """The place of an element, row major."""
        place: Expr = ZERO
        dims = self.dims(operand)
        for position, dim in enumerate(dims):
            stride = self.held(prod(self.sizes[inner] for inner in dims[position + 1 :]))
            place = plus(place, times(index[dim], stride))
        return place

    def read(self, operand: str, index: Mapping[str, Expr]) -> Read:
        return Read(self.buffers[operand], (self.at(operand, index),))
