"""Programs that other tools built for a Zynq UltraScale+: as ``test_board_program`` for a Zynq-7000."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from axiloom import boards
from axiloom.base.errors import DriverError
from axiloom.cosim.core import Core

HERE = Path(__file__).parent / "board"
PARTS = HERE / "zynqmp"
QEMU = "qemu-system-aarch64"
TEXT = (PARTS / "timers.txt").read_text()


def build(folder: Path, *flags: str) -> Path:
    elf = folder / "timers.elf"
    target = ("-target", "aarch64-freestanding", "-mcpu=cortex_a53", "-ffreestanding", "-nostdlib")
    script = (f"-Wl,-T,{HERE / 'link.ld'}", "-Wl,--build-id=none")
    files = (str(PARTS / "start.S"), str(PARTS / "timers.c"), "-o", str(elf))
    command = [sys.executable, "-m", "ziglang", "cc", *target, "-O1", "-g", "-fno-sanitize=all", *flags]
    subprocess.run([*command, *files, *script], check=True, capture_output=True)
    return elf


@pytest.mark.parametrize("flags", [(), ("-DONLY_EL1",)], ids=["el3", "el1"])
def test_interrupts_timers_and_exceptions(tmp_path: Path, flags: tuple[str, ...]) -> None:
    core = Core(boards.load("zcu104"))
    core.begin(build(tmp_path, *flags))
    core.run()
    assert (core.console, core.state.exit_code, core.notes()) == (TEXT, 4, [])
    assert core.counters()["instructions"] < 1_000_000


def test_what_counts_does_so_at_its_own_clock(tmp_path: Path) -> None:
    core = Core(boards.load("zcu104"))
    core.begin(build(tmp_path, "-DRATES"))
    core.run()
    assert core.console == "timers\ntriple 100\ncounter 100\n"


def test_many_short_waits_jump_in_time(tmp_path: Path) -> None:
    core = Core(boards.load("zcu104"))
    core.begin(build(tmp_path, "-DWAITS"))
    core.run()
    assert core.counters()["instructions"] < 1_000_000  # 10 million without
    assert 24_000_000 < core.counters()["cpu-cycles"] < 24_300_000  # 20 ms


def test_a_crash_is_told_by_its_cause(tmp_path: Path) -> None:
    line = 1 + (PARTS / "timers.c").read_text().split("/* the load */")[0].count("\n")
    core = Core(boards.load("zcu104"))
    core.begin(build(tmp_path, "-DCRASH"))
    with pytest.raises(DriverError, match=rf"timers.c:{line}: load of 0x90000000 at pc"):
        core.run()


def test_a_soft_core_says_why_it_has_none(tmp_path: Path) -> None:
    elf = tmp_path / "timers.elf"
    soft = boards.load("nexys-video-rv32")
    target = (*soft.host.bare.flags, "-ffreestanding", "-nostdlib")
    source = tmp_path / "main.c"
    source.write_text("void _start(void) { while (1) continue; }\n")
    script = (f"-Wl,-T,{HERE / 'link.ld'}", "-Wl,--build-id=none")
    command = [sys.executable, "-m", "ziglang", "cc", *target, str(source), *script, "-o", str(elf)]
    subprocess.run(command, check=True, capture_output=True)
    with pytest.raises(DriverError, match=r"of such a core are the design's own, and none are simulated"):
        Core(soft).begin(elf)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which(QEMU) is None, reason=f"no {QEMU}: apt-get install qemu-system-arm")
def test_qemu_prints_the_same(tmp_path: Path) -> None:
    elf, out = build(tmp_path, "-DENABLE_UART"), tmp_path / "uart.txt"
    machine = ("-M", "xlnx-zcu102,secure=on", "-m", "512", "-display", "none", "-monitor", "none")
    command = [QEMU, *machine, "-device", f"loader,file={elf},cpu-num=0", "-serial", f"file:{out}"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and (not out.exists() or len(out.read_bytes()) < len(TEXT)):
            time.sleep(0.2)
        process.kill()
    assert out.read_text() == TEXT
