"""The model of a specification: a command is one word of the stream, and what needs no word is a program.

State: `place`, what the device does next (0: an opcode word is due), `at`, how far it is in that, sizes,
buffers by element, what they were loaded under, and `sent`, the words that went out so far. A stopped
device (`error`, one of :class:`axiloom.isa.model.device.DeviceError`) takes nothing more.

Written for the forms in :data:`FORMS`; others are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import TypeAlias

import z3

from axiloom.errors import SpecError
from axiloom.isa.contract.spec import AcceleratorSpec, combined
from axiloom.isa.contract.types import Clear, Compute, Load, Opcode, SendDim, SetDims, Skip, Store
from axiloom.isa.formal.ila import Ila
from axiloom.isa.kernels.forms import MATMUL
from axiloom.isa.model.device import DeviceError

WORD = 32
Multiply: TypeAlias = "Callable[[z3.BitVecRef, z3.BitVecRef], z3.BitVecRef]"
SIZE_BITS = 16
"""Of a counter; a tile that fits a buffer has fewer elements along each dim."""


@dataclass(frozen=True)
class Place:
    """One action of an opcode; `number` is what the state `place` holds when it is due."""

    number: int
    opcode: Opcode
    index: int
    following: int

    @property
    def action(self) -> object:
        return self.opcode.device[self.index]


def model_of(spec: AcceleratorSpec, *, products: str = "exact") -> Ila:
    """The model of `spec`. `products`: ``exact``, or ``uninterpreted`` for proofs in which none is computed.

    Raises SpecError for what has no formal model yet.
    """
    builder = FORMS.get(spec.form.name)
    if builder is None:
        known = ", ".join(FORMS)
        raise SpecError(
            [f"{spec.name}: there is no formal model of the form {spec.form.name} yet, only of {known}"]
        )
    if spec.beat_words != 1 or spec.post or spec.data_type.name not in ("int8", "int16", "int32"):
        raise SpecError(
            [f"{spec.name}: formal models are of integers on streams of 32 bits without post-processing"]
        )
    return builder(spec, products)


class MatMulModel:
    """Builds the model of a MatMul: C[m,n] += A[m,k] B[k,n], one product a step."""

    def __init__(self, spec: AcceleratorSpec, products: str) -> None:
        self.spec = spec
        self.ila = m = Ila(spec.name)
        bits = spec.data_type.bits
        self.per_word = spec.data_type.per_word
        self.word = m.input("word", WORD)
        self.place = m.register("place", 8, self._first)
        self.at = m.register("at", SIZE_BITS)
        self.phase = m.register("phase", 1)
        self.error = m.register("error", 4)
        sizes = dict(zip(spec.dims, spec.tile.size, strict=True))
        self.sizes = {dim: m.register(dim, WORD, sizes[dim]) for dim in spec.dims}
        self.loaded = {o: m.register(f"{o}_loaded", 1) for o in "AB"}
        self.begun = m.register("C_begun", 1)
        self.under = {o: [m.register(f"{o}_{dim}", WORD) for dim in spec.data[o]] for o in "ABC"}
        self.buffers = {o: m.memory(o, SIZE_BITS, bits) for o in "AB"} | {"C": m.memory("C", SIZE_BITS, WORD)}
        self.counters = {dim: m.register(f"at_{dim}", SIZE_BITS) for dim in spec.dims}
        self.sent = m.memory("sent", WORD, WORD)
        self.last = m.memory("last", WORD, 1)
        self.n_sent = m.register("n_sent", WORD)
        self.multiply = self._multiplier(products, bits)

    @property
    def _first(self) -> int:
        """Where it begins: without opcode words at the only opcode's first action."""
        return 0 if all(op.literal is not None for op in self.spec.opcodes.values()) else 1

    def _multiplier(self, products: str, bits: int) -> Multiply:
        def exact(a: z3.BitVecRef, b: z3.BitVecRef) -> z3.BitVecRef:
            return z3.SignExt(WORD - bits, a) * z3.SignExt(WORD - bits, b)

        if products == "exact":
            return exact

        def python(a: int, b: int) -> int:
            signed = [value - (value >> bits - 1 << bits) for value in (a, b)]
            return prod(signed) & ((1 << WORD) - 1)

        product: Multiply = self.ila.function("product", bits, bits, WORD, python=python)
        return product

    # --- opcodes ------------------------------------------------------------------------------------------

    def opcodes(self) -> Iterator[tuple[int | None, Opcode]]:
        """Each opcode word, with what the device does: single opcodes and combinations of bits."""
        for opcode in self.spec.opcodes.values():
            yield opcode.literal, opcode
        bits = [self.spec.opcodes[name] for name in self.spec.bits]
        for size in range(2, len(bits) + 1):
            for parts in combinations(bits, size):
                word = sum(part.literal or 0 for part in parts)
                yield word, combined(word, list(parts))

    def build(self) -> Ila:
        m, idle = self.ila, z3.And(self.error == 0, self.place == 0)
        places: list[Place] = []
        starts: dict[int, tuple[Opcode, int]] = {}
        for literal, opcode in self.opcodes():
            if literal is not None and literal in starts:
                continue
            first, steps = len(places) + 1, len(opcode.device)
            ends = 0 if literal is not None else first
            for index in range(steps):
                following = first + index + 1 if index + 1 < steps else ends
                places.append(Place(first + index, opcode, index, following))
            if literal is None:
                continue
            starts[literal] = opcode, first if steps else 0
        waits = [place.number for place in places if isinstance(place.action, Load | SetDims | Skip)]
        m.valid = z3.And(self.error == 0, z3.Or(*(self.place == number for number in [0, *waits])))
        for literal, (opcode, first) in starts.items():
            decode = z3.And(idle, self.word == literal)
            m.instruction(_safe(opcode.name), decode, {self.place: first, self.at: 0}, f"opcode {literal:#x}")
        if not starts:  # without opcode words it is never idle
            m.valid = z3.And(m.valid, self.place != 0)
            m.invariants["never idle"] = self.place != 0
        else:
            unknown = z3.And(idle, *(self.word != literal for literal in starts))
            m.instruction("unknown", unknown, {self.error: int(DeviceError.UNKNOWN_OPCODE)}, "no opcode")
        for place in places:
            self._word(place)
        for kind, program in ((Compute, self._compute), (Store, self._store), (Clear, self._clear)):
            mine = [place for place in places if isinstance(place.action, kind)]
            if mine:
                program(mine)
        m.invariants["a place that there is"] = z3.ULE(self.place, len(places))
        self._invariants(places)
        return m

    def _invariants(self, places: list[Place]) -> None:
        """Sizes that were accepted fit the buffers, and counters are within them."""
        moved: dict[str, list[int]] = {}
        for place in places:
            if isinstance(place.action, Load | Store):
                moved.setdefault(place.action.operand, []).append(place.number)
        at = z3.ZeroExt(WORD - SIZE_BITS, self.at)
        for operand, numbers in moved.items():
            here = z3.Or(*(self.place == number for number in numbers))
            within = z3.Implies(here, z3.ULT(at, self._words(operand)))
            self.ila.invariants[f"a word of {operand} is within its tile"] = within
        sound = [self._fit(self.sizes)]
        runs = z3.And(
            *(z3.ULT(z3.ZeroExt(WORD - SIZE_BITS, at), self.sizes[dim]) for dim, at in self.counters.items())
        )
        self.ila.invariants["sizes fit"] = z3.And(*sound)
        self.ila.invariants["counters are within the tile"] = z3.Implies(self.phase == 1, runs)

    def _on(self, place: Place) -> z3.BoolRef:
        return z3.And(self.error == 0, self.place == place.number)

    def _word(self, place: Place) -> None:
        """Actions that take words."""
        action, host = list(place.opcode.steps())[place.index]
        name = f"{_safe(place.opcode.name)}.{place.index}"
        done = {self.place: place.following, self.at: 0, self.phase: 0}
        if isinstance(action, Load):
            self._load(name, place, action.operand, done)
        elif isinstance(action, SetDims):
            assert isinstance(host, SendDim)
            self._set(name, place, host, done)
        elif isinstance(action, Skip):
            self.ila.instruction(name, self._on(place), done, "a word that the device ignores")

    def _load(self, name: str, place: Place, operand: str, done: Mapping[z3.BitVecRef, int]) -> None:
        memory, bits = self.buffers[operand], self.spec.data_type.bits
        filled = memory
        for i in range(self.per_word):
            address = self.at * self.per_word + i
            filled = z3.Store(filled, address, z3.Extract(bits * (i + 1) - 1, bits * i, self.word))
        words = self._words(operand)
        ends = z3.ZeroExt(WORD - SIZE_BITS, self.at) + 1 == words
        more = z3.And(self._on(place), z3.Not(ends))
        self.ila.instruction(
            f"{name}.more", more, {memory: filled, self.at: self.at + 1}, f"a word of {operand}"
        )
        laid = dict(
            zip(self.under[operand], (self.sizes[dim] for dim in self.spec.data[operand]), strict=True)
        )
        last = {memory: filled, self.loaded[operand]: 1, **laid, **done}
        self.ila.instruction(
            f"{name}.last", z3.And(self._on(place), ends), last, f"the last word of {operand}"
        )

    def _set(self, name: str, place: Place, host: SendDim, done: Mapping[z3.BitVecRef, int]) -> None:
        new = dict(self.sizes)
        for field in host.fields:
            bits = host.field_bits(field)
            value = z3.Extract(field.shift + bits - 1, field.shift, self.word)
            new[field.dim] = z3.ZeroExt(WORD - bits, value) if bits < WORD else value
        fits = z3.simplify(self._fit(new))
        kept = {self.sizes[dim]: value for dim, value in new.items() if value is not self.sizes[dim]}
        self.ila.instruction(name, z3.And(self._on(place), fits), {**kept, **done}, f"sizes: {host}")
        bad = {self.error: int(DeviceError.BAD_DIMS)}
        self.ila.instruction(
            f"{name}.bad", z3.And(self._on(place), z3.Not(fits)), bad, "sizes that do not fit"
        )

    def _fit(self, sizes: Mapping[str, z3.BitVecRef]) -> z3.BoolRef:
        granules = self.spec.tile.granule or self.spec.tile.size
        # What fits a buffer is no larger than it along any dim: it follows, and is said for the provers.
        most = max(self.spec.buffers[o] * self.spec.operand_type(o).per_word for o in self.spec.data)
        parts = [
            z3.And(sizes[dim] != 0, z3.URem(sizes[dim], granule) == 0, z3.ULE(sizes[dim], most))
            for dim, granule in zip(self.spec.dims, granules, strict=True)
        ]
        for operand, capacity in self.spec.buffers.items():
            kind = self.spec.operand_type(operand)
            one, other = (z3.ZeroExt(WORD, sizes[dim]) for dim in self.spec.data[operand])
            parts.append(z3.ULE(one * other, capacity * kind.per_word + kind.per_word - 1))
        return z3.And(*parts)

    def _words(self, operand: str) -> z3.BitVecRef:
        """Stream words of an operand under the sizes of now."""
        one, other = (self.sizes[dim] for dim in self.spec.data[operand])
        return z3.LShR(one * other, (self.spec.operand_type(operand).per_word - 1).bit_length())

    # --- programs -----------------------------------------------------------------------------------------

    def _program(self, name: str, places: list[Place]) -> tuple[Ila, z3.BitVecRef]:
        """A child that runs at these places; and where each goes on."""
        following = z3.BitVecVal(places[-1].following, self.place.sort())
        for place in places[:-1]:
            following = z3.If(self.place == place.number, place.following, following)
        here = z3.And(self.error == 0, z3.Or(*(self.place == place.number for place in places)))
        return self.ila.child(name, here), following

    def _same(self, operand: str) -> z3.BoolRef:
        pairs = zip(self.under[operand], self.spec.data[operand], strict=True)
        return z3.And(*(under == self.sizes[dim] for under, dim in pairs))

    def _compute(self, places: list[Place]) -> None:
        child, following = self._program("compute", places)
        loaded = z3.And(*(flag == 1 for flag in self.loaded.values()))
        same = z3.And(self._same("A"), self._same("B"), z3.Or(self.begun == 0, self._same("C")))
        begins, zero = self.phase == 0, dict.fromkeys(self.counters.values(), 0)
        child.instruction(
            "not_loaded",
            z3.And(begins, z3.Not(loaded)),
            {self.error: int(DeviceError.NOT_LOADED)},
            "nothing to compute",
        )
        mismatch = {self.error: int(DeviceError.DIMS_MISMATCH)}
        child.instruction(
            "mismatch", z3.And(begins, loaded, z3.Not(same)), mismatch, "loaded under other sizes"
        )
        laid = dict(zip(self.under["C"], (self.sizes[dim] for dim in self.spec.data["C"]), strict=True))
        child.instruction(
            "begin", z3.And(begins, loaded, same), {self.phase: 1, **zero, **laid}, "from the first product"
        )

        a, b, c = (self._address(operand) for operand in "ABC")
        m, n, k = (self.counters[dim] for dim in ("m", "n", "k"))
        fresh = z3.And(self.begun == 0, k == 0)
        before = z3.If(fresh, z3.BitVecVal(0, WORD), self.buffers["C"][c])
        product = self.multiply(self.buffers["A"][a], self.buffers["B"][b])
        added = {self.buffers["C"]: z3.Store(self.buffers["C"], c, before + product)}
        k_ends, n_ends, m_ends = (self._at_end(dim) for dim in ("k", "n", "m"))
        runs = self.phase == 1
        child.instruction("product", z3.And(runs, z3.Not(k_ends)), {**added, k: k + 1}, "C += A B, along k")
        child.instruction(
            "column",
            z3.And(runs, k_ends, z3.Not(n_ends)),
            {**added, k: 0, n: n + 1},
            "the last product of an element",
        )
        child.instruction(
            "row",
            z3.And(runs, k_ends, n_ends, z3.Not(m_ends)),
            {**added, k: 0, n: 0, m: m + 1},
            "the last of a row",
        )
        done = {self.place: following, self.phase: 0, self.at: 0, self.begun: 1}
        child.instruction("end", z3.And(runs, k_ends, n_ends, m_ends), {**added, **done}, "the last product")
        child.measures = [~self.phase, ~m, ~n, ~k]

    def _at_end(self, dim: str) -> z3.BoolRef:
        return z3.ZeroExt(WORD - SIZE_BITS, self.counters[dim]) + 1 == self.sizes[dim]

    def _address(self, operand: str) -> z3.BitVecRef:
        """Row major in the operand's own dims."""
        outer, inner = self.spec.data[operand]
        width = z3.Extract(SIZE_BITS - 1, 0, self.sizes[inner])
        return self.counters[outer] * width + self.counters[inner]

    def _store(self, places: list[Place]) -> None:
        child, following = self._program("store", places)
        same = z3.Or(self.begun == 0, self._same("C"))
        mismatch = {self.error: int(DeviceError.DIMS_MISMATCH)}
        child.instruction("mismatch", z3.Not(same), mismatch, "computed under other sizes")
        value = z3.If(self.begun == 1, self.buffers["C"][self.at], z3.BitVecVal(0, WORD))
        ends = z3.ZeroExt(WORD - SIZE_BITS, self.at) + 1 == self._words("C")
        flag = z3.If(ends, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1))
        out = {
            self.sent: z3.Store(self.sent, self.n_sent, value),
            self.last: z3.Store(self.last, self.n_sent, flag),
            self.n_sent: self.n_sent + 1,
        }
        child.instruction(
            "word", z3.And(same, z3.Not(ends)), {**out, self.at: self.at + 1}, "a word of C goes out"
        )
        done = {self.place: following, self.at: 0, self.phase: 0}
        child.instruction("last", z3.And(same, ends), {**out, **done}, "the last one, with TLAST")
        child.measures = [~self.at]

    def _clear(self, places: list[Place]) -> None:
        child, following = self._program("clear", places)
        done = {self.begun: 0, self.place: following, self.at: 0, self.phase: 0}
        child.instruction("all", z3.BoolVal(True), done, "C is zero")


def _safe(name: str) -> str:
    return name.replace(" ", "_")


FORMS: Mapping[str, Callable[[AcceleratorSpec, str], Ila]] = {
    MATMUL.name: lambda spec, products: MatMulModel(spec, products).build(),
}
"""Form to what builds its model."""
