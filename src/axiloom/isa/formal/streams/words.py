"""Instructions that take words: opcodes, sizes, loads.

Where a beat is one word, a command is that word. Else a beat is kept (`beat`, of which `left` words are
unread), and what takes its further words is a program. A load begins on a new beat, and so does an opcode.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import z3

from axiloom.isa.contract.errors import DeviceError
from axiloom.isa.contract.types import WORD_BITS as WORD
from axiloom.isa.contract.types import Load, Opcode, SendDim, SetDims, Skip
from axiloom.isa.formal.ila import Ila
from axiloom.isa.formal.streams.places import Place, safe
from axiloom.isa.formal.streams.state import Bits, State, fitted, same_bits

Values = Mapping[Bits, "Bits | int"]


class Words(State):
    """Adds them to the model."""

    def following(self, places: Sequence[Place]) -> dict[Bits, Bits]:
        """Where each of these places goes on, with all that begins anew there."""
        next_bit, others = self._next_bit()
        bits = self.place.size()
        found: dict[Bits, list[Bits]] = {self.place: []}
        if self.todo is not None:
            found[self.todo] = []
        if self.left is not None:
            found[self.left] = []
        for place in places:
            if place.following is None:
                found[self.place].append(next_bit)
            else:
                found[self.place].append(z3.BitVecVal(place.following, bits))
            if self.todo is not None:
                found[self.todo].append(others if place.following is None else self.todo)
            if self.left is not None:
                last = place.index + 1 == len(place.opcode.device)
                # Bits that a word combines are one opcode: their words may share a beat.
                left = self.left if place.following is not None else z3.If(next_bit == 0, 0, self.left)
                found[self.left].append(
                    z3.BitVecVal(0, left.size()) if last and place.following is not None else left
                )
        zero = {self.at: z3.BitVecVal(0, self.at.size()), self.phase: z3.BitVecVal(0, 1)}
        return {state: self._by_place(places, values) for state, values in found.items()} | zero

    def _by_place(self, places: Sequence[Place], values: Sequence[Bits]) -> Bits:
        value = values[-1]
        for place, other in zip(places[:-1], values[:-1], strict=True):
            if not z3.eq(other, value):
                value = z3.If(self.place == place.number, other, value)
        return value

    def _next_bit(self, todo: Bits | None = None) -> tuple[Bits, Bits]:
        """The first place of the next of the combined opcodes, 0 if there is none; and those after it."""
        todo = self.todo if todo is None else todo
        first: Bits = z3.BitVecVal(0, self.place.size())
        if todo is None:
            return first, first
        for number, (_, place) in reversed([*enumerate(self.places.bits)]):
            first = z3.If(z3.Extract(number, number, todo) == 1, place, first)
        return first, todo & (todo - 1)

    def on(self, place: Place) -> z3.BoolRef:
        return z3.And(self.error == 0, self.place == place.number)

    # --- opcodes ------------------------------------------------------------------------------------------

    def opcodes(self) -> Iterator[tuple[int | None, Opcode]]:
        """Each opcode with its word, in the order of their places."""
        for opcode in self.spec.opcodes.values():
            yield opcode.literal, opcode

    def _opcode_words(self) -> None:
        """An instruction for each opcode word, one for all combinations of bits, one for all others."""
        m, idle = self.ila, z3.And(self.error == 0, self.place == 0)
        word = z3.Extract(WORD - 1, 0, self.word) if self.beat is not None else self.word
        begun = {self.at: 0, self.phase: 0, **self._kept()}
        if self.todo is not None:
            begun[self.todo] = 0
        known = []
        for literal, (opcode, first) in self.places.starts.items():
            known.append(word == literal)
            updates = {self.place: first, **begun}
            if not first and self.left is not None:
                updates[self.left] = 0
            m.instruction(safe(opcode.name), z3.And(idle, known[-1]), updates, f"opcode {literal:#x}")
        if not known:  # without opcode words it is never idle
            m.invariants["never idle"] = self.place != 0
            return
        if self.todo is not None:
            mask = sum(literal for literal, _ in self.places.bits)
            several = z3.And(word & (~mask & (1 << WORD) - 1) == 0, word & mask != 0, *map(z3.Not, known))
            # Which of them have something to do, the first in the lowest bit.
            bits = [
                z3.Extract(literal.bit_length() - 1, literal.bit_length() - 1, word)
                if first
                else z3.BitVecVal(0, 1)
                for literal, first in self.places.bits
            ]
            asked = z3.Concat(*reversed(bits)) if len(bits) > 1 else bits[0]
            first, others = self._next_bit(asked)
            updates = {**begun, self.place: first, self.todo: others}
            if self.left is not None:
                updates[self.left] = z3.If(first == 0, z3.BitVecVal(0, self.left.size()), updates[self.left])
            m.instruction("combined", z3.And(idle, several), updates, "several opcodes of one bit each")
            known.append(several)
        unknown = z3.And(idle, *map(z3.Not, known))
        m.instruction("unknown", unknown, {self.error: int(DeviceError.UNKNOWN_OPCODE)}, "no opcode")

    # --- words of an opcode -------------------------------------------------------------------------------

    def words(self) -> None:
        """Instructions of all places that take words; where the model is valid."""
        singles = self.places.of(SetDims, Skip)
        loads = self.places.of(Load)
        waits = [z3.And(self.place == place.number, *self._fresh()) for place in singles]
        ready = [self.phase == 1] if self.late_fit else []
        waits += [z3.And(self.place == place.number, *ready) for place in loads]
        if self.places.starts:
            waits.append(self.place == 0)
        self.ila.valid = z3.And(self.error == 0, z3.Or(*waits))
        self._opcode_words()
        for place in loads:
            self._load(place, ready)
        if self.beat is None:
            for place in singles:
                self._single(self.ila, place, self.word, {}, [])
            return
        assert self.left is not None
        for place in singles:
            word = z3.Extract(WORD - 1, 0, self.word)
            self._single(self.ila, place, word, self._kept(), self._fresh())
        if not singles:
            return
        here = z3.Or(*(self.place == place.number for place in singles))
        child = self.ila.child("rest", z3.And(self.error == 0, here, self.left != 0))
        read = {self.beat: z3.LShR(self.beat, WORD), self.left: self.left - 1}
        for place in singles:
            self._single(child, place, z3.Extract(WORD - 1, 0, self.beat), read, [])
        early = [place for place in singles if place.opcode.literal is None and not place.index]
        for place in early:
            fresh = z3.Implies(self.place == place.number, self.left == 0)
            self.ila.invariants[f"{place.name} begins a beat"] = fresh

    def _fresh(self) -> list[z3.BoolRef]:
        """The next word comes with a new beat."""
        return [] if self.left is None else [self.left == 0]

    def _kept(self) -> dict[Bits, Bits | int]:
        """The rest of the beat that came, after its first word."""
        if self.beat is None or self.left is None:
            return {}
        return {self.beat: z3.LShR(self.word, WORD), self.left: self.spec.beat_words - 1}

    def _single(self, model: Ila, place: Place, word: Bits, read: Values, when: Sequence[z3.BoolRef]) -> None:
        """`read`: what of the beat is read with this word."""
        here = z3.And(self.on(place), *when)
        done = dict(self.following([place]))
        if self.left is not None and self.left in read:
            # The words that are left are those after this one, unless a new beat begins anyway.
            count = (
                z3.BitVecVal(read[self.left], self.left.size())
                if isinstance(read[self.left], int)
                else read[self.left]
            )
            done[self.left] = z3.substitute(done[self.left], (self.left, count))
        done = {**read, **done}
        host = place.host
        if not isinstance(host, SendDim) or isinstance(place.action, Skip):
            model.instruction(place.name, here, done, "a word that the device ignores")
            return
        new, too_wide = self._set(host, word)
        names = [field.dim for field in host.fields]
        good = z3.simplify(z3.And(*too_wide, self.accepted(new, names)))
        kept = {self.sizes[name]: value for name, value in new.items() if value is not self.sizes[name]}
        model.instruction(place.name, z3.And(here, good), {**done, **kept}, f"sizes: {host}")
        if not z3.is_true(good):
            bad = {self.error: int(DeviceError.BAD_DIMS)}
            model.instruction(f"{place.name}.bad", z3.And(here, z3.Not(good)), bad, "sizes that do not fit")

    def _set(self, host: SendDim, word: Bits) -> tuple[dict[str, Bits], list[z3.BoolRef]]:
        """All sizes after the word, and that nothing was cut off."""
        new, whole = dict(self.sizes), []
        for field in host.fields:
            register = self.sizes[field.dim]
            value = z3.Extract(field.shift + host.field_bits(field) - 1, field.shift, word)
            signed = any(setting.name == field.dim and setting.signed for setting in self.spec.settings)
            if value.size() > register.size() and not signed:
                whole.append(z3.Extract(value.size() - 1, register.size(), value) == 0)
            new[field.dim] = fitted(value, register.size())
        for dim, other in self.spec.tied.items():
            new[dim] = fitted(new[other], self.sizes[dim].size())
        return new, whole

    # --- loads --------------------------------------------------------------------------------------------

    def _load(self, place: Place, ready: Sequence[z3.BoolRef]) -> None:
        assert isinstance(place.action, Load)
        operand = place.action.operand
        memory, bits, each = self.buffers[operand], self.kind(operand).bits, self.per_beat(operand)
        filled = memory
        for i in range(each):
            element = z3.Extract(bits * (i + 1) - 1, bits * i, self.word)
            filled = z3.Store(filled, self.at * each + i, element)
        at, total = same_bits(self.at, self.beats(operand, self.sizes))
        ends, here = at + 1 == total, z3.And(self.on(place), *ready)
        new = {memory: filled, self.at: self.at + 1}
        self.ila.instruction(f"{place.name}.more", z3.And(here, z3.Not(ends)), new, f"a beat of {operand}")
        done = {**self.following([place]), **({} if self.left is None else {self.left: 0})}
        last = {memory: filled, self.loaded[operand]: 1, **self.laid(operand), **done}
        self.ila.instruction(f"{place.name}.last", z3.And(here, ends), last, f"the last beat of {operand}")
