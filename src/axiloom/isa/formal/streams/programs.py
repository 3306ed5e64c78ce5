"""What runs without words: products, stores, clears, and the model as a whole."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence

import z3

from axiloom.isa.contract.errors import DeviceError
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import WORD_BITS as WORD
from axiloom.isa.contract.types import Clear, Compute, Load, Requantise, Save, Store
from axiloom.isa.formal.ila import Ila
from axiloom.isa.formal.streams import layout
from axiloom.isa.formal.streams.places import Place
from axiloom.isa.formal.streams.post import requantised
from axiloom.isa.formal.streams.state import Bits, Refusals, beats, product, same_bits
from axiloom.isa.formal.streams.words import Values, Words
from axiloom.isa.kernels.forms import CHANNEL_WORDS, CHANNELS


class StreamModel(Words):
    """A model; :meth:`build` makes it."""

    loops: Mapping[str, str]
    """Dims of a compute, the innermost last, each with the name of the step that goes on along it."""

    def __init__(self, spec: AcceleratorSpec, products: str) -> None:
        super().__init__(spec, products)
        self.counters = {
            dim: self.ila.register(f"at_{dim}", min(self.sizes[dim].size(), self.address_bits))
            for dim in self.loops
        }
        if spec.post:
            # Of a requantise: the channel, how far it is in it, and the elements of the word that goes out.
            self.channel = self.ila.register("at_channel", self.address_bits)
            self.inner = self.ila.register("at_inner", self.address_bits)
            self.part = self.ila.register("part", WORD)

    # --- what forms say -----------------------------------------------------------------------------------

    @abstractmethod
    def refused(self) -> Refusals:
        """What stops a compute, besides inputs."""

    @abstractmethod
    def factors(self) -> tuple[Bits, Bits]:
        """What the counters' product multiplies."""

    @abstractmethod
    def added(self, product: Bits) -> Values:
        """The updates by which a product is added to the result."""

    @abstractmethod
    def finished(self) -> Values:
        """What the last product changes besides."""

    @abstractmethod
    def begun_anew(self) -> Values:
        """What a compute changes before its first product, besides its counters."""

    @abstractmethod
    def unsent(self) -> Refusals:
        """What stops a store."""

    @abstractmethod
    def elements(self) -> Bits:
        """Elements of the result that a store sends."""

    @abstractmethod
    def element(self, at: Bits) -> Bits:
        """One of them."""

    @abstractmethod
    def cleared(self) -> Values:
        """A result of nothing but zeros."""

    @abstractmethod
    def invariants(self) -> None:
        """What holds of the form's own state."""

    # --- the model ----------------------------------------------------------------------------------------

    def build(self) -> Ila:
        m = self.ila
        self.words()
        programs: tuple[tuple[type, Callable[[list[Place]], None]], ...] = (
            (Load, self._fit_of_loads),
            (Compute, self._compute),
            (Save, self.save),
            (Store, self._store),
            (Requantise, self._requantise),
            (Clear, self._clear),
        )
        for kind, program in programs:
            if mine := self.places.of(kind):
                program(mine)
        left: Bits = z3.BitVecVal(0, self.place.size())
        for place in self.places.every:
            left = z3.If(self.place == place.number, place.left, left)
        m.measures = [*([] if self.todo is None else [self.todo]), left]
        m.invariants["a place that there is"] = z3.ULE(self.place, len(self.places.every))
        self._invariants()
        return m

    def program(self, name: str, places: Sequence[Place], *when: z3.BoolRef) -> Ila:
        """A child that runs at these places."""
        here = z3.Or(*(self.place == place.number for place in places))
        return self.ila.child(name, z3.And(self.error == 0, here, *when))

    def stops(self, child: Ila, refusals: Refusals, *when: z3.BoolRef) -> z3.BoolRef:
        """An instruction for each reason, the first of which counts; returns that there is none."""
        passed = list(when)
        for name, reason, error in refusals:
            child.instruction(name, z3.And(*passed, reason), {self.error: int(error)}, error.name)
            passed.append(z3.Not(reason))
        return z3.And(*passed)

    def _invariants(self) -> None:
        """Counters are within what they count."""
        m = self.ila
        for operand in self.spec.operands:
            at_it = [p for p in self.places.of(Load, Store) if getattr(p.action, "operand", "") == operand]
            if not at_it:
                continue
            here = z3.Or(*(self.place == place.number for place in at_it))
            if operand == self.output:
                at, total = same_bits(self.at, self.words_sent())
                within = z3.Or(self.at == 0, z3.ULT(at, total))
            else:
                at, total = same_bits(self.at, self.beats(operand, self.sizes))
                within = z3.ULT(at, total)
                if self.late_fit:
                    within = z3.Or(self.phase == 0, z3.And(within, self.fits(operand, self.sizes)))
            m.invariants[f"a word of {operand} is within its tile"] = z3.Implies(here, within)
        pairs = [same_bits(at, self.sizes[dim]) for dim, at in self.counters.items()]
        runs = z3.And(*(z3.ULT(at, size) for at, size in pairs))
        here = z3.Or(*(self.place == place.number for place in self.places.of(Compute)))
        m.invariants["counters are within the tile"] = z3.Implies(z3.And(here, self.phase == 1), runs)
        self.invariants()
        m.lemmas.update(layout.lemmas(self))

    # --- loads --------------------------------------------------------------------------------------------

    def _fit_of_loads(self, places: list[Place]) -> None:
        if not self.late_fit:
            return
        child = self.program("fit", places, self.phase == 0)
        child.measures = [~self.phase]
        for place in places:
            assert isinstance(place.action, Load)
            unfit = z3.Not(self.fits(place.action.operand, self.sizes))
            why = (f"{place.name}.unfit", unfit, DeviceError.BAD_DIMS)
            sound = self.stops(child, [why], self.place == place.number)
            child.instruction(place.name, sound, {self.phase: 1, self.at: 0}, "the tile fits its buffer")

    # --- compute ------------------------------------------------------------------------------------------

    def _compute(self, places: list[Place]) -> None:
        child = self.program("compute", places)
        begins, runs = self.phase == 0, self.phase == 1
        refusals = []
        for operand in self.form.inputs:
            absent, other = self.loaded[operand] == 0, z3.Not(self.same(operand))
            refusals.append((f"{operand}_not_loaded", absent, DeviceError.NOT_LOADED))
            refusals.append((f"{operand}_mismatch", other, DeviceError.DIMS_MISMATCH))
        sound = self.stops(child, [*refusals, *self.refused()], begins)
        zero = dict.fromkeys(self.counters.values(), 0)
        child.instruction(
            "begin", sound, {self.phase: 1, **zero, **self.begun_anew()}, "from the first product"
        )
        added = self.added(self.multiply(*self.factors()))
        ended: list[z3.BoolRef] = []
        back: dict[Bits, int] = {}
        for dim, name in reversed([*self.loops.items()]):
            counter = self.counters[dim]
            when = z3.And(runs, *ended, z3.Not(self.at_end(dim)))
            child.instruction(
                name, when, {**added, **back, counter: counter + 1}, f"a product, on along {dim}"
            )
            ended.append(self.at_end(dim))
            back[counter] = 0
        end = {**added, **self.finished(), **self.following(places)}
        child.instruction("end", z3.And(runs, *ended), end, "the last product")
        child.measures = [~self.phase, *(~counter for counter in self.counters.values())]

    def at_end(self, dim: str) -> z3.BoolRef:
        at, size = same_bits(self.counters[dim], self.sizes[dim])
        return at + 1 == size

    def place_of(self, operand: str) -> Bits:
        """The address of the element at the counters."""
        return self.address(operand, self.counters, self.sizes)

    # --- store --------------------------------------------------------------------------------------------

    def words_sent(self) -> Bits:
        """Words of a store: whole beats."""
        if self.spec.beat_words == 1:
            return self.elements()
        words = beats(self.elements(), self.spec.beat_words)
        return product([words, z3.BitVecVal(self.spec.beat_words, self.spec.beat_words.bit_length())])

    def out(self, value: Bits, ends: z3.BoolRef) -> dict[Bits, Bits]:
        """The updates by which a word goes out."""
        return {
            self.sent: z3.Store(self.sent, self.n_sent, value),
            self.last: z3.Store(self.last, self.n_sent, z3.If(ends, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1))),
            self.n_sent: self.n_sent + 1,
        }

    def padded(self, value: Bits) -> Bits:
        """`value`, or zero where the tile has ended and its last beat has not."""
        at, total = same_bits(self.at, self.elements())
        return z3.If(z3.ULT(at, total), value, z3.BitVecVal(0, value.size()))

    def _store(self, places: list[Place]) -> None:
        child = self.program("store", places)
        sound = self.stops(child, self.unsent())
        value = self.element(self.at)
        if self.spec.beat_words > 1:
            value = self.padded(value)
        self._sends(child, places, sound, self.words_sent(), {}, lambda ends: self.out(value, ends))

    def _sends(
        self,
        child: Ila,
        places: list[Place],
        sound: z3.BoolRef,
        total: Bits,
        more: Values,
        out: Callable[[z3.BoolRef], Values],
    ) -> None:
        """Steps up to `total`; `more`: what those but the last change too."""
        at, total = same_bits(self.at, total)
        ends = z3.UGE(at + 1, total)
        if self.form.saves:  # there may be nothing to send
            child.instruction("nothing", z3.And(sound, total == 0), self.following(places), "none is saved")
            sound = z3.And(sound, total != 0)
        name = self.output
        going = {**out(z3.BoolVal(False)), **more, self.at: self.at + 1}
        child.instruction("word", z3.And(sound, z3.Not(ends)), going, f"a word of {name} goes out")
        done = {**out(z3.BoolVal(True)), **self.following(places)}
        child.instruction("last", z3.And(sound, ends), done, "the last one, with TLAST")
        child.measures = [~self.at]

    # --- post-processing ----------------------------------------------------------------------------------

    def _requantise(self, places: list[Place]) -> None:
        """An element a step; four of them are a word."""
        child = self.program("requantise", places)
        begins, runs = self.phase == 0, self.phase == 1
        refusals = [
            ("P_not_loaded", self.loaded[CHANNELS] == 0, DeviceError.NOT_LOADED),
            ("P_mismatch", z3.Not(self.same(CHANNELS)), DeviceError.DIMS_MISMATCH),
            *self.unsent(),
        ]
        sound = self.stops(child, refusals, begins)
        zero = {self.phase: 1, self.at: 0, self.channel: 0, self.inner: 0, self.part: 0}
        child.instruction("begin", sound, zero, "from the first element")

        each = WORD // 8 * self.spec.beat_words
        elements = self.elements()
        total = product([beats(elements, each), z3.BitVecVal(each, each.bit_length())])
        bias, scale = (self.buffers[CHANNELS][self.channel * CHANNEL_WORDS + i] for i in range(CHANNEL_WORDS))
        settings = [self.sizes[name] for name in ("zp", "lo", "hi")]
        value = self.padded(requantised(self, self.element(self.at), bias, scale, *settings))
        # The elements before it move down: after four, the first is in the lowest bits.
        part = z3.Concat(value, z3.Extract(WORD - 1, 8, self.part))
        whole = z3.Extract(1, 0, self.at) == 3
        at, total = same_bits(self.at, total)
        ends = z3.UGE(at + 1, total)
        inner_at, inner = same_bits(self.inner, self._inner())
        turns = inner_at + 1 == inner
        count, channels = same_bits(self.channel, self.sizes[self.form.channel])
        none = z3.BitVecVal(0, self.address_bits)
        step = {
            self.part: part,
            self.at: self.at + 1,
            self.inner: z3.If(turns, none, self.inner + 1),
            self.channel: z3.If(turns, z3.If(count + 1 == channels, none, self.channel + 1), self.channel),
        }
        if self.form.saves:
            child.instruction("nothing", z3.And(runs, total == 0), self.following(places), "none is saved")
            runs = z3.And(runs, total != 0)
        child.instruction("element", z3.And(runs, z3.Not(whole)), step, "an element of a word")
        sends = {**step, **self.out(part, z3.BoolVal(False))}
        child.instruction("word", z3.And(runs, whole, z3.Not(ends)), sends, "a word goes out")
        done = {**self.out(part, z3.BoolVal(True)), **self.following(places)}
        child.instruction("last", z3.And(runs, whole, ends), done, "the last one, with TLAST")
        child.measures = [~self.phase, ~self.at]
        here = z3.And(z3.Or(*(self.place == place.number for place in places)), self.phase == 1)
        fits = [self.fits(self.output, self.sizes)] if self.late_fit and not self.form.saves else []
        within = z3.Implies(here, z3.And(z3.Or(self.at == 0, z3.ULT(at, total)), *fits))
        self.ila.invariants["a requantised element is within its tile"] = within

    def _inner(self) -> Bits:
        """Elements from one channel to the next."""
        dims = self.shape_dims(self.output)
        behind = [self.sizes[dim] for dim in dims[dims.index(self.form.channel) + 1 :]]
        return product([z3.BitVecVal(1, 1), *behind])

    # --- the rest -----------------------------------------------------------------------------------------

    def save(self, places: list[Place]) -> None:
        raise NotImplementedError  # refused by the check, except where results are saved

    def _clear(self, places: list[Place]) -> None:
        child = self.program("clear", places)
        done = {**self.cleared(), **self.following(places)}
        child.instruction("all", z3.BoolVal(True), done, "the result is zero")
