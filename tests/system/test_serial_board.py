"""A driver on this machine, its accelerator behind a serial line: the board's own Verilog in simulation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from axiloom import drivergen, isa
from axiloom.base.errors import DriverError, UsageError
from axiloom.boards.ulx3s_design import TOP, Design
from axiloom.cli import main
from axiloom.cosim import serial_board
from axiloom.cosim.serial_board import SimulatedBoard
from axiloom.remote.serial_host import Bridge, SerialPort
from axiloom.remote.serial_run import run_problem


def program(design: Design) -> Path:
    models = (serial_board.MODELS.name, serial_board.MODELS.read_text(encoding="utf-8"))
    return serial_board.build((*design.sources, models), TOP)


@pytest.fixture(scope="module")
def bridge() -> Any:
    design = Design(isa.builtin("v1", 4))
    with (
        SimulatedBoard(program(design), design.divisor) as board,
        SerialPort(board.port, design.baud) as port,
    ):
        yield Bridge(port)


@pytest.mark.slow
def test_the_board_says_which_one_it_is(bridge: Bridge) -> None:
    assert bridge.check(isa.builtin("v1", 4)) == 50_000_000
    with pytest.raises(DriverError, match="the board was built for another specification than v2_4"):
        bridge.check(isa.builtin("v2", 4))


@pytest.mark.slow
def test_registers_of_the_dma(bridge: Bridge) -> None:
    bridge.write(0x40400000, [1])  # MM2S_DMACR: run
    assert bridge.read(0x40400000, 1)[0] & 1
    assert bridge.read(0x40400004, 1)[0] & 1 == 0  # MM2S_DMASR: not halted any more


@pytest.mark.slow
def test_an_address_of_nothing(bridge: Bridge) -> None:
    with pytest.raises(
        DriverError, match=r"read of 2 words at 0x50000000: DECERR: nothing is at this address"
    ):
        bridge.read(0x50000000, 2)
    with pytest.raises(DriverError, match="write of 1 words at 0x50000000: DECERR"):
        bridge.write(0x50000000, [1])


@pytest.mark.slow
def test_an_unfinished_command_of_an_earlier_host_is_forgotten(bridge: Bridge) -> None:
    bridge._port.write(b"R\0\0")
    again = Bridge(bridge._port)
    assert again.check(isa.builtin("v1", 4)) == 50_000_000


def test_a_port_that_is_not_there() -> None:
    with pytest.raises(UsageError, match="no-such-port: no serial port that can be opened"):
        SerialPort("no-such-port", 1_000_000)
    with pytest.raises(UsageError, match="no serial speed of 1234567 baud"):
        SerialPort("no-such-port", 1_234_567)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("accelerator", "size", "problem"),
    [
        ("v1", 4, "matmul:8x4x8:int32"),
        pytest.param("v3", 8, "matmul:24x16x24:int32", marks=pytest.mark.slow),
        pytest.param("v4", 16, "matmul:32x32x32:int8", marks=pytest.mark.slow),
    ],
)
def test_a_generated_driver_is_right_and_takes_the_same_cycles_again(
    accelerator: str, size: int, problem: str, tmp_path: Path
) -> None:
    parsed = drivergen.parse_workload(problem)
    spec = isa.builtin(accelerator, size, parsed.dtype)
    first, expected = run_problem(parsed.mlir, spec, tmp_path, name=problem)
    second, _ = run_problem(parsed.mlir, spec, tmp_path, name=problem)
    for symbol, want in expected.items():
        np.testing.assert_array_equal(first.outputs[symbol], want)
        np.testing.assert_array_equal(second.outputs[symbol], want)
    assert first.cycles == second.cycles


@pytest.mark.slow
def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    common = ["--accel", "v1_4", "--board", "ulx3s"]
    assert main(["run", "matmul:4x4x4", *common]) == 0
    assert "16 elements, all right" in capsys.readouterr().out
    assert main(["run", "matmul:4x4x4", *common, "--sim", "icarus", "--wait", "irq"]) == 2
    assert "axiloom serial run has no option `--sim`, which is of `axiloom run`" in capsys.readouterr().err
    assert main(["run", "matmul:4x4x4", *common, "--dma", "sg"]) == 3
    assert "scatterGather: descriptors would lie in the host's memory" in capsys.readouterr().err
