"""The models of convolutions: of an image tile that the device walks over, and of one window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import z3

from axiloom.isa.contract.errors import DeviceError
from axiloom.isa.contract.types import WORD_BITS as WORD
from axiloom.isa.contract.types import Compute
from axiloom.isa.formal.streams.places import Place
from axiloom.isa.formal.streams.programs import StreamModel
from axiloom.isa.formal.streams.state import Bits, Refusals, at_most, beats, fitted, product
from axiloom.isa.formal.streams.words import Values
from axiloom.isa.kernels.forms import CHANNELS


class ConvModel(StreamModel):
    """Sizes are set a few at a time, so whether a tile fits its buffer is looked at when it is used."""

    late_fit = True

    def accepted(self, sizes: Mapping[str, Bits], names: Sequence[str]) -> z3.BoolRef:
        granules = dict(zip(self.spec.dims, self.spec.tile.granule or self.spec.tile.size, strict=True))
        lowest = {setting.name: setting.lowest for setting in self.spec.settings if not setting.signed}
        parts: list[z3.BoolRef] = []
        for name in names:
            size, granule = sizes[name], granules.get(name, 1)
            if name in granules or lowest.get(name, 0):
                parts.append(size != 0)
            if granule > 1:
                wide = fitted(size, max(size.size(), granule.bit_length()))
                parts.append(z3.URem(wide, granule) == 0)
            if name in self.form.highest:
                parts.append(at_most(size, self.form.highest[name]))
            if name in self.form.unit:
                parts.append(size == 1)
        return z3.And(*parts)

    def fits(self, operand: str, sizes: Mapping[str, Bits]) -> z3.BoolRef:
        """With the dims of an operand of the array rounded up to its rows and columns."""
        array = () if operand == CHANNELS else self.form.array or ()
        across = dict(zip(array, self.spec.array, strict=False))
        whole = {dim: _rounded(sizes[dim], across.get(dim, 1)) for dim in self.shape_dims(operand)}
        parts, capacity = [], self.spec.buffers[operand]
        # What fits rounded up fits as it is: it follows, and is said for the provers.
        for taken in (whole, sizes) if across.keys() & whole.keys() else (sizes,):
            if operand == self.output:
                parts.append(at_most(product([taken[dim] for dim in whole]), capacity))
            else:
                parts.append(at_most(self.beats(operand, taken), capacity // self.spec.beat_words))
        return z3.And(*parts)

    def invariants(self) -> None:
        m = self.ila
        names = [name for name in self.sizes if name not in self.spec.tied]
        m.invariants["sizes are legal"] = self.accepted(self.sizes, names)
        tied = [self.sizes[dim] == self.sizes[other] for dim, other in self.spec.tied.items()]
        if tied:
            m.invariants["filters are square"] = z3.And(*tied)
        for operand, flag in self.loaded.items():
            fits = self.fits(operand, self.under[operand])
            m.invariants[f"{operand} as it was loaded fits its buffer"] = z3.Implies(flag == 1, fits)


class ImageModel(ConvModel):
    """O += sum of F[oc,ic,fh,fw] I[ic, oh sh + fh dh - pt, ow sw + fw dw - pl], where I is 0 outside."""

    loops: Mapping[str, str] = {
        "oc": "filter",
        "oh": "row",
        "ow": "column",
        "ic": "channel",
        "fh": "tap_row",
        "fw": "product",
    }

    def __init__(self, *given: object) -> None:
        super().__init__(*given)  # type: ignore[arg-type]
        self.begun = self.ila.register("O_begun", 1)

    def refused(self) -> Refusals:
        return [("unfit", z3.Not(self.fits("O", self.sizes)), DeviceError.BAD_DIMS), self._other()]

    def _other(self) -> tuple[str, z3.BoolRef, DeviceError]:
        other = z3.And(self.begun == 1, z3.Not(self.same("O")))
        return "mismatch", other, DeviceError.DIMS_MISMATCH

    def factors(self) -> tuple[Bits, Bits]:
        rows = self.pixel("oh", "fh", "sh", "dh", "pt", "ih")
        columns = self.pixel("ow", "fw", "sw", "dw", "pl", "iw")
        index = {"ic": self.counters["ic"], "ih": rows[0], "iw": columns[0]}
        pixel = self.buffers["I"][self.address("I", index, self.sizes)]
        inside = z3.And(rows[1], columns[1])
        return self.buffers["F"][self.place_of("F")], z3.If(inside, pixel, z3.BitVecVal(0, pixel.size()))

    def pixel(
        self, out: str, tap: str, stride: str, dilation: str, padding: str, size: str
    ) -> tuple[Bits, z3.BoolRef]:
        """The row (column) of the image under the counters, and that there is one."""
        along = product([self.counters[out], self.sizes[stride]])
        taps = product([self.counters[tap], self.sizes[dilation]])
        # Two bits more: for a sum, and for a sign.
        wide = max(one.size() for one in (along, taps, self.sizes[padding], self.sizes[size])) + 2
        at = fitted(along, wide) + fitted(taps, wide) - fitted(self.sizes[padding], wide)
        return at, z3.And(at >= 0, at < fitted(self.sizes[size], wide))

    def added(self, product: Bits) -> Values:
        memory, address = self.buffers["O"], self.place_of("O")
        first = [self.counters[dim] == 0 for dim in self.form.reductions]
        fresh = z3.And(self.begun == 0, *first)
        before = z3.If(fresh, z3.BitVecVal(0, WORD), memory[address])
        return {memory: z3.Store(memory, address, before + product)}

    def finished(self) -> Values:
        return {self.begun: 1}

    def begun_anew(self) -> Values:
        return self.laid("O")

    def unsent(self) -> Refusals:
        unfit = z3.And(self.begun == 0, z3.Not(self.fits("O", self.sizes)))
        return [self._other(), ("unfit", unfit, DeviceError.BAD_DIMS)]

    def elements(self) -> Bits:
        return product([self.sizes[dim] for dim in self.spec.data["O"]])

    def element(self, at: Bits) -> Bits:
        return z3.If(self.begun == 1, self.buffers["O"][at], z3.BitVecVal(0, WORD))

    def cleared(self) -> Values:
        return {self.begun: 0}

    def invariants(self) -> None:
        super().invariants()
        computes = z3.Or(*(self.place == place.number for place in self.places.of(Compute)))
        begun = z3.Or(self.begun == 1, z3.And(computes, self.phase == 1))
        fits = z3.Implies(begun, self.fits("O", self.under["O"]))
        self.ila.invariants["O as it was begun fits its buffer"] = fits


class WindowModel(ConvModel):
    """The result in hand += the dot product of F and I; `save` begins the next, a store sends those saved."""

    loops: Mapping[str, str] = {"ic": "channel", "fh": "tap_row", "fw": "product"}

    def __init__(self, *given: object) -> None:
        super().__init__(*given)  # type: ignore[arg-type]
        self.sum = self.ila.register("sum", WORD)
        self.saved = self.ila.register("saved", self.spec.buffers["O"].bit_length())

    def refused(self) -> Refusals:
        full = z3.Not(z3.ULT(self.saved, self.spec.buffers["O"]))
        return [("full", full, DeviceError.BAD_DIMS)]

    def factors(self) -> tuple[Bits, Bits]:
        index = {**self.counters, "oc": z3.BitVecVal(0, 1)}
        pixel, weight = (self.buffers[o][self.address(o, index, self.sizes)] for o in "IF")
        return weight, pixel

    def added(self, product: Bits) -> Values:
        return {self.sum: self.sum + product}

    def finished(self) -> Values:
        return {}

    def begun_anew(self) -> Values:
        return {}

    def unsent(self) -> Refusals:
        return []

    def elements(self) -> Bits:
        return self.saved

    def element(self, at: Bits) -> Bits:
        value: Bits = self.buffers["O"][at]
        return value

    def cleared(self) -> Values:
        return {self.saved: 0, self.sum: 0}

    def save(self, places: list[Place]) -> None:
        child = self.program("save", places)
        sound = self.stops(child, self.refused())
        memory = self.buffers["O"]
        new = {
            memory: z3.Store(memory, fitted(self.saved, self.address_bits), self.sum),
            self.saved: self.saved + 1,
            self.sum: 0,
            **self.following(places),
        }
        child.instruction("one", sound, new, "the sum in hand is saved")

    def invariants(self) -> None:
        super().invariants()
        self.ila.invariants["what is saved fits"] = at_most(self.saved, self.spec.buffers["O"])


def _rounded(size: Bits, unit: int) -> Bits:
    """Up to a multiple of `unit`, a power of two."""
    if unit == 1:
        return size
    whole = beats(size, unit)
    return z3.Concat(whole, z3.BitVecVal(0, unit.bit_length() - 1))
