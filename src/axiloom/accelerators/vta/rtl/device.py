"""`Device`: the RTL of a text behind its streams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from axiloom.accelerators.vta.rtl.finish import Finish
from axiloom.accelerators.vta.rtl.load import Kind, Load
from axiloom.accelerators.vta.rtl.load_uops import LoadUops
from axiloom.accelerators.vta.rtl.meanings import ACCUMULATOR, LOADS, UOP, Machine
from axiloom.accelerators.vta.rtl.store import Store
from axiloom.accelerators.vta.rtl.tokens import ENGINE, Tokens
from axiloom.accelerators.vta.rtl.vector import Vector
from axiloom.hw.command.decode import command_bits, decoded, fault_of, logic, words
from axiloom.hw.command.device import CommandDevice, Commands
from axiloom.hw.command.fault import FAULT_BITS
from axiloom.hw.command.front import CommandFront
from axiloom.hw.command.held import Held
from axiloom.hw.command.memory import Memory
from axiloom.hw.command.unit import Task, Unit
from axiloom.isa.instructions.engines import COMPUTE, ENGINES, LOAD, STORE


class Device(CommandDevice):
    """`machine` behind streams of `stream_width` bits. ``debug_done``: a FINISH was executed.

    Raises ValueError for a stream that a vector of inputs is no whole number of beats of.
    """

    def __init__(self, machine: Machine, stream_width: int = 64) -> None:
        if stream_width < UOP or 8 * machine.block % stream_width:
            raise ValueError(
                f"stream width must divide the {8 * machine.block} bits of a vector, {UOP} or more, "
                f"not {stream_width}"
            )
        self._machine = machine
        super().__init__(machine.isa, stream_width, {"debug_done": Out(1)})

    @property
    def machine(self) -> Machine:
        return self._machine

    @property
    def overlaps(self) -> bool:
        """Whether the text has tokens: then loads, computing and stores go on at the same time."""
        return self.machine.tokens is not None

    def elaborate(self, platform: object) -> Module:
        """A command begins when its engine is free and its tokens are there; without tokens, when all are."""
        m = Module()
        m.submodules.front = front = CommandFront(command_bits(self.machine.isa), self.stream_width)
        wiring.connect(m, wiring.flipped(self.s_axis), front.s_axis)
        wiring.connect(m, front.m_axis, wiring.flipped(self.m_axis))
        fields = words(self.machine.isa, front.command.payload)
        instructions = decoded(m, self.machine.isa, fields)
        commands = Commands(front, fields, instructions)

        known, begins, reads, free, fault = (
            Signal(name="known"),
            Signal(name="begins"),
            Signal(name="reads"),
            Signal(name="free"),
            Signal(FAULT_BITS, name="fault"),
        )
        # Whether a command is legal takes products of its fields: it is known a cycle later.
        m.d.sync += [known.eq(front.command.valid & ~begins), fault.eq(fault_of(instructions))]
        m.d.comb += [
            begins.eq(front.command.valid & known & (fault == 0) & free),
            front.command.ready.eq(begins),
            self.debug_error.eq(front.debug_error),
        ]
        with m.If(front.command.valid & known):
            m.d.comb += front.fault.eq(fault)

        memories = self._memories()
        computes, stores = (self._held(commands, *names) for names in (("gemm", "alu"), ("store",)))
        readers, vector, store, finish = self._units(commands, memories, computes, stores)
        payload_done = Cat(*(unit.done for unit in readers)).any()
        for unit in (*readers, *finish):
            m.d.comb += unit.start.eq(begins & unit.starts())
            unit.build(m)
        for held, unit in ((computes, vector), (stores, store)):
            held.build(m, begins, unit)
            unit.build(m)
        wants_payload = Cat(*(unit.starts() for unit in readers)).any()
        with m.If(payload_done):
            m.d.sync += reads.eq(0)
        with m.If(begins & wants_payload):
            m.d.sync += reads.eq(1)
        m.d.comb += [
            front.next.eq(payload_done | (begins & ~wants_payload)),
            self.debug_busy.eq(front.debug_busy | reads | computes.running | stores.running),
            free.eq(self._free(m, commands, begins, payload_done, computes, stores, vector, store)),
        ]
        for end in finish:
            m.d.comb += self.debug_done.eq(end.finished)
        for memory in memories.values():
            memory.build(m)
        return m

    def _held(self, commands: Commands, *units: str) -> Held:
        meanings = self.machine.meanings
        of = [meanings[unit].instruction for unit in units if unit in meanings]
        return Held("_".join(units), commands.words, commands.instructions, of)

    def _free(
        self,
        m: Module,
        commands: Commands,
        begins: Value,
        payload_done: Value,
        computes: Held,
        stores: Held,
        vector: Unit,
        store: Unit,
    ) -> Value:
        """Whether the command at the front may begin."""
        if not self.overlaps:
            return ~computes.running & ~stores.running
        at = {
            engine: self._any(commands, (unit for unit, own in ENGINE.items() if own == engine))
            for engine in ENGINES
        }
        at_front = self._tokens(commands.words)
        finishes = begins & self._any(commands, ("finish",))
        tokens = Tokens(
            {engine: (is_there, at_front) for engine, is_there in at.items()},
            {
                LOAD: [(payload_done & at[LOAD], at_front)],
                COMPUTE: [
                    ((payload_done & at[COMPUTE]) | finishes, at_front),
                    (vector.done, self._tokens(computes.words)),
                ],
                STORE: [(store.done, self._tokens(stores.words))],
            },
        )
        ready = tokens.build(m, begins)
        return ready & ~(at[COMPUTE] & computes.running) & ~(at[STORE] & stores.running)

    def _any(self, commands: Commands, units: Iterable[str]) -> Value:
        meanings = self.machine.meanings
        of = [meanings[unit].instruction for unit in units if unit in meanings]
        return Cat(*(commands.instructions[name].enabled for name in of)).any()

    def _tokens(self, fields: Mapping[str, Value]) -> Value:
        """They lie in the same bits of each instruction."""
        assert self.machine.tokens is not None
        return logic(self.machine.tokens, fields)

    def _memories(self) -> dict[str, Memory]:
        block, depths, width = self.machine.block, self.machine.depths, self.stream_width
        return {
            "uop": Memory("uop", depths["uop"], UOP),
            "inp": Memory("inp", depths["inp"], 8 * block, width),
            "wgt": Memory("wgt", depths["wgt"], 8 * block * block, width),
            "acc": Memory("acc", depths["acc"], ACCUMULATOR * block, width),
            "out": Memory("out", depths["out"], 8 * block),
        }

    def _units(
        self, commands: Commands, memories: Mapping[str, Memory], computes: Held, stores: Held
    ) -> tuple[Sequence[Unit], Unit, Unit, Sequence[Finish]]:
        """Those that read a payload, what computes, what stores, and what tells the end."""
        meanings, width = self.machine.meanings, self.stream_width
        front, words = commands.front, commands.words

        def tasks(*names: str, held: Held | None = None) -> dict[str, Task]:
            tasks_ = {}
            for name in names:
                if name in meanings:
                    of = meanings[name].instruction
                    active = held.active[of] if held else commands.instructions[of].enabled
                    tasks_[name] = Task(meanings[name], active)
            return tasks_

        kinds = {
            "load_wgt": Kind(memories["wgt"], memories["wgt"].width // width),
            "load_inp": Kind(memories["inp"], memories["inp"].width // width),
            "load_acc": Kind(memories["acc"], memories["acc"].width // width),
            "load_acc_8bit": Kind(memories["acc"], memories["inp"].width // width, widens=True),
        }
        readers = [
            LoadUops(tasks("load_uops"), words, front.payload, memories["uop"]),
            Load(tasks(*LOADS), words, front.payload, kinds),
        ]
        vector = Vector(
            tasks("gemm", "alu", held=computes), computes.words, memories, self.machine.operations
        )
        store = Store(tasks("store", held=stores), stores.words, front.result, memories["out"])
        finish = [Finish(tasks("finish"), words)] if "finish" in meanings else []
        return readers, vector, store, finish
