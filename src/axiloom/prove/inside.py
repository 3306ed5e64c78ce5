"""The registers and wires inside a component, for helper invariants: its ports do not show them."""

from __future__ import annotations

from amaranth.hdl import Const, Fragment, Signal, Value
from amaranth.hdl._mem import MemoryInstance  # a memory has no rows for others but through its ports
from amaranth.lib import wiring


class Inside:
    """What a component drives inside, by name: ``level``, and of a submodule ``fifo.level``. What it only
    reads, such as its inputs, has a name where nothing that it drives has that.

    It elaborates `component`, which then elaborates to the same: what is read is what is proved.
    """

    def __init__(self, component: wiring.Component) -> None:
        fragment = Fragment.get(component, None)
        self._signals: dict[str, list[Signal]] = {}
        self._read: dict[str, list[Signal]] = {}
        self._memories: dict[str, MemoryInstance] = {}
        self._collect(fragment, "")
        fragment.origins = None  # else the component counts twice
        component.elaborate = lambda platform: fragment

    def __getitem__(self, name: str) -> Signal:
        """Raises KeyError for a name that nothing has, or two have."""
        signals = self._signals.get(name) or self._read.get(name, [])
        if len(signals) != 1:
            names = ", ".join(sorted(self._signals))
            raise KeyError(f"{len(signals)} signals inside are called {name}; there are {names}")
        return signals[0]

    def __contains__(self, name: str) -> bool:
        return len(self._signals.get(name) or self._read.get(name, [])) == 1

    def row(self, memory: str, index: int | Value) -> Value:
        """A word of a memory, such as ``fifo.storage``."""
        instance = self._memories[memory]
        width, depth = instance._data.shape, instance._data.depth
        word = Signal(width, name=f"{memory.replace('.', '_')}_{len(instance._read_ports)}")
        addr = Const(index, (depth - 1).bit_length()) if isinstance(index, int) else index
        instance.read_port(domain="comb", addr=addr, data=word, en=Const(1, 1), transparent_for=())
        return word

    def _collect(self, fragment: Fragment, prefix: str) -> None:
        if isinstance(fragment, MemoryInstance):
            self._memories[prefix.removesuffix(".")] = fragment
            return
        for statements in fragment.statements.values():
            for statement in statements:
                for names, signals in (
                    (self._signals, statement._lhs_signals()),
                    (self._read, statement._rhs_signals()),
                ):
                    for signal in signals:
                        known = names.setdefault(prefix + signal.name, [])
                        if not any(signal is other for other in known):
                            known.append(signal)
        for part, name, _ in fragment.subfragments:
            if name is not None:
                self._collect(part, f"{prefix}{name}.")
