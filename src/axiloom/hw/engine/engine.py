"""What an accelerator's engine looks like from outside, whatever it computes."""

from __future__ import annotations

from typing import Any, Self, cast

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.axi.signatures import AXI4Stream
from axiloom.hw.engine.receiver import Receiver
from axiloom.isa.contract.spec import AcceleratorSpec

QUEUE_DEPTH = 4
"""Commands that may wait while the one before is executed."""


class Engine(wiring.Component):
    """Does with the words of `s_axis` what :class:`axiloom.isa.opcode_map.model.FunctionalModel` does, and
    sends the results on `m_axis`. Both streams are `stream_width` wide.

    `debug_compute`: multiply-adds are active in this cycle. `debug_error`: the `DeviceError` that stopped
    it, until reset. `debug_busy`: anything is in flight; waiting for words is not, nor for words
    to be taken.

    A kind of engine says by `sizes` what its hardware has to be for a specification; that raises
    :exc:`SpecError` for what the engine cannot be.
    """

    @staticmethod
    def sizes(spec: AcceleratorSpec) -> Any:
        raise NotImplementedError

    def __new__(cls, spec: AcceleratorSpec) -> Self:
        cls.sizes(spec)  # here, because Amaranth warns of what is created and never used
        return cast(Self, super().__new__(cls, src_loc_at=1))

    def __init__(self, spec: AcceleratorSpec) -> None:
        self._spec = spec
        self._geometry = self.sizes(spec)
        super().__init__(
            {
                "s_axis": In(AXI4Stream(spec.link.stream_width)),
                "m_axis": Out(AXI4Stream(spec.link.stream_width)),
                "debug_compute": Out(1),
                "debug_error": Out(4),
                "debug_busy": Out(1),
            }
        )

    @property
    def spec(self) -> AcceleratorSpec:
        return self._spec

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.spec.name!r})"


def join_loads(m: Module, receiver: Receiver, name: str, buffer: Any) -> None:
    """The receiver's loads of an operand to the buffer that holds it."""
    wiring.connect(m, receiver.load(name), buffer.load)
    m.d.comb += [
        buffer.load_data.eq(receiver.load_data[: len(buffer.load_data)]),
        buffer.claim.eq(receiver.claim),
    ]
