"""The class for the PYNQ image: its flows against NumPy, on a simulated board's RTL."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from axiloom import isa
from axiloom.base.errors import UsageError
from axiloom.boards import pynq
from axiloom.boards.ulx3s_design import TOP, Design
from axiloom.cosim import serial_board
from axiloom.cosim.serial_board import SimulatedBoard
from axiloom.isa import AcceleratorSpec
from axiloom.remote.serial_host import Bridge, SerialPort

V3 = isa.builtin("v3", 4)


def loaded(spec: AcceleratorSpec) -> Any:
    """The module as the board would import it."""
    made = types.ModuleType("accelerator")
    exec(compile(pynq.module(spec), "accelerator.py", "exec"), made.__dict__)
    return made


class Line:
    """Registers and memory of the simulated board: the bridge, in the form that the class wants."""

    def __init__(self, bridge: Bridge, spec: AcceleratorSpec) -> None:
        self.read, self.write = bridge.read, bridge.write
        self.input_address, self.output_address = spec.link.dma.input_address, spec.link.dma.output_address


@pytest.fixture(scope="module")
def line() -> Iterator[Line]:
    design = Design(V3)
    models = (serial_board.MODELS.name, serial_board.MODELS.read_text(encoding="utf-8"))
    program = serial_board.build((*design.sources, models), TOP)
    with SimulatedBoard(program, design.divisor) as board, SerialPort(board.port, design.baud) as port:
        yield Line(Bridge(port), V3)


@pytest.mark.slow  # builds the board's simulation
@pytest.mark.parametrize("flow", [None, *V3.flows])
def test_every_flow_is_numpy_s(line: Line, flow: str | None) -> None:
    device = loaded(V3).Accelerator(line)
    rng = np.random.default_rng(1)
    info = np.iinfo(np.int32)
    a, b = (rng.integers(info.min, info.max, shape, np.int32) for shape in ((5, 8), (8, 6)))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(device.matmul(a, b, flow), a @ b)


@pytest.mark.slow
def test_what_it_refuses(line: Line) -> None:
    module = loaded(V3)
    device = module.Accelerator(line)
    square = np.zeros((4, 4), np.int32)
    with pytest.raises(module.AcceleratorError, match="flows are Ns, As, Bs, Cs"):
        device.matmul(square, square, "Xs")
    with pytest.raises(
        module.AcceleratorError, match=r"A \(M, K\) and B \(K, N\) are wanted, not \(4, 4\) and \(3, 4\)"
    ):
        device.matmul(square, square[:3])
    with pytest.raises(module.AcceleratorError, match="elements must be int32, not int32 and int8"):
        device.matmul(square, square.astype(np.int8))


def test_configuration_is_the_specification() -> None:
    config = loaded(V3).CONFIG
    assert config["opcodes"]["sA"] == [("literal", 1), ("send", "A")]
    assert config["flows"]["Cs"] == {"order": ["m", "n", "k"], "scope": [["sA", "sB", "cC"], "rC"]}
    assert config["dma"]["address"] == 0x4040_0000
    v4 = loaded(isa.builtin("v4")).CONFIG
    assert v4["opcodes"]["sA"][1] == ("dims", [("m", 0), ("n", 10), ("k", 20)])


class Modelled:
    """Registers of a DMA in direct mode (PG021) and memory, with the functional model behind the streams."""

    def __init__(self, spec: AcceleratorSpec) -> None:
        self.base, self.registers = spec.link.dma.address, {0x04: 1, 0x34: 1}
        self.input_address, self.output_address = 0x1000_0000, 0x1100_0000
        self.memory: dict[int, int] = {}
        self.model, self.out, self.wanted = isa.FunctionalModel(spec), [], 0

    def read(self, address: int, count: int) -> Any:
        if address - self.base in range(0x1000):
            return [self.registers.get(address - self.base, 0)]
        return np.array([self.memory[address + 4 * i] for i in range(count)], np.uint32)

    def write(self, address: int, words: Any) -> None:
        register = address - self.base
        if register not in range(0x1000):
            self.memory.update({address + 4 * i: int(word) for i, word in enumerate(words)})
            return
        (value,) = words
        self.registers[register] = value
        if register in (0x00, 0x30):
            if value & 4:
                self.registers[register] = 0
                self.model.reset()
            self.registers[register + 4] = 0 if value & 1 else 1
        elif register == 0x28:
            start = self.registers[0x18]
            self.out += self.model.feed([self.memory[start + at] for at in range(0, value, 4)]).tolist()
            assert self.model.error is None
            self.registers[0x04] = 2
        elif register == 0x58:
            self.wanted = value // 4
            self.registers[0x34] = 0
        if self.wanted and len(self.out) >= self.wanted:
            start = self.registers[0x48]
            self.memory.update({start + 4 * i: word for i, word in enumerate(self.out[: self.wanted])})
            self.out, self.wanted = self.out[self.wanted :], 0
            self.registers[0x34] = 2


@pytest.mark.parametrize(
    ("name", "data_type", "stream_width", "more"),
    [
        ("v1_4", "int32", 32, {}),
        ("v2_4", "int16", 64, {}),
        ("v3_4", "int8", 128, {"encoding": "literals"}),
        ("v3_8", "int8", 32, {"post": True}),
        ("v4_16", "int8", 64, {"encoding": "literals"}),
        ("loopback", "int32", 64, {}),
        ("identity", "int32", 128, {}),
    ],
)
def test_every_flow_by_the_model(name: str, data_type: str, stream_width: int, more: dict[str, Any]) -> None:
    spec = isa.revise(isa.builtin(name, data_type=data_type, **more), stream_width=stream_width)
    module = loaded(spec)
    device = module.Accelerator(Modelled(spec))
    assert device.check() == []
    assert set(module.CONFIG["flows"]) == set(spec.flows) - {"Csq"}
    if name == "identity":
        device.memory.model.feed([4] + [0] * 3)  # computes once too often: what comes back is twice what went
        assert device.check() == ["Ns"]


def test_operands_that_are_sent_the_other_way_round() -> None:
    spec = isa.builtin("v3", 4)
    turned = isa.revise(spec, data={"A": ("k", "m"), "B": ("n", "k"), "C": ("n", "m")})
    assert loaded(turned).Accelerator(Modelled(turned)).check() == []


def test_what_it_is_not_written_for() -> None:
    with pytest.raises(UsageError, match="conv_v3: the Python class multiplies and copies; all else has"):
        pynq.module(isa.builtin("conv_v3"))
    for name, call, message in (
        ("identity", "matmul", "identity copies: copy"),
        ("v1_4", "copy", "v1_4 multiplies: matmul"),
    ):
        one = isa.builtin(name)
        module = loaded(one)
        device = module.Accelerator(Modelled(one))
        with pytest.raises(module.AcceleratorError, match=message):
            getattr(device, call)(*[np.zeros((4, 4), np.int32)] * (2 if call == "matmul" else 1))
