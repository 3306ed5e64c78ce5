"""`NestAccelerator`: a circuit as an accelerator on one AXI4-Stream each way."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.axi.signatures import AXI4Stream
from axiloom.hw.axi.stream import StreamSkid
from axiloom.hw.nest.circuit import Circuit, Port
from axiloom.hw.nest.core import Core, input_name, output_name
from axiloom.hw.nest.units import Find


class NestAccelerator(wiring.Component):
    """`circuit` behind ``s_axis`` and ``m_axis``, a run for each packet.

    A beat is an element of each input port, the first in the lowest bits; the same for outputs. A run begins
    with the first beat of a packet, and takes as many beats as its ports have elements, whatever TLAST says.
    Its results are a packet with TLAST. The next packet waits until they have been taken. A reset at any time
    leaves nothing of a run.

    ``debug_busy``: a run is under way. Raises ValueError for ports that do not make beats.
    """

    def __init__(self, circuit: Circuit, find: Find) -> None:
        for ports, what in ((circuit.inputs, "inputs"), (circuit.outputs, "outputs")):
            if not ports or len({port.elements for port in ports}) != 1:
                raise ValueError(
                    f"{circuit.name}: {what} must have as many elements each, and there must be some"
                )
        widths = {sum(_bits(circuit, port) for port in ports) for ports in (circuit.inputs, circuit.outputs)}
        if len(widths) != 1:
            raise ValueError(f"{circuit.name}: beats of {' and '.join(map(str, sorted(widths)))} bits")
        (self._width,) = widths
        self.core = Core(circuit, find)
        super().__init__(
            {
                "s_axis": In(AXI4Stream(self._width)),
                "m_axis": Out(AXI4Stream(self._width)),
                "debug_busy": Out(1),
            }
        )

    @property
    def circuit(self) -> Circuit:
        return self.core.circuit

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.core = core = self.core
        m.d.comb += [core.start.eq(self.s_axis.tvalid & ~core.busy), self.debug_busy.eq(core.busy)]

        inputs = [getattr(core, input_name(port)) for port in self.circuit.inputs]
        m.d.comb += self.s_axis.tready.eq(Cat(stream.tready for stream in inputs).all())
        at = 0
        for port, stream in zip(self.circuit.inputs, inputs, strict=True):
            bits = _bits(self.circuit, port)
            m.d.comb += [
                stream.tdata.eq(self.s_axis.tdata[at : at + bits]),
                stream.tvalid.eq(self.s_axis.tvalid & self.s_axis.tready),
            ]
            at += bits

        # The register breaks the path from m_axis.tready through the FIFOs of all lanes.
        m.submodules.skid = skid = StreamSkid(self._width)
        outputs = [getattr(core, output_name(port)) for port in self.circuit.outputs]
        takes = Signal()
        m.d.comb += [
            skid.i.tvalid.eq(Cat(output.tvalid for output in outputs).all()),
            skid.i.tdata.eq(Cat(output.tdata for output in outputs)),
            skid.i.tlast.eq(outputs[0].tlast),
            takes.eq(skid.i.tvalid & skid.i.tready),
            *(output.tready.eq(takes) for output in outputs),
        ]
        wiring.connect(m, skid.o, wiring.flipped(self.m_axis))
        return m


def _bits(circuit: Circuit, port: Port) -> int:
    return circuit.fifo(port.fifo).bits
