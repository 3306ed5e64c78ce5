# amaranth: UnusedElaboratable=no
"""What every engine has in common: ports, a check before anything is built, and how operands are joined."""

from __future__ import annotations

import random
import warnings
from typing import Any

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In
from tests.hw.component_bench import simulate

from axiloom import isa
from axiloom.base.errors import SpecError
from axiloom.hw.engine.decoder import Programs
from axiloom.hw.engine.engine import Engine, join_loads
from axiloom.hw.engine.load_port import LoadPort
from axiloom.hw.engine.receiver import Receiver
from axiloom.hw.matmul.geometry import Geometry
from axiloom.isa import AcceleratorSpec


class Picky(Engine):
    """An engine that refuses everything but one name."""

    @staticmethod
    def sizes(spec: AcceleratorSpec) -> Any:
        if spec.name != "v3_4":
            raise SpecError([f"{spec.name}: not this one"])
        return "sizes"


def test_ports_are_as_wide_as_the_streams() -> None:
    spec = isa.revise(isa.builtin("v3_4"), stream_width=64)
    engine = Picky(spec.replace(name="v3_4"))
    assert (len(engine.s_axis.tdata), len(engine.m_axis.tdata)) == (64, 64)
    assert engine.spec.link.stream_width == 64
    assert repr(engine) == "Picky('v3_4')"


def test_what_cannot_be_is_refused_before_it_is_made() -> None:
    """Amaranth would warn of a component that is made and never used."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(SpecError, match=r"^v1_4: not this one$"):
            Picky(isa.builtin("v1_4"))


class Buffer(wiring.Component):
    """The side of a buffer that loads."""

    def __init__(self, width: int) -> None:
        super().__init__({"load": In(LoadPort()), "load_data": In(width), "claim": In(1)})


def test_loads_are_joined_to_the_operand_of_that_name() -> None:
    spec = isa.builtin("v3_4")
    receiver = Receiver(Programs(spec), Geometry.of(spec).protocol)
    m = Module()
    buffers = {"a": Buffer(32), "b": Buffer(16)}
    for name, buffer in buffers.items():
        join_loads(m, receiver, name, buffer)
    assert receiver.load("A") is receiver.load("a") is receiver.load_a
    rng = random.Random(0)

    async def main(ctx: Any) -> None:
        for _ in range(50):
            for name, buffer in buffers.items():
                port = receiver.load(name)
                given = [rng.getrandbits(1) for _ in range(4)]
                outputs = (port.valid, buffer.load.ready, buffer.load.last, buffer.load.half)
                inputs = (buffer.load.valid, port.ready, port.last, port.half)
                for signal, value in zip(outputs, given, strict=True):
                    ctx.set(signal, value)
                assert [ctx.get(signal) for signal in inputs] == given
            data, claim = rng.getrandbits(32), rng.getrandbits(1)
            ctx.set(receiver.load_data, data)
            ctx.set(receiver.claim, claim)
            for buffer in buffers.values():
                assert ctx.get(buffer.load_data) == data % (1 << len(buffer.load_data))
                assert ctx.get(buffer.claim) == claim
            await ctx.tick()

    m.d.sync += receiver.words.valid.eq(1)  # there must be a clock
    simulate(m, main)
