"""Programs on the vendor's API (``bsp/``, our own): what they print, and their mistakes by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from axiloom import boards, isa
from axiloom.base.errors import CompileError, DriverError, UsageError
from axiloom.cli import main
from axiloom.cosim.board_program import Terminal
from axiloom.cosim.build import bsp
from axiloom.cosim.build.user_code import CompileOptions
from axiloom.cosim.core import Core
from axiloom.cosim.job import Job, Result
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System
from axiloom.isa.contract.rtl import RtlPorts
from axiloom.isa.contract.types import DmaConfig

HERE = Path(__file__).parent / "bsp"
EXAMPLE = Path(__file__).parents[2] / "examples" / "vitis" / "main.c"
FIFO = isa.builtin("fifo")
RINGS = FIFO.replace(dma=DmaConfig(scatter_gather=True))
HELLO = """Hello World
-42 00042 beef 00C0FFEE x text| right|7   |%
3.142 0.001 -1099511627776
kept
svc #5 served
waited 2000 us
nested in tick 2
ticks 5, nested 1, sum right
number? 12 squared is 144
uart
"""


def compiled(folder: Path, name: str, system: System, *defines: str) -> Path:
    source = EXAMPLE if name == "main" else HERE / f"{name}.c"
    options = CompileOptions(defines, compiler=("-Wextra",), bsp=True)
    elf, warnings = system.compile_user([source], folder / f"{name}.elf", options)
    assert warnings == []
    return elf


def alone(folder: Path, *defines: str) -> Core:
    """Without an accelerator."""
    core = Core(boards.load(boards.DEFAULT))
    core.begin(compiled(folder, "hello", System(FIFO), *defines), terminal=Terminal(b"12\r"))
    core.run()
    return core


@pytest.fixture(scope="module")
def with_registers() -> Soc:
    soc = Soc(System(FIFO))
    soc.build()
    return soc


@pytest.fixture(scope="module")
def with_rings() -> Soc:
    soc = Soc(System(RINGS))
    soc.build()
    return soc


def ran(soc: Soc, folder: Path, name: str, *defines: str) -> Result:
    (result,) = soc.run_many([Job(compiled(folder, name, soc.system, *defines))], check=False)
    return result


def test_text_memory_time_and_nested_interrupts(tmp_path: Path) -> None:
    core = alone(tmp_path)
    assert (core.console.replace("\r\n", "\n"), core.state.exit_code, core.notes()) == (HELLO, 3, [])


@pytest.mark.slow
def test_cxx_has_its_library_and_exceptions(tmp_path: Path) -> None:
    options = CompileOptions(bsp=True)
    elf, _ = System(FIFO).compile_user([HERE / "objects.cpp"], tmp_path / "a.elf", options)
    core = Core(boards.load(boards.DEFAULT))
    core.begin(elf)
    core.run()
    lines = core.console.split()
    assert " ".join(lines) == ("begins global sorted 1 2 3 begins local ends local caught 5 ends global")
    assert core.state.exit_code == 0


def test_a_crash_is_told_by_its_line(tmp_path: Path) -> None:
    text = (HERE / "hello.c").read_text().splitlines()
    line = next(number for number, row in enumerate(text, 1) if "/* the load */" in row)
    with pytest.raises(DriverError, match=rf"hello\.c:{line}: load of 0x30000000"):
        alone(tmp_path, "CRASH=1")


@pytest.mark.parametrize("form", [(), ("SDT",)])
def test_simple_transfers_polled_and_by_interrupts(
    tmp_path: Path, with_registers: Soc, form: tuple[str, ...]
) -> None:
    result = ran(with_registers, tmp_path, "main", *form)
    assert (result.console, result.exit_code, result.stale) == ("4 rounds\r\n", 0, [])
    assert (result.notes, result.mistakes, result.fabric["words_in"]) == ([], [], 154)


@pytest.mark.parametrize(
    ("planted", "named"), [("NO_FLUSH", "missing flush"), ("NO_INVALIDATE", "missing invalidate")]
)
def test_a_missing_cache_call_is_stale_data(
    tmp_path: Path, with_registers: Soc, planted: str, named: str
) -> None:
    result = ran(with_registers, tmp_path, "main", f"{planted}=1")
    assert named in result.stale[0]
    assert "main.c:" in result.stale[0]
    assert ",," not in result.stale[0]


def test_rings(tmp_path: Path, with_rings: Soc) -> None:
    result = ran(with_rings, tmp_path, "rings")
    assert (result.console, result.exit_code) == ("8 descriptors, 1 turns\r\n", 0)
    assert (result.stale, result.mistakes, result.notes) == ([], [], [])
    assert "missing flush" in ran(with_rings, tmp_path, "rings", "NO_FLUSH=1").stale[0]


def test_rings_that_go_round(tmp_path: Path, with_rings: Soc) -> None:
    result = ran(with_rings, tmp_path, "rings", "CYCLIC=1")
    assert (result.console, result.exit_code) == ("8 descriptors, 3 turns\r\n", 0)
    assert result.mistakes == []
    assert result.fabric["words_out"] >= 3 * 128


def test_registers_of_a_user_s_module_have_their_drivers(tmp_path: Path) -> None:
    registers = {"ap_ctrl": 0, "factor": 0x10, "offset": 0x18}
    link = FIFO.replace(name="my_ip", rtl=RtlPorts(registers=registers))
    files = bsp.write(bsp.Devices(boards.load(boards.DEFAULT), (link,)), tmp_path)
    assert {"xmy_ip.h", "xmy_ip_hw.h", "my_ip.h"} <= {file.name for file in files}
    parameters = (tmp_path / "xparameters.h").read_text()
    assert "#define XPAR_XMY_IP_0_S_AXI_CONTROL_BASEADDR 0x40408000U" in parameters
    driver = (tmp_path / "xmy_ip.h").read_text()
    assert "XMy_ip_Start(XMy_ip *InstancePtr)" in driver
    assert "XMy_ip_Set_factor(XMy_ip *InstancePtr, u32 Data)" in driver
    assert "@" not in driver
    assert "#define XMY_IP_CONTROL_ADDR_FACTOR_DATA 0x10" in (tmp_path / "xmy_ip_hw.h").read_text()
    assert "#define MY_IP_S00_AXI_SLV_REG4_OFFSET 16" in (tmp_path / "my_ip.h").read_text()


def test_what_does_not_go_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="zcu104 has a Cortex-A53: take --board pynq-z2"):
        compiled(tmp_path, "hello", System(FIFO, board="zcu104"))
    absent = tmp_path / "absent.c"
    absent.write_text('#include "xgpio.h"\nint main(void) { return 0; }\n')
    with pytest.raises(CompileError, match=r"xgpio\.h: the simulated system has no AXI GPIO"):
        System(FIFO).compile_user([absent], tmp_path / "a.elf", CompileOptions(bsp=True))
    assert main(["simulate", str(absent), "--accel", "fifo"]) == 4
    assert "it is of Xilinx' standalone API: give --bsp" in capsys.readouterr().err
    assert main(["simulate", str(absent), "--accel", "fifo", "--bsp", "--wait", "irq"]) == 2
    assert "polls or sleeps by itself" in capsys.readouterr().err
    (tmp_path / "wrong.c").write_text("int main(void) { return lacks; }\n")
    with pytest.raises(CompileError, match="lacks"):
        System(FIFO).compile_user([tmp_path / "wrong.c"], tmp_path / "a.elf", CompileOptions(bsp=True))
