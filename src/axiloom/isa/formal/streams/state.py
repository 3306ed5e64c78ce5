"""What the model of every form has: registers, buffers, and the layout of operands in them.

An operand lies in its buffer as it travels: element `i` of beat `b` at ``b * per beat + i``, row major, where
some indices begin on a beat (:class:`axiloom.isa.kernels.forms.Form`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from math import prod
from typing import Any, TypeAlias

import z3

from axiloom.isa.contract.errors import DeviceError
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import WORD_BITS as WORD
from axiloom.isa.formal.ila import Ila
from axiloom.isa.formal.streams.places import Places
from axiloom.isa.kernels.forms import CHANNELS
from axiloom.isa.numerics import INT32
from axiloom.isa.numerics.integer import Integer

Bits: TypeAlias = "z3.BitVecRef"
Function: TypeAlias = "Callable[..., z3.BitVecRef]"
Refusals: TypeAlias = "Sequence[tuple[str, z3.BoolRef, DeviceError]]"
"""What stops a program before it begins, in order: a name, when, and the error."""
SIZE_BITS = 16
"""Of addresses and of counters, unless a buffer is larger."""


class State(ABC):
    """The registers and buffers of a model. One subclass for each form of a kernel."""

    dims_bits: int | None = None
    """Of sizes; None: as many as the form's largest needs."""
    late_fit = False
    """Whether a tile fits is looked at when it is loaded, not when its sizes are set."""

    def __init__(self, spec: AcceleratorSpec, products: str) -> None:
        self.spec, self.form = spec, spec.form
        self.ila = m = Ila(spec.name)
        self.places = Places(spec)
        self.output = spec.form.output
        self.address_bits = max(SIZE_BITS, (max(self.room(o) for o in spec.operands) - 1).bit_length())
        self.word = m.input("word", spec.stream_width)
        self.place = m.register("place", max(8, len(self.places.every).bit_length()), self.places.reset)
        self.at = m.register("at", self.address_bits)
        self.phase = m.register("phase", 1)
        self.error = m.register("error", 4)
        self.todo = m.register("todo", len(spec.bits)) if spec.bits else None
        wide = spec.beat_words > 1
        self.beat = m.register("beat", spec.stream_width) if wide else None
        self.left = m.register("left", spec.beat_words.bit_length()) if wide else None
        reset = spec.sizes()
        signed = {setting.name for setting in spec.settings if setting.signed}
        self.sizes: dict[str, Bits] = {
            name: m.register(name, bits, value & (1 << bits) - 1)
            for name, value in reset.items()
            for bits in [8 if name in signed else self.size_bits(name)]
        }
        inputs = [operand for operand in spec.operands if operand != self.output]
        self.loaded = {operand: m.register(f"{operand}_loaded", 1) for operand in inputs}
        self.under = {
            operand: {
                name: m.register(f"{operand}_{name}", self.sizes[name].size())
                for name in (*self.shape_dims(operand), *spec.form.laid.get(operand, ()))
            }
            for operand in spec.operands
        }
        self.buffers = {
            operand: m.memory(operand, self.address_bits, self.kind(operand).bits)
            for operand in spec.operands
        }
        self.sent = m.memory("sent", WORD, WORD)
        self.last = m.memory("last", WORD, 1)
        self.n_sent = m.register("n_sent", WORD)
        self.exact = products == "exact"
        self.multiply = self._multiplier()

    # --- what forms say -----------------------------------------------------------------------------------

    @abstractmethod
    def accepted(self, sizes: Mapping[str, Bits], names: Sequence[str]) -> z3.BoolRef:
        """Sizes and settings that the device takes, after it was given those of `names`."""

    @abstractmethod
    def fits(self, operand: str, sizes: Mapping[str, Bits]) -> z3.BoolRef:
        """The operand's tile of these sizes fits its buffer."""

    # --- sizes --------------------------------------------------------------------------------------------

    def size_bits(self, name: str) -> int:
        """Of the register that holds a size or a setting."""
        if self.dims_bits is not None:
            return self.dims_bits
        return self.form.highest.get(name, 1).bit_length()

    def kind(self, operand: str) -> Integer:
        """Of the elements of a buffer."""
        kind = INT32 if operand == self.output else self.spec.operand_type(operand)
        assert isinstance(kind, Integer)
        return kind

    def shape_dims(self, operand: str) -> tuple[str, ...]:
        """Sizes that are an operand's shape; P also has two words for each channel."""
        return (self.form.channel,) if operand == CHANNELS else self.spec.data[operand]

    def room(self, operand: str) -> int:
        """Elements that its buffer holds, in whole beats."""
        words = -(-self.spec.buffers[operand] // self.spec.beat_words) * self.spec.beat_words
        return words * self.kind(operand).per_word

    def per_beat(self, operand: str) -> int:
        return self.kind(operand).per_word * self.spec.beat_words

    def same(self, operand: str) -> z3.BoolRef:
        """The sizes are those that the operand lies in its buffer under."""
        return z3.And(*(under == self.sizes[name] for name, under in self.under[operand].items()))

    def laid(self, operand: str) -> dict[Bits, Bits]:
        """Remember the sizes that the operand lies under."""
        return {under: self.sizes[name] for name, under in self.under[operand].items()}

    # --- layout -------------------------------------------------------------------------------------------

    def rows(self, operand: str) -> int:
        """Its first dims each of whose indices begins on a beat."""
        return 0 if operand == CHANNELS else self.form.rows.get(operand, 0)

    def row_beats(self, operand: str, sizes: Mapping[str, Bits]) -> Bits:
        """Beats from the begin of one of :meth:`rows` to that of the next."""
        inner = [sizes[dim] for dim in self.shape_dims(operand)[self.rows(operand) :]]
        if operand == CHANNELS:
            inner.append(z3.BitVecVal(2, 2))
        return beats(product(inner), self.per_beat(operand))

    def beats(self, operand: str, sizes: Mapping[str, Bits]) -> Bits:
        """Beats of an operand's tile."""
        outer = [sizes[dim] for dim in self.shape_dims(operand)[: self.rows(operand)]]
        return product([*outer, self.row_beats(operand, sizes)])

    def address(self, operand: str, index: Mapping[str, Bits], sizes: Mapping[str, Bits]) -> Bits:
        """Of an element, by its index in each of the operand's dims; right for any :meth:`fits`."""
        dims = self.shape_dims(operand)
        index, sizes, whole = (
            {dim: self.cut(index[dim]) for dim in dims},
            {dim: self.cut(sizes[dim]) for dim in dims},
            sizes,
        )
        pitch = self.cut(self.row_beats(operand, whole)) * self.per_beat(operand)
        at: Bits = self.position(operand, index, sizes, pitch)
        return at

    def position(self, operand: str, index: Mapping[str, Any], sizes: Mapping[str, Any], pitch: Any) -> Any:
        """Of an element, in bits or in integers; `pitch`: from one of :meth:`rows` to the next."""
        dims, rows = self.shape_dims(operand), self.rows(operand)
        inner = _row_major(dims[rows:], index, sizes)
        return _row_major(dims[:rows], index, sizes) * pitch + inner if rows else inner

    def cut(self, value: Bits) -> Bits:
        """To the bits of addresses: what is cut off is zero wherever tiles fit."""
        return fitted(value, self.address_bits)

    # --- arithmetic ---------------------------------------------------------------------------------------

    def function(self, name: str, *bits: int, python: Callable[..., int], exact: Function) -> Function:
        """`exact`, or a function that only simulations know."""
        if self.exact:
            return exact
        made: Function = self.ila.function(name, *bits, python=python)
        return made

    def _multiplier(self) -> Function:
        kind = self.spec.data_type
        assert isinstance(kind, Integer)
        bits, signed = kind.bits, kind.signed
        wider = z3.SignExt if signed else z3.ZeroExt

        def exact(a: Bits, b: Bits) -> Bits:
            return wider(WORD - bits, a) * wider(WORD - bits, b)

        def python(a: int, b: int) -> int:
            values = [value - (value >> bits - 1 << bits) if signed else value for value in (a, b)]
            return prod(values) & ((1 << WORD) - 1)

        return self.function("product", bits, bits, WORD, python=python, exact=exact)


def _row_major(dims: Sequence[str], index: Mapping[str, Any], sizes: Mapping[str, Any]) -> Any:
    at = index[dims[0]]
    for dim in dims[1:]:
        at = at * sizes[dim] + index[dim]
    return at


def fitted(value: Bits, bits: int) -> Bits:
    """As many bits, zeros above or cut off."""
    if value.size() < bits:
        return z3.ZeroExt(bits - value.size(), value)
    return value if value.size() == bits else z3.Extract(bits - 1, 0, value)


def product(values: Sequence[Bits]) -> Bits:
    """Wide enough for every product."""
    return reduce(_times, values)


def _times(a: Bits, b: Bits) -> Bits:
    return z3.ZeroExt(b.size(), a) * z3.ZeroExt(a.size(), b)


def beats(elements: Bits, each: int) -> Bits:
    """Whole beats of `each` elements, a power of two."""
    if each == 1:
        return elements
    # A count may have fewer bits than `each`: three saved results and beats of 16.
    wide = z3.ZeroExt(each.bit_length(), elements)
    return z3.LShR(wide + (each - 1), each.bit_length() - 1)


def same_bits(*values: Bits) -> list[Bits]:
    """All as wide as the widest, and one bit more, so that one may be added."""
    bits = max(value.size() for value in values) + 1
    return [fitted(value, bits) for value in values]


def at_most(value: Bits, limit: int) -> z3.BoolRef:
    """Also for limits that `value` cannot reach."""
    if limit >> value.size():
        return z3.BoolVal(True)
    return z3.ULE(value, limit)
