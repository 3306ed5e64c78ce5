"""Programs that other tools built: the processing system around the CPU, exceptions, interrupts, their end.

The programs of ``board/`` know nothing of Axiloom; QEMU's xilinx-zynq-a9 runs them, too.
"""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from axiloom import boards
from axiloom.base.errors import DriverError
from axiloom.cli import main
from axiloom.cosim.board_program import NOBODY, Terminal
from axiloom.cosim.core import Core
from axiloom.cosim.soc import Soc

HERE = Path(__file__).parent / "board"
BOARD = boards.load(boards.DEFAULT)
QEMU = "qemu-system-arm"
KERNEL = "FREERTOS_KERNEL_PATH"
"""The variable that FreeRTOS' own build files look at."""


def line(comment: str, file: str = "ends.c") -> int:
    """Where the comment stands."""
    text = (HERE / file).read_text().splitlines()
    return next(number for number, row in enumerate(text, 1) if f"/* {comment} */" in row)


def build(folder: Path, sources: Sequence[Path], *flags: str) -> Path:
    elf = folder / f"{sources[0].stem}.elf"
    target = (*BOARD.host.bare.flags, "-mfpu=vfpv3", "-ffreestanding", "-nostdlib", "-fno-sanitize=all")
    script = (f"-Wl,-T,{HERE / 'link.ld'}", "-Wl,--build-id=none")
    files = [str(HERE / "start.S"), *map(str, sources), "-o", str(elf)]
    command = [sys.executable, "-m", "ziglang", "cc", *target, "-O1", "-g", *flags, *files, *script]
    subprocess.run(command, check=True, capture_output=True)
    return elf


def freertos() -> tuple[list[Path], list[str]]:
    """Two tasks under FreeRTOS: sources and flags; skips where nobody has its sources."""
    if not os.environ.get(KERNEL):
        pytest.skip(f"{KERNEL} names no checkout of FreeRTOS-Kernel")
    kernel = Path(os.environ[KERNEL])
    port = kernel / "portable" / "GCC" / "ARM_CA9"
    own = HERE / "freertos"
    sources = [own / "tasks_two.c", *(kernel / name for name in ("tasks.c", "queue.c", "list.c"))]
    sources += [port / "port.c", port / "portASM.S", kernel / "portable" / "MemMang" / "heap_4.c"]
    flags = [f"-I{folder}" for folder in (own, kernel / "include", port)]
    return sources, [*flags, "-DON_IRQ=FreeRTOS_IRQ_Handler", "-DON_CALL=FreeRTOS_SWI_Handler"]


def parts(name: str) -> tuple[list[Path], list[str]]:
    return freertos() if name == "freertos/tasks_two" else ([HERE / f"{name}.c"], [])


def run(elf: Path, terminal: Terminal = NOBODY) -> Core:
    core = Core(BOARD)
    core.begin(elf, terminal=terminal)
    core.run()
    return core


def ends(folder: Path, how: int) -> Path:
    return build(folder, [HERE / "ends.c"], f"-DHOW={how}")


PROGRAMS = {"timers": 0, "nesting": 0, "exceptions": 7, "caches": 0, "freertos/tasks_two": 3}
"""That print what their .txt has, with the status they end with."""


@pytest.mark.parametrize(("name", "status"), PROGRAMS.items())
def test_a_program_prints_what_it_does_on_a_board(tmp_path: Path, name: str, status: int) -> None:
    sources, flags = parts(name)
    core = run(build(tmp_path, sources, *flags))
    text = (HERE / f"{name}.txt").read_text()
    assert (core.console, core.state.exit_code, core.notes()) == (text, status, [])


def test_pins_system_watchdog_and_converter(tmp_path: Path) -> None:
    """QEMU's board has none of them."""
    core = run(build(tmp_path, [HERE / "devices.c"]))
    assert core.console == (HERE / "devices.txt").read_text()
    assert (core.state.exit_code, core.notes()) == (0, [])
    assert core.counters()["instructions"] < 200_000  # waits for the watchdog's status jump, too
    with pytest.raises(DriverError, match="the system watchdog resets the board: nobody has restarted it"):
        run(build(tmp_path, [HERE / "devices.c"], "-DRESETS"))


def test_time_that_a_program_waits_takes_hardly_any(tmp_path: Path) -> None:
    core = run(build(tmp_path, [HERE / "timers.c"]))
    # 2^30 ticks of the global timer.
    assert 1 << 31 < core.counters()["cpu-cycles"] < 1.06 * (1 << 31)
    assert core.counters()["instructions"] < 2_000_000


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (0, f"ends.c:{line('the load')}: load of 0x30000000 at pc"),
        (1, "a false assertion at ends.c:4711"),
    ],
)
def test_a_crash_is_told_by_its_cause(tmp_path: Path, how: int, message: str) -> None:
    with pytest.raises(DriverError) as error:
        run(ends(tmp_path, how))
    assert message in str(error.value)


def test_a_loop_that_nothing_ends_is_the_end(tmp_path: Path) -> None:
    core = run(ends(tmp_path, 2))
    assert core.state.exit_code == 0
    assert len(core.notes()) == 1
    assert f"ends.c:{line('the loop')}: the program ends here" in core.notes()[0]


