"""A Cortex-A53 on bare metal: start-up, attributes of memory, cache lines, its clock, programs that fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from axiloom import boards
from axiloom.base.errors import DriverError
from axiloom.cosim.build.toolchain import compile_bare
from axiloom.cosim.core import Core, CpuRun, run_cpu

A9, A53 = boards.load("pynq-z2"), boards.load("zcu104")


def run(folder: Path, text: str, shape: tuple[int, ...] = (4,), board: boards.Board = A53) -> CpuRun:
    source = folder / "program.c"
    source.write_text(f'#include <string.h>\n#include "axiloom.h"\n{text}')
    elf = compile_bare([source], folder / f"{board.name}.elf", board=board)
    return run_cpu(elf, {}, {"out": (shape, "int32")}, board)


def test_start_up(tmp_path: Path) -> None:
    """Caches, SIMD, unaligned accesses of normal memory, and the system counter in the runtime's ticks."""
    ran = run(
        tmp_path,
        """
        int32_t out[4];
        volatile float half = 0.5f;
        volatile char bytes[16] = {1, 2, 3, 4, 5};
        int main(void) {
            const uint64_t begin = axl_timer();
            for (volatile int i = 0; i < 10000; i++)
                out[0] = (int32_t)(half * 5.0f);
            const uint64_t ticks = axl_timer() - begin;
            memcpy(&out[1], (const char *)bytes + 1, 4);
            uint64_t level;
            __asm__ volatile("mrs %0, CurrentEL" : "=r"(level));
            out[2] = (int32_t)level >> 2;
            out[3] = (int32_t)ticks;
            return 0;
        }""",
    )
    assert ran.exit_code == 0
    assert ran.outputs["out"][:3].tolist() == [2, 0x05040302, 1]
    assert ran.outputs["out"][3] == pytest.approx(ran.counters["cpu-cycles"] / 2, rel=0.05)
    # Start-up asks for the program's own lines.
    assert ran.counters["cache-misses"] < 40 < 10000 < ran.counters["L1-dcache-loads"]


LINES = """
    int32_t out[1];
    char array[8192] __attribute__((aligned(64)));
    int main(void) {
        for (int i = 0; i < 8192; i += 32)
            out[0] += *(volatile char *)&array[i];
        return 0;
    }"""


def test_lines_are_the_cpu_s(tmp_path: Path) -> None:
    """A read every 32 bytes misses each time on a Cortex-A9, every second time on a Cortex-A53."""
    misses = [run(tmp_path, LINES, (1,), board).counters["L1-dcache-load-misses"] for board in (A9, A53)]
    assert [round(number / 128) for number in misses] == [2, 1]


def test_memory_mapped_uncached(tmp_path: Path) -> None:
    """In blocks of 2 MiB; what was stored before is found."""
    ran = run(
        tmp_path,
        """
        void axl_map_uncached(uintptr_t address, uint32_t bytes);
        int32_t out[4];
        int main(void) {
            volatile int32_t *const window = (int32_t *)0x16000000;
            window[0] = 5;
            axl_map_uncached(0x16000000, 4096);
            for (int i = 0; i < 100; i++)
                out[0] += window[0];
            return 0;
        }""",
    )
    assert ran.outputs["out"][0] == 500
    assert ran.events["uncached_loads"] == pytest.approx(100, abs=10)
    assert ran.counters["L1-dcache-loads"] < ran.events["uncached_loads"] + 500


FAULTS = {
    # The timer of a Zynq-7000.
    "*(volatile int *)0xF8F00200 = 1;": r"store to 0xF8F00200 at pc 0x\w+ \(main.*\): nothing is mapped",
    "extern uint64_t axl_block_table[]; axl_block_table[8] += 1 << 21;"
    '__asm__ volatile("tlbi vmalle1\\n\\tisb"); for (volatile int i = 0; i < 9; i++) {}': (
        "the tables of the MMU do not map 0x01000000 to itself at pc .*: only flat ones are simulated"
    ),
    "extern uint64_t axl_block_table[]; axl_block_table[0] += 0x20000000;"
    '__asm__ volatile("tlbi vmalle1\\n\\tisb"); for (volatile int i = 0; i < 9; i++) {}': (
        "the tables of the MMU do not map 0x00000000 to itself at pc .*: only flat ones are simulated"
    ),
}


@pytest.mark.parametrize("body", FAULTS)
def test_faults(tmp_path: Path, body: str) -> None:
    with pytest.raises(DriverError, match=FAULTS[body]):
        run(tmp_path, f"int32_t out[4]; int main(void) {{ {body} return 0; }}")


def test_programs_go_with_their_cpu(tmp_path: Path) -> None:
    source = tmp_path / "main.c"
    source.write_text("int main(void) { return 0; }")
    elf = compile_bare([source], tmp_path / "main.elf", board=A53)
    with pytest.raises(DriverError, match=r"main\.elf is for aarch64; the CPU of pynq-z2 is armv7"):
        Core(A9).begin(elf)
