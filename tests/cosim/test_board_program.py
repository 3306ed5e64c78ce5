"""Programs that other tools built: the processing system around the CPU, exceptions, interrupts, their end.

The programs of ``board/`` know nothing of Axiloom; QEMU's xilinx-zynq-a9 runs them, too.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from axiloom import boards
from axiloom.base.errors import DriverError
from axiloom.cli import main
from axiloom.cosim.board_program import NOBODY, Terminal
from axiloom.cosim.core import Core

HERE = Path(__file__).parent / "board"
BOARD = boards.load(boards.DEFAULT)
QEMU = "qemu-system-arm"


def line(comment: str, file: str = "ends.c") -> int:
    """Where the comment stands."""
    text = (HERE / file).read_text().splitlines()
    return next(number for number, row in enumerate(text, 1) if f"/* {comment} */" in row)


def build(folder: Path, name: str, *flags: str) -> Path:
    elf = folder / f"{name}.elf"
    target = (
        *BOARD.host.bare.flags,
        "-mfpu=vfpv3",
        "-ffreestanding",
        "-nostdlib",
        "-O1",
        "-g",
        "-fno-sanitize=all",
    )
    sources = [HERE / "start.S", HERE / f"{name}.c"]
    script = ("-Wl,-T," + str(HERE / "link.ld"), "-Wl,--build-id=none")
    command = [
        sys.executable,
        "-m",
        "ziglang",
        "cc",
        *target,
        *flags,
        *map(str, sources),
        *script,
        "-o",
        str(elf),
    ]
    subprocess.run(command, check=True, capture_output=True)
    return elf


def run(elf: Path, terminal: Terminal = NOBODY) -> Core:
    core = Core(BOARD)
    core.begin(elf, terminal=terminal)
    core.run()
    return core


TIMERS = "timers\nticks 5\nsoftware 1\nnested 1\ndeepest 2\ntriple 3\nwaited 1\npending 1\n"
EXCEPTIONS = (
    "exceptions\nload at 805306368\nstatus 5\nstore at 3221225536\nstatus 2053\n"
    f"jump to {0x90000000}\nstatus 5\n"
    "undefined 1\ncalls 2\neighths 8\n"
)


def test_interrupts_and_timers(tmp_path: Path) -> None:
    core = run(build(tmp_path, "timers"))
    assert (core.console, core.state.exit_code, core.notes()) == (TIMERS, 0, [])
    # 2^30 ticks of the global timer, in which hardly anything runs.
    assert 1 << 31 < core.counters()["cpu-cycles"] < 1.06 * (1 << 31)
    assert core.counters()["instructions"] < 2_000_000


def test_exceptions_in_the_program_s_own_handlers(tmp_path: Path) -> None:
    core = run(build(tmp_path, "exceptions"))
    assert (core.console, core.state.exit_code) == (EXCEPTIONS, 7)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (0, f"ends.c:{line('the load')}: load of 0x30000000 at pc"),
        (1, "a false assertion at ends.c:4711"),
    ],
)
def test_a_crash_is_told_by_its_cause(tmp_path: Path, how: int, message: str) -> None:
    with pytest.raises(DriverError) as error:
        run(build(tmp_path, "ends", f"-DHOW={how}"))
    assert message in str(error.value)


def test_a_loop_that_nothing_ends_is_the_end(tmp_path: Path) -> None:
    core = run(build(tmp_path, "ends", "-DHOW=2"))
    assert core.state.exit_code == 0
    assert len(core.notes()) == 1
    assert f"ends.c:{line('the loop')}: the program ends here" in core.notes()[0]


def test_a_program_that_goes_on_is_limited_by_the_board_s_time(tmp_path: Path) -> None:
    with pytest.raises(DriverError, match=r"after 20 ms of the board's time"):
        run(build(tmp_path, "ends", "-DHOW=3"), Terminal(limit_s=0.02))


def test_an_unknown_register_is_storage_with_a_note(tmp_path: Path) -> None:
    core = run(build(tmp_path, "ends", "-DHOW=4"))
    assert core.console == "begins\nregister 4\nlatency 289\n"
    assert [note.split(":")[:2] for note in core.notes()] == [["ends.c", str(line("the register"))]]


def test_what_is_typed_comes_to_the_uart(tmp_path: Path) -> None:
    elf = build(tmp_path, "ends", "-DHOW=5")
    assert run(elf, Terminal(b"ping\r")).console == "begins\nping\r"
    assert run(elf, Terminal(b"ping\rpong\r", until="po")).console == "begins\nping\rpo"


@pytest.mark.parametrize(
    ("how", "code", "message"),
    [
        (0, 0, ""),
        (1, 9, f"missing flush: the DMA, started by dma.c:{line('the start', 'dma.c')}, read old bytes"),
        (2, 9, f"missing invalidate: dma.c:{line('the sum', 'dma.c')} read old bytes 0 to 252 of out"),
        (3, 7, f"dma.c:{line('the start', 'dma.c')} writes 0x100 to MM2S_LENGTH"),
        (4, 6, f"the driver never wrote MM2S_LENGTH, so nothing was sent; .*dma.c:{line('a loop', 'dma.c')}"),
    ],
)
def test_its_mistakes_with_the_dma_are_told(
    tmp_path: Path, how: int, code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    elf = build(tmp_path, "dma", f"-DHOW={how}")
    assert main(["simulate", str(elf), "--accel", "loopback"]) == code
    assert re.search(message, capsys.readouterr().err)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which(QEMU) is None, reason=f"no {QEMU}: apt-get install qemu-system-arm")
@pytest.mark.parametrize(("name", "text"), [("timers", TIMERS), ("exceptions", EXCEPTIONS)])
def test_qemu_prints_the_same(tmp_path: Path, name: str, text: str) -> None:
    elf = build(tmp_path, name, "-DENABLE_UART")
    out = tmp_path / "uart.txt"
    options = (
        "-M",
        "xilinx-zynq-a9",
        "-m",
        "512",
        "-display",
        "none",
        "-monitor",
        "none",
        "-kernel",
        str(elf),
    )
    process = subprocess.Popen([QEMU, *options, "-serial", f"file:{out}"])
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        pass
    finally:
        process.kill()
    assert out.read_text() == text
