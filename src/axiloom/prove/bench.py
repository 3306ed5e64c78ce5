"""A module under free inputs: what is assumed of them, and one output a property.

An output is high in a cycle in which its property does not hold although all assumptions have held until
then, so that a property is proved if its output is never high. A cover's output is high when what it names
happens.

A lemma is a property of registers inside that makes others provable. Each lemma is proved under the
assumption that all lemmas have held in all cycles before, and those added before it in this one too. That is
induction over cycles and lemmas: it is sound if all of them are proved, which
:func:`axiloom.prove.abc.prove` sees to.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from amaranth.back import rtlil
from amaranth.hdl import Cat, ClockDomain, ClockSignal, Const, Instance, Module, ResetInserter, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In

TOP = "axiloom_bench"


@dataclass(frozen=True)
class Property:
    """An output of the bench."""

    output: str
    port: str
    name: str
    text: str
    source: str
    is_cover: bool = False
    needed: bool = True
    """Of a cover: that it is never seen is a fault."""
    helped: str = ""
    """A second output, which says the same where all lemmas have held until now."""
    lemma: bool = False
    """It is a lemma: `helped` is the only output."""
    live: bool = False
    """Its output is high while something is owed, which is not so for ever where all else is fair."""
    rank: bool = False
    """It says that a number falls: more than has to be so."""
    ranked: str = ""
    """Of what is owed: the name of the check that a rank falls meanwhile (:class:`Rank`)."""


@dataclass(frozen=True)
class Assumption:
    """Of what surrounds the module; `kept_by` who proves a check of the same name, or :data:`OUTSIDE`."""

    name: str
    kept_by: str


@dataclass(frozen=True)
class Rank:
    """Why something is not owed for ever: a number that never rises meanwhile, and falls again and again.

    `falls` are what it waits for, each while its condition is high: the name of what is fair
    (:meth:`Bench.fair`), or :data:`AT_ONCE`. While the number stays, so do the conditions, one of which is
    high: so what is fair makes it fall, and it cannot for ever. The first condition that is high counts.
    """

    value: Value
    falls: Sequence[tuple[str, Value]]


_RANK = "_rank"
AT_ONCE = ""
"""It falls in the next cycle."""

NEVER = Rank(Const(0, 1), ())
"""It is never owed for two cycles."""

OUTSIDE = "outside"
"""Nobody here proves it: what lies beyond the outer ports, or how the bench begins."""


class Bench:
    """Free inputs, assumptions, properties (`check`) and what must be reachable (`cover`).

    Parameters
    ----------
    with_lemmas : else they are left out, where a violation is looked for and nothing is to be proved

    Members
    -------
    m : the module; its registers have a value from the start and no reset
    reset : free, or as :meth:`reset_first` has it
    properties : in the order in which they were added
    assumptions : all of them, with who keeps each
    constants : how many of them say only that a constant stays what it is
    ports : that are watched: name, watch, side of the module
    fairness : outputs that are each high again and again, in runs of which something is said at last
    fair_pairs : outputs of which the second is, where the first is
    """

    def __init__(self, *, with_lemmas: bool = True) -> None:
        self.m = Module()
        self._with_lemmas = with_lemmas
        self._clock = Signal(name="clock")
        self.m.domains.sync = domain = ClockDomain(reset_less=True)
        self.m.d.comb += domain.clk.eq(self._clock)
        self.reset = Signal(name="reset")
        self.properties: list[Property] = []
        self.assumptions: list[Assumption] = []
        self.constants = 0
        self.inputs: list[Signal] = [self.reset]
        self._outputs: dict[str, Signal] = {}
        self._assumed: list[Value] = []
        self._lemmas: list[Value] = []
        self.fairness: list[str] = []
        self._fair: dict[str, Signal] = {}
        self._ranks: dict[tuple[str, str], Rank] = {}
        self.fair_pairs: list[tuple[str, str]] = []
        self.ports: list[tuple[str, Any, Any]] = []
        self._kept = Signal(init=1, name="assumptions_held")
        self._holds = Signal(name="assumptions_hold")
        self._helped = Signal(init=1, name="lemmas_held")
        self._helping = Signal(name="lemmas_hold")

    def reset_first(self, cycles: int = 1) -> None:
        """The module is in reset in the first `cycles`; later whenever the prover likes."""
        left = Signal(range(cycles + 1), init=cycles, name="first_cycles")
        with self.m.If(left != 0):
            self.m.d.sync += left.eq(left - 1)
        self.assume((left == 0) | self.reset)

    def free(self, width: int, name: str) -> Signal:
        signal = Signal(width, name=name)
        self.inputs.append(signal)
        return signal

    def constant(self, width: int, name: str) -> Signal:
        """Any value, which never changes."""
        value = self.free(width, name)
        held, first = Signal(width, name=f"{name}_held"), Signal(init=1, name=f"{name}_first")
        self.m.d.sync += [held.eq(value), first.eq(0)]
        self.assume(first | (value == held))
        self.constants += 1
        return value

    def register(self, value: Value) -> Signal:
        """`value` of the cycle before; 0 in the first."""
        held = Signal(len(value), name=f"before{len(self._assumed)}_{len(self.properties)}")
        self.m.d.sync += held.eq(value)
        return held

    def component(self, name: str, component: wiring.Component, clear: Value | None = None) -> Any:
        """`component`, each of its inputs driven by a free one, reset by `reset`, and by `clear` alone."""
        resets = self.reset if clear is None else self.reset | clear
        self.m.submodules[name] = ResetInserter(resets)(component)
        for path, member, value in component.signature.flatten(component):
            if member.flow == In:
                free = self.free(len(Value.cast(value)), "_".join([name, *map(str, path)]))
                self.m.d.comb += Value.cast(value).eq(free)
        return component

    def verilog(
        self,
        module: str,
        inputs: Mapping[str, int],
        outputs: Mapping[str, int],
        *,
        clocks: Sequence[str],
        resets: Mapping[str, bool],
        tied: Mapping[str, int] | None = None,
    ) -> dict[str, Value]:
        """An instance of a Verilog module; its ports by their names, the inputs free or `tied`.

        `clocks` and `resets` are ports too, of resets with whether they are active low.
        """
        ports: dict[str, Value] = {
            name: Const(tied[name], width) if tied and name in tied else self.free(width, name)
            for name, width in inputs.items()
        }
        ports |= {name: Signal(width, name=name) for name, width in outputs.items()}
        links: dict[str, Any] = {f"i_{name}": ClockSignal() for name in clocks}
        links |= {f"i_{name}": ~self.reset if low else self.reset for name, low in resets.items()}
        links |= {f"i_{name}": ports[name] for name in inputs}
        links |= {f"o_{name}": ports[name] for name in outputs}
        self.m.submodules.dut = Instance(module, **links)
        return ports

    def beside(self, module: str, inputs: Mapping[str, Value], outputs: Iterable[str]) -> dict[str, Signal]:
        """An instance of a Verilog module that looks on; its outputs, of one bit each, by their names."""
        seen = {name: Signal(name=f"{module}_{name}") for name in outputs}
        links: dict[str, Any] = {f"i_{name}": value for name, value in inputs.items()}
        links |= {f"o_{name}": signal for name, signal in seen.items()}
        self.m.submodules[module] = Instance(module, **links)
        return seen

    def assume(self, condition: Value, *, name: str = "", kept_by: str = OUTSIDE) -> None:
        self.assumptions.append(Assumption(name, kept_by))
        self._assumed.append(condition.bool())

    def check(self, port: str, name: str, condition: Value, text: str, source: str = "") -> None:
        self._add(Property("", port, name, text, source), ~condition.bool())

    def lemma(self, name: str, condition: Value, text: str, also: Iterable[Value] = ()) -> None:
        """A helper invariant: proved as a check is, and taken for granted by all other proofs.

        So is `also`, which the caller knows to hold where the lemma is proved.
        """
        if not self._with_lemmas:
            return
        holds, known = Signal(name=f"lemma_{name}"), Signal(name=f"known_{name}")
        self.m.d.comb += [holds.eq(condition.bool()), known.eq(Cat(holds, *also).all())]
        self._add(Property("", "", name, text, "helper", lemma=True), ~holds)
        self._lemmas.append(known)

    def lemma_of_any(
        self, name: str, bits: int, holds: Callable[[Value], Value], text: str, at: Iterable[Value]
    ) -> None:
        """A lemma of each of many things, such as the rows of a memory, by their number of so many bits.

        It is proved of one that is any, so of each; other proofs rely on it of that one and of those `at`.
        """
        if not self._with_lemmas:
            return
        which = self.constant(bits, f"{name}_which")
        self.lemma(name, holds(which), text, [holds(place).bool() for place in at])

    def cover(self, port: str, name: str, condition: Value, text: str, *, needed: bool = True) -> None:
        self._add(Property("", port, name, text, "", is_cover=True, needed=needed), condition.bool())

    def live(self, port: str, name: str, waits: Value, text: str, source: str = "") -> None:
        """That `waits` is not high for ever in a run that is fair."""
        if rank := self._ranks.get((port, name)):
            self._falls(port, name, waits, rank)
        output = f"owed_{port}_{name}".replace("-", "_")
        now = self._kept & self._holds & waits.bool()
        helped = f"{output}_helped"
        self._output(output, now)
        self._output(helped, now & self._helped & self._helping)
        ranked = f"{name}{_RANK}" if rank else ""
        self.properties.append(
            Property(output, port, name, text, source, live=True, helped=helped, ranked=ranked)
        )

    def rank(self, port: str, name: str, rank: Rank) -> None:
        """Why `name`, which is proved with :meth:`live`, is so."""
        if self._with_lemmas:
            self._ranks[port, name] = rank

    def _falls(self, port: str, name: str, waits: Value, rank: Rank) -> None:
        rest: Value = Const(1, 1)
        conditions, happens = [], Const(0, 1)
        for what, condition in rank.falls:
            here = rest & condition.bool()
            conditions.append(here)
            happens = happens | (here & self._fair[what] if what else here)
            rest = rest & ~condition.bool()
        now = Signal(name=f"{port}_{name}_waits")
        self.m.d.comb += now.eq(waits.bool())
        at, before = Cat(*conditions), self.register(Cat(now, happens, rank.value, *conditions))
        waited, happened = before[0], before[1]
        value, where = before[2 : 2 + len(rank.value)], before[2 + len(rank.value) :]
        stays = (rank.value == value) & ~happened & (at == where) & at.any()
        falls = ~waited | ~now | (rank.value < value) | stays
        text = "what is left to be done before becomes less"
        self._add(Property("", port, f"{name}{_RANK}", text, "", rank=True), ~falls)

    def fair(self, waits: Value, name: str) -> None:
        """Of what surrounds the module: `waits` is not high for ever."""
        output = f"fair{len(self.fairness)}_{name.replace('.', '_').replace('-', '_')}"
        self._output(output, ~waits.bool())
        self.fairness.append(output)
        self._fair[name] = self._outputs[output]

    def fair_if(self, often: Value, then: Value, name: str) -> None:
        """Of what surrounds the module: if `often` is high again and again, it is so with `then` too."""
        outputs = []
        for what, value in (("often", often), ("then", then)):
            output = f"fair_{what}{len(self.fair_pairs)}_{name.replace('.', '_').replace('-', '_')}"
            self._output(output, value.bool())
            outputs.append(output)
        self.fair_pairs.append((outputs[0], outputs[1]))

    def fair_cover(self, text: str) -> None:
        """That a run can be fair: else all is so at last."""
        output = "owed_always"
        self._output(output, self._kept & self._holds & ~self.reset)
        self.properties.append(Property(output, "", "fair", text, "", is_cover=True, live=True))

    def only(self, names: Collection[str]) -> list[str]:
        """Leave out all properties but those of these names (``*_live``: all of the kind), what their proofs
        need, and covers without which they would say nothing; returns the names there are not."""
        asked = [prop for prop in self.properties if any(fnmatchcase(prop.name, name) for name in names)]
        ranks = {(prop.port, prop.ranked) for prop in asked}
        ports, live = {prop.port for prop in asked}, any(prop.live for prop in asked)

        def supports(prop: Property) -> bool:
            needed = prop.is_cover and prop.needed
            return (
                prop.lemma
                or (prop.port, prop.name) in ranks
                or (needed and (prop.port in ports or (live and prop.live)))
            )

        unknown = [name for name in names if not any(fnmatchcase(prop.name, name) for prop in asked)]
        self.properties = [prop for prop in self.properties if prop in asked or (asked and supports(prop))]
        return unknown

    def alone(self, port: str, name: str) -> None:
        """Leave out everything but this check. Raises ValueError if there is none such."""
        self.properties = [
            prop for prop in self.properties if (prop.port, prop.name) == (port, name) and not prop.is_cover
        ]
        if not self.properties:
            raise ValueError(f"{port}.{name} is no property of this bench")

    def _add(self, prop: Property, shows: Value) -> None:
        name = f"{'seen' if prop.is_cover else 'bad'}_{prop.port}_{prop.name}".replace("-", "_")
        now = self._kept & self._holds & shows
        before = self._helped
        for lemma in self._lemmas if prop.lemma else ():
            before = before & lemma
        helped = ""
        if prop.lemma:
            self._output(name, now & before)
            helped = name
        else:
            self._output(name, now)
            if not prop.is_cover:
                helped = f"{name}_helped"
                self._output(helped, now & before & self._helping)
        self.properties.append(replace(prop, output=name, helped=helped))

    def _output(self, name: str, shows: Value) -> None:
        bit = Signal(name=name)
        self._outputs[name] = bit
        self.m.d.comb += bit.eq(shows)

    @property
    def lemmas(self) -> bool:
        """Whether there are any."""
        return bool(self._lemmas)

    @property
    def outputs(self) -> list[str]:
        """The names of the outputs that are asked for."""
        names = [prop.output for prop in self.properties]
        names += [prop.helped for prop in self.properties if self.lemmas and prop.helped and not prop.lemma]
        if any(prop.live for prop in self.properties):
            names += [*self.fairness, *(name for pair in self.fair_pairs for name in pair)]
        return names

    @cached_property
    def text(self) -> str:
        """The bench as RTLIL, its top :data:`TOP`. Nothing can be added after it was read."""
        everything = Signal(len(self._assumed) or 1, init=1)
        for i, condition in enumerate(self._assumed):
            self.m.d.comb += everything[i].eq(condition)
        self.m.d.comb += self._holds.eq(everything.all())
        self.m.d.sync += self._kept.eq(self._kept & self._holds)
        helping = Signal(len(self._lemmas) or 1, init=1)
        for i, condition in enumerate(self._lemmas):
            self.m.d.comb += helping[i].eq(condition)
        self.m.d.comb += self._helping.eq(helping.all())
        self.m.d.sync += self._helped.eq(self._helped & self._helping)
        ports = [self._clock, *self.inputs, *(self._outputs[name] for name in self.outputs)]
        text: str = rtlil.convert(self.m, name=TOP, ports=ports, emit_src=False)
        return text
