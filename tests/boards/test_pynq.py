"""The class for the PYNQ image: its flows against NumPy, on a simulated board's RTL."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from axiloom import isa
from axiloom.boards import pynq
from axiloom.boards.ulx3s_design import TOP, Design
from axiloom.cosim import serial_board
from axiloom.cosim.serial_board import SimulatedBoard
from axiloom.errors import UsageError
from axiloom.isa import AcceleratorSpec
from axiloom.serial_host import Bridge, SerialPort

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
        self.input_address, self.output_address = spec.dma.input_address, spec.dma.output_address


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


def test_wide_streams_are_refused() -> None:
    wide = isa.revise(isa.builtin("v3", 4), stream_width=64)
    with pytest.raises(UsageError, match="words of 32 bits, and the streams have 64: use the C driver"):
        pynq.module(wide)


def test_scatter_gather_is_refused() -> None:
    spec = isa.builtin("v3", 4)
    with pytest.raises(UsageError, match="conv_v3: the Python class is written for matmul accelerators"):
        pynq.module(isa.builtin("conv_v3"))
    module = loaded(spec)
    module.CONFIG["dma"]["scatter_gather"] = True
    with pytest.raises(module.AcceleratorError, match="works through descriptors; use the C driver"):
        module.Accelerator(None)