def test_a_program_that_goes_on_is_limited_by_the_board_s_time(tmp_path: Path) -> None:
    with pytest.raises(DriverError, match=r"after 20 ms of the board's time"):
        run(ends(tmp_path, 3), Terminal(limit_s=0.02))


def test_an_unknown_register_is_storage_with_a_note(tmp_path: Path) -> None:
    core = run(ends(tmp_path, 4))
    assert core.console == "begins\nregister 4\nlatency 289\n"
    assert [note.split(":")[:2] for note in core.notes()] == [["ends.c", str(line("the register"))]]


def test_what_is_typed_comes_to_the_uart(tmp_path: Path) -> None:
    elf = ends(tmp_path, 5)
    assert run(elf, Terminal(b"ping\r")).console == "begins\nping\r"
    assert run(elf, Terminal(b"ping\rpong\r", until="po")).console == "begins\nping\rpo"


def answers(reads: int, prints: int) -> str:
    """All that is printed to `reads`; a person at `prints` answers the question when it is there."""
    text = b""
    while b"name? " not in text:
        text += os.read(reads, 100)
    os.write(prints, b"Bob\r")
    with suppress(OSError):  # the other side of a terminal is closed
        while more := os.read(reads, 1000):
            text += more
    return text.decode().replace("\r\n", "\n")


PORTS = "name? Bob\nhello \n[UART1] a second port\nBob\n[UART1] half a line\n[UART1] the last\n"


def test_what_it_does_not_take_is_refused_before_anything_is_built(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def build(*_: object, **__: object) -> None:
        pytest.fail("the hardware is built")

    monkeypatch.setattr(Soc, "build", build)
    driver, elf = tmp_path / "main.c", ends(tmp_path, 0)
    driver.write_text("int main(void) { return 0; }\n")
    assert main(["simulate", str(driver), "--accel", "v3", "--until", "x"]) == 2
    assert "--until is for an ELF file that other tools built" in capsys.readouterr().err
    assert main(["simulate", str(elf), "--accel", "v3", "--input", str(tmp_path / "absent")]) == 2
    assert "absent: No such file" in capsys.readouterr().err


def test_a_person_types_while_it_runs(tmp_path: Path) -> None:
    elf = build(tmp_path, [HERE / "ports.c"])
    asks, answer = os.pipe(), os.pipe()
    with ThreadPoolExecutor(1) as pool:
        person = pool.submit(answers, asks[0], answer[1])
        core = run(elf, Terminal(reads=answer[0], prints=asks[1]))
        console = core.console
        os.close(asks[1])
        assert person.result() == console == PORTS
    assert (core.state.exit_code, core.taken) == (3, b"Bob\r")
    # Nobody looks on, and the program is given the same.
    assert run(elf, Terminal().again(core.taken)).console == PORTS


def test_a_program_that_waits_for_nobody_ends(tmp_path: Path) -> None:
    core = run(build(tmp_path, [HERE / "ports.c"]), Terminal(b"Bo"))
    assert "ports.c:" in core.notes()[0]
    assert "it waits for input, and there is no more" in core.notes()[0]


@pytest.mark.slow
def test_our_terminal_is_the_board_s(tmp_path: Path) -> None:
    elf = build(tmp_path, [HERE / "ports.c"])
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "axiloom", "simulate", str(elf), "--accel", "loopback"]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE) as process:
        os.close(theirs)
        text = answers(ours, ours)
    assert text.startswith(PORTS)  # not echoed by the terminal, too
    assert process.returncode == 7  # main returns 3


@pytest.mark.parametrize(
    ("how", "code", "message"),
    [
        (0, 0, ""),
        (1, 9, f"missing flush: the DMA, started by dma.c:{line('the start', 'dma.c')}, read old bytes"),
        (2, 9, f"missing invalidate: dma.c:{line('the sum', 'dma.c')} read old bytes 0 to 252 of out"),
        (3, 7, f"dma.c:{line('the start', 'dma.c')} writes 0x100 to MM2S_LENGTH"),
        (
            4,
            6,
            "stopped after 1,...,... fabric cycles: .*the driver never wrote MM2S_LENGTH, so nothing was "
            f"sent; .*dma.c:{line('a loop', 'dma.c')}",
        ),
    ],
)
def test_its_mistakes_with_the_dma_are_told(
    tmp_path: Path, how: int, code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    elf = build(tmp_path, [HERE / "dma.c"], f"-DHOW={how}")
    assert main(["simulate", str(elf), "--accel", "loopback"]) == code
    assert re.search(message, capsys.readouterr().err)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which(QEMU) is None, reason=f"no {QEMU}: apt-get install qemu-system-arm")
@pytest.mark.parametrize("name", PROGRAMS)
def test_qemu_prints_the_same(tmp_path: Path, name: str) -> None:
    sources, flags = parts(name)
    elf = build(tmp_path, sources, *flags, "-DENABLE_UART")
    out = tmp_path / "uart.txt"
    machine = ("-M", "xilinx-zynq-a9", "-m", "512", "-display", "none", "-monitor", "none")
    with subprocess.Popen([QEMU, *machine, "-kernel", str(elf), "-serial", f"file:{out}"]) as process:
        text, deadline = (HERE / f"{name}.txt").read_text(), time.monotonic() + 60
        while time.monotonic() < deadline and (not out.exists() or len(out.read_bytes()) < len(text)):
            time.sleep(0.2)
        process.kill()
    assert out.read_text() == text
