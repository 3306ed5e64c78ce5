"""Reads a specification of opcodes as an instruction set: what each opcode does becomes statements.

Sizes that a word sets are registers. A tile comes into a memory of the host's, ``A_in``, and is copied to the
device's, ``A``; a result goes from ``C_out``. What must hold is required where the device looks at it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from axiloom.isa.contract.errors import DeviceError
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import (
    WORD_BITS,
    Clear,
    Compute,
    DeviceAction,
    HostAction,
    Load,
    Opcode,
    Recv,
    Requantise,
    Save,
    Send,
    SendDim,
    SetDims,
    Skip,
    Store,
)
from axiloom.isa.instructions.arithmetic import ZERO, all_of, apply, plus, times
from axiloom.isa.instructions.tree import (
    Bits,
    Const,
    Expr,
    Input,
    Instruction,
    InstructionSet,
    Let,
    Name,
    Read,
    Requirement,
    SetRegister,
    Statement,
    Write,
    signed,
)  # fmt: skip
from axiloom.isa.kernels.forms import CHANNELS, MATMUL
from axiloom.isa.numerics import INT8, Numerics
from axiloom.isa.opcode_map import kernels
from axiloom.isa.opcode_map.framing import ONE, Event, Framing, Kind
from axiloom.isa.opcode_map.kernels import nest, wrapped
from axiloom.isa.opcode_map.state import Names, Part, Size, expr


@dataclass(frozen=True)
class OpcodeMap:
    """A specification, read."""

    instructions: InstructionSet
    framing: Framing
    parts: tuple[Part, ...]
    """Of each kernel."""


def read(spec: AcceleratorSpec) -> OpcodeMap:
    """The instructions of a sound specification, of all its kernels, and how words reach them."""
    isa = InstructionSet(spec.name, spec.link.description, f"{spec.name}.json", {}, {}, {}, {}, {}, {})
    names, opcodes = Names(), [opcode for part in spec.parts for opcode in part.opcodes.values()]
    singles = max(sum(not isinstance(action, Send | Recv) for action in opcode.host) for opcode in opcodes)
    word = Input("word", WORD_BITS * max(1, singles))
    isa.inputs["word"] = word  # type: ignore[index]
    parts = tuple(Part(kernel, isa, names) for kernel in spec.parts)
    drafts = {
        names.new(opcode.name): _Draft(part, opcode, Name(word.name, word.type))
        for part in parts
        for opcode in part.spec.opcodes.values()
    }
    for name, draft in drafts.items():
        isa.instructions[name] = draft.instruction(name)  # type: ignore[index]
    framing = Framing(
        spec.link.beat_words,
        {draft.opcode.literal: name for name, draft in drafts.items()},
        {name: (*draft.events,) for name, draft in drafts.items()},
        {name: draft.opcode.name for name, draft in drafts.items()},
        tuple(spec.opcodes[name].literal or 0 for name in spec.bits),
    )
    return OpcodeMap(isa, framing, parts)


@dataclass
class _Draft:
    """An instruction under way."""

    part: Part
    opcode: Opcode
    word: Name
    body: list[Statement] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    singles: int = 0
    """Words of the input `word` that have come, the opcode word among them."""

    def instruction(self, name: str) -> Instruction:
        when: Expr = ONE
        if self.opcode.literal is not None:
            when = apply("eq", Bits(self.word, ZERO, WORD_BITS), Const(self.opcode.literal))
            self.singles = 1
        for action, host in self.opcode.steps():
            self._step(action, host)
        return Instruction(name, when, (), (), (*self.body,), str(self.opcode))

    def _step(self, action: DeviceAction, host: HostAction | None) -> None:
        match action:
            case Load(operand=operand):
                self._load(operand)
            case SetDims() if isinstance(host, SendDim):
                self._set(host)
            case SetDims() | Skip():
                self._single()
            case Compute(in_place=name) if name:
                self._result_there()
                self.body += kernels.in_place(self.part, self.part.spec.in_place[name])
                self._lay(self.part.out)
            case Compute():
                self._compute()
            case Save():
                self._save()
            case Store():
                self._result_there()
                self._store()
            case Requantise():
                self._there(CHANNELS, f"requantises, but {CHANNELS}")
                self._result_there()
                self._send(INT8, kernels.requantised(self.part))
            case Clear():
                self._clear()

    def _require(self, condition: Expr, code: DeviceError, message: str, unless: Expr | None = None) -> None:
        if condition != ONE:
            condition = apply("or", unless, condition) if unless else condition
            self.body.append(Requirement(condition, code=code, message=message))

    def _event(self, kind: Kind, amount: Expr = ONE, memory: str = "") -> None:
        self.events.append(Event(len(self.body), kind, amount, memory))

    def _assign(self, register: Expr, value: Expr) -> None:
        assert isinstance(register, Name)
        self.body.append(SetRegister(self.part.isa.registers[register.name], value))

    # --- single words -------------------------------------------------------------------------------------

    def _single(self) -> int:
        """Waits for one; the number of its first bit."""
        self._event(Kind.SINGLE)
        self.singles += 1
        return WORD_BITS * (self.singles - 1)

    def _set(self, layout: SendDim) -> None:
        """Takes the fields of a word, and refuses what is illegal."""
        sizes, low = dict(self.part.sizes), self._single()
        own = {setting.name for setting in self.part.spec.settings if setting.signed}
        for place in layout.fields:
            bits, at = layout.field_bits(place), Const(low + place.shift)
            value: Expr = Bits(self.word, at, min(bits, 8) if place.dim in own else bits)
            sizes[place.dim] = self._take(place.dim, wrapped(value, signed(8)) if place.dim in own else value)
        for dim, other in self.part.spec.tied.items():
            sizes[dim] = self._take(dim, sizes[other].expr)
        if self.part.form.name == MATMUL.name:
            self._legal_tile(sizes)
        else:
            for place in layout.fields:
                self._legal(place.dim, sizes[place.dim])

    def _take(self, dim: str, value: Expr) -> Size:
        """Sets a dim or setting; what it is set to. What its register does not hold does not fit either."""
        size = self.part.sizes[dim]
        kind = size.expr.range
        if kind.holds(value.range):
            self._assign(size.expr, value)
            return size
        local = Name(self.part.names.new(f"{dim}_word"), value.range)
        self.body.append(Let(local.name, value))
        self._assign(size.expr, apply("min", local, Const(kind.high)))
        return Size(local)

    def _legal(self, dim: str, size: Size) -> None:
        for condition, why in self.part.legal(dim, size):
            self._require(condition, DeviceError.BAD_DIMS, f"{dim} = {size} is {why}")

    def _legal_tile(self, sizes: Mapping[str, Size]) -> None:
        """Of a MatMul: sizes are looked at all together."""
        spec = self.part.spec
        units = spec.tile.granule or spec.tile.size
        tile, text = "x".join(str(sizes[dim]) for dim in spec.dims), "x".join(map(str, units))
        why = f"{tile} is not a multiple of {text}"
        self._require(self.part.legal_tile(sizes), DeviceError.BAD_DIMS, why)
        for operand in spec.buffers:
            self._fits(operand, tile)

    # --- tiles --------------------------------------------------------------------------------------------

    def _fits(self, operand: str, tile: str = "", unless: Expr | None = None) -> None:
        """A tile must fit its buffer."""
        capacity, held = self.part.spec.buffers[operand], self.part.fits(operand, self.part.shape(operand))
        shown = tile or "x".join(self.part.shown(operand))
        why = f"{shown}: {operand} does not fit its buffer of {capacity} words"
        self._require(held, DeviceError.BAD_DIMS, why, unless)

    def _words(self, operand: str, shape: tuple[Size | int, ...], kind: Numerics | None = None) -> Expr:
        return expr(self.part.spec.words_of(operand, shape, kind))  # type: ignore[arg-type]

    def _load(self, operand: str) -> None:
        part, shape = self.part, self.part.shape(operand)
        kind, source = part.spec.operand_type(operand), part.incoming[operand]
        if part.form.dense:
            self._fits(operand)
        self._event(Kind.LOAD, self._words(operand, shape), source.name)
        rows = part.form.rows.get(operand, 0)
        row = part.held(prod(shape[rows:]))
        beat = part.spec.link.stream_width // kind.bits
        pitch = part.held(-(-prod(shape[rows:]) // beat) * beat)

        def copied(*at: Name) -> list[Statement]:
            starts = [times(at[0], length) if rows else ZERO for length in (row, pitch)]
            place, origin = (plus(start, at[-1]) for start in starts)
            return [Write(part.buffers[operand], (place,), Read(source, (origin,)))]

        outer = {"r": part.held(prod(shape[:rows]))} if rows else {}
        self.body += nest(part, {**outer, "x": row}, copied)
        self._lay(operand)

    def _lay(self, operand: str) -> None:
        """A tile is there, under the sizes of now."""
        self._assign(self.part.there[operand], ONE)
        for name, register in self.part.laid[operand].items():
            self._assign(register, self.part.sizes[name].expr)

    def _there(self, operand: str, verb: str) -> None:
        """A tile must be there, under the sizes of now."""
        part, there = self.part, self.part.there[operand]
        self._require(there, DeviceError.NOT_LOADED, f"{{opcode}} {verb} is not loaded")
        self._same_shape(operand)
        for name in part.form.laid.get(operand, ()):
            if name in part.laid[operand]:
                before, now = part.laid[operand][name], part.sizes[name]
                why = f"{{opcode}}: {operand} was loaded under {name} {Size(before)}, which now is {now}"
                self._require(apply("eq", before, now.expr), DeviceError.DIMS_MISMATCH, why)

    def _same_shape(self, operand: str, unless: Expr | None = None) -> None:
        part, laid = self.part, self.part.laid[operand]
        dims = [dim for dim in part.dims(operand) if dim in laid]
        same = all_of([apply("eq", laid[dim], part.sizes[dim].expr) for dim in dims])
        before, now = (_tuple(part.shown(operand, loaded)) for loaded in (True, False))
        why = f"{{opcode}}: {operand} has shape {before}, the dims now say {now}"
        self._require(same, DeviceError.DIMS_MISMATCH, why, unless)

    # --- results ------------------------------------------------------------------------------------------

    @property
    def _cleared(self) -> Expr:
        return apply("not", self.part.there[self.part.out])

    def _compute(self) -> None:
        part, form = self.part, self.part.form
        for operand in form.inputs:
            self._there(operand, f"computes, but {operand}")
        if form.saves:
            self._room("{opcode}")
        if form.computes is not None:
            for dim, extent in form.computes.extents(part.sizes).items():  # type: ignore[arg-type]
                reach, now = Name(part.names.new(f"{dim}_reach"), expr(extent).range), part.sizes[dim]
                self.body.append(Let(reach.name, expr(extent)))
                why = f"{{opcode}}: the tile reaches {Size(reach)} elements of {dim}, which is {now}"
                self._require(apply("le", reach, now.expr), DeviceError.BAD_DIMS, why)
        if form.dense and not form.saves:
            self._fits(part.out)
        if not form.saves and not form.overwrites:
            self._same_shape(part.out, unless=self._cleared)
        self.body += kernels.compute(part)
        self._event(Kind.WORK, expr(prod(part.sizes[dim] for dim in part.spec.dims)))
        self._lay(part.out)

    def _room(self, who: str) -> None:
        capacity = self.part.spec.buffers[self.part.out]
        why = f"{who}: {capacity} results are saved, and the buffer of {self.part.out} holds no more"
        self._require(apply("lt", self.part.saved, Const(capacity)), DeviceError.BAD_DIMS, why)

    def _save(self) -> None:
        part = self.part
        self._room("save")
        self.body += [
            Write(part.buffers[part.out], (part.saved,), Read(part.total, (ZERO,))),
            Write(part.total, (ZERO,), ZERO),
        ]
        self._assign(part.saved, wrapped(plus(part.saved, ONE), part.saved.range))

    def _result_there(self) -> None:
        """A result that is there has the sizes of now; a cleared one fits under them."""
        part = self.part
        if part.form.saves:
            return
        if part.form.dense:
            self._fits(part.out, unless=part.there[part.out])
        self._same_shape(part.out, unless=self._cleared)

    def _store(self) -> None:
        part = self.part

        def copied(place: Name) -> list[Statement]:
            return [Write(part.outgoing[part.result], (place,), Read(part.buffers[part.out], (place,)))]

        count = part.saved if part.form.saves else part.count(part.out)
        self._send(part.result, nest(part, {"x": count}, copied))

    def _send(self, kind: Numerics, statements: list[Statement]) -> None:
        """Sends what `statements` write, with zeros up to a beat."""
        part, to = self.part, self.part.outgoing[kind]
        shape = (Size(part.saved),) if part.form.saves else part.shape(part.out)
        beat = part.spec.link.stream_width // kind.bits
        self.body += statements
        if beat > 1 and part.form.dense:
            end = part.held(prod(shape))
            self.body += nest(part, {"z": Const(beat)}, lambda place: [Write(to, (plus(end, place),), ZERO)])
        self._event(Kind.STORE, self._words(part.out, shape, kind), to.name)

    def _clear(self) -> None:
        part = self.part
        if part.form.saves:
            self.body.append(Write(part.total, (ZERO,), ZERO))
            self._assign(part.saved, ZERO)
            return
        memory = part.buffers[part.out]
        self.body += nest(
            part, {"x": Const(memory.shape[0])}, lambda place: [Write(memory, (place,), Const(memory.reset))]
        )
        self._assign(part.there[part.out], ZERO)


def _tuple(sizes: Sequence[str]) -> str:
    return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"
