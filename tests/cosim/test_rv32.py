"""A RISC-V soft core on bare metal: counters, cache instructions, fixed attributes, what it refuses."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from axiloom import boards
from axiloom.base.errors import DriverError, UsageError
from axiloom.boards import Board, Region
from axiloom.boards.checks import check
from axiloom.cosim import elf
from axiloom.cosim.build.toolchain import compile_bare, compile_linux
from axiloom.cosim.core import Core, CpuRun, run_cpu

BOARD = boards.load("nexys-video-rv32")

PRELUDE = """
#include <stdint.h>
#define READ(csr) ({ uint32_t value; __asm__ volatile("csrr %0, " csr : "=r"(value)); value; })
volatile uint32_t out[8];
volatile uint32_t array[64] __attribute__((aligned(32)));
"""


def compiled(folder: Path, text: str, *flags: str) -> Path:
    source = folder / "program.c"
    source.write_text(PRELUDE + text)
    return compile_bare([source], folder / "program.elf", board=BOARD, flags=flags, opt="-O1")


def run(folder: Path, body: str, board: Board = BOARD, *flags: str) -> CpuRun:
    program = compiled(folder, f"int main(void) {{ {body} return 0; }}", *flags)
    return run_cpu(program, {}, {"out": ((8,), "uint32")}, board)


def test_counters_are_those_of_the_simulated_core(tmp_path: Path) -> None:
    """`cycle` and `time` are `mcycle`; `instret` counts instructions; upper halves are 0 until 42 s."""
    body = """
        out[0] = READ("mcycle"); out[1] = READ("minstret");
        for (volatile int i = 0; i < 10000; i++) {}
        out[2] = READ("cycle"); out[3] = READ("instret"); out[4] = READ("time");
        out[5] = READ("cycleh") | READ("mcycleh") | READ("timeh") | READ("instreth") | READ("minstreth");"""
    found = run(tmp_path, body)
    cycles, instructions = (int(x) for x in found.outputs["out"][2:4] - found.outputs["out"][0:2])
    assert cycles == pytest.approx(found.counters["cpu-cycles"], rel=0.02)
    assert instructions == pytest.approx(found.counters["instructions"], rel=0.02)
    assert int(found.outputs["out"][4]) - int(found.outputs["out"][2]) < 200
    assert found.outputs["out"][5] == 0


@pytest.mark.parametrize(
    ("operation", "misses", "written"), [("clean", 0, 1), ("flush", 1, 1), ("inval", 1, 0), (None, 0, 0)]
)
def test_cache_instructions(tmp_path: Path, operation: str | None, misses: int, written: int) -> None:
    """What the line's next load finds, and whether the dirty line went to memory."""
    text = f'__asm__ volatile("cbo.{operation} (%0)" :: "r"(&array[3]) : "memory");' if operation else ""
    body = "array[0] = 1; out[7] = 0; for (int i = 0; i < 2; i++) out[7] = 0; %s out[0] = array[0];"
    plain, found = run(tmp_path, body % ""), run(tmp_path, body % text)
    assert found.counters["cache-misses"] - plain.counters["cache-misses"] == misses
    assert found.events["writebacks"] - plain.events["writebacks"] == written
    assert found.events["maintenance"] == (operation is not None)
    assert found.outputs["out"][0] == 1  # caches are tags: nothing is ever lost


def test_fence_i_empties_the_instruction_cache(tmp_path: Path) -> None:
    body = 'out[0] = 0; for (volatile int i = 0; i < 10; i++) {{ __asm__ volatile("{0}" ::: "memory"); }}'
    with_fence, without = (run(tmp_path, body.format(text)) for text in ("fence.i", "fence"))
    assert with_fence.counters["L1-icache-load-misses"] >= without.counters["L1-icache-load-misses"] + 10


FAULTS = {
    '__asm__ volatile("sw zero, 2(%0)" :: "r"(array));': (
        r"store of 4 bytes to 0x\w+ \(array\+0x2\) at pc 0x\w+ \(main\S*\): this CPU takes aligned"
    ),
    '__asm__ volatile("lh t0, 1(%0)" :: "r"(array) : "t0");': r"load of 2 bytes from 0x\w+ \(array\+0x1\)",
    '__asm__ volatile(".word 0xFFFFFFFF");': r"undefined instruction at pc 0x\w+ \(main",
    '__asm__ volatile(".word 0x1005252f");': r"undefined instruction at pc 0x\w+ \(main",  # lr.w: no atomics
    '__asm__ volatile(".word 0x00052507");': r"undefined instruction at pc 0x\w+ \(main",  # flw: no floats
    '__asm__ volatile(".word 0x00014501");': r"undefined instruction at pc 0x\w+ \(main",  # c.li: compressed
    '__asm__ volatile(".word 0xC0001073");': r"undefined instruction at pc 0x\w+ \(main",  # writes `cycle`
    '__asm__ volatile("csrw mcycle, zero");': r"write to a counter at pc 0x\w+ \(main\S*\): the simul",
    '__asm__ volatile("ecall");': r"exception 11 at pc 0x\w+ \(main\S*\): the program has no handlers here",
    '__asm__ volatile("wfi");': r"WFI in a run without an accelerator",
}


@pytest.mark.parametrize("body", FAULTS)
def test_faults(tmp_path: Path, body: str) -> None:
    with pytest.raises(DriverError, match=FAULTS[body]):
        run(tmp_path, body)


def test_a_fault_is_at_its_instruction(tmp_path: Path) -> None:
    """Not behind it, where the engine's PC is."""
    text = '__attribute__((naked)) void wrong(void) { __asm__("nop\\n.global here\\nhere: .word 0\\nret"); }'
    program = compiled(tmp_path, f"{text} int main(void) {{ wrong(); return 0; }}")
    at = elf.load(program).symbol("here").address
    with pytest.raises(DriverError, match=f"undefined instruction at pc 0x{at:08X} "):
        run_cpu(program, {}, {}, BOARD)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("flags", "what"),
    [
        (["-mcpu=generic_rv32+m+c+zicbom"], "compressed instructions"),
        (["-mcpu=generic_rv32+m+f+zicbom", "-mabi=ilp32f"], "floating point in registers"),
    ],
)
def test_programs_for_a_larger_core_are_refused(tmp_path: Path, flags: list[str], what: str) -> None:
    program = compiled(tmp_path, "int main(void) { return 0; }", *flags)
    with pytest.raises(DriverError, match=rf"program\.elf: the program needs {what}, which RV32IM soft core"):
        elf.load(program)


def test_no_linux(tmp_path: Path) -> None:
    source = tmp_path / "main.c"
    source.write_text("void __libc_start_main(void) {} int main(void) { return 0; }")
    with pytest.raises(UsageError, match=r"^no Linux programs run on RV32IM soft core \(riscv32\)"):
        compile_linux([source], tmp_path / "main.elf", board=BOARD)
    program = compile_bare([source], tmp_path / "main.elf", board=BOARD, flags=["-Wl,-u,__libc_start_main"])
    with pytest.raises(
        DriverError, match=r"main\.elf is a Linux program; RV32IM soft core .* bare metal only"
    ):
        Core(BOARD).begin(program)


UNCACHED = """
    __attribute__((section(".axl_uncached"))) volatile uint32_t far[64];
    int main(void) { for (int i = 0; i < 64; i++) out[0] += far[i] + array[i]; return 0; }"""


def test_the_profile_says_what_is_cached(tmp_path: Path) -> None:
    """Only that: the same program caches all without its regions, and nothing where they are everything."""
    program = compiled(tmp_path, UNCACHED)
    all_ram = (Region(0, BOARD.ram_bytes),)
    loads = [
        run_cpu(program, {}, {}, replace(BOARD, uncached_memory=regions)).events["uncached_loads"]
        for regions in (BOARD.uncached_memory, (), all_ram)
    ]
    assert loads[0] == 64
    assert loads[1] == 0
    assert loads[2] >= 3 * 64


@pytest.mark.parametrize(
    ("caches", "regions", "message"),
    [
        (
            {"l2_size": 65536, "l2_ways": 4},
            (),
            "l2_size and l2_ways must be 0: RV32IM soft core .* no second",
        ),
        ({"l1d_ways": 3}, (), "caches.l1d_size and l1d_ways must be powers of two"),
        (
            {},
            (Region(0x1000, 1 << 20),),
            "a region must be whole MiB of RAM, not 1,048,576 bytes at 0x00001000",
        ),
        ({}, (Region(0, 0),), "a region must be whole MiB of RAM, not 0 bytes"),
        ({}, (Region(0x1FF0_0000, 2 << 20),), "a region must be whole MiB of RAM, not 2,097,152 bytes"),
        ({}, (Region(0, 1 << 20),) * 9, "at most 8 regions, not 9"),
    ],
)
def test_profiles_that_no_such_core_has(
    caches: dict[str, int], regions: tuple[Region, ...], message: str
) -> None:
    board = replace(BOARD, caches=replace(BOARD.caches, **caches), uncached_memory=regions)
    with pytest.raises(UsageError, match=f"^mine: .*{message}"):
        check(asdict(board), "mine")


def test_regions_are_tables(tmp_path: Path) -> None:
    text = (Path(boards.__file__).parent / "nexys-video-rv32" / "profile.toml").read_text()
    profile = tmp_path / "profile.toml"
    profile.write_text(text.replace("bytes = 0x0110_0000", "size = 0x0110_0000"))
    with pytest.raises(UsageError, match="uncached_memory: bytes is missing, size is unknown"):
        boards.load(profile)
    profile.write_text("uncached_memory = 3\n" + text.split("[[uncached_memory]]")[0])
    with pytest.raises(
        UsageError, match=r"uncached_memory must be tables \(\[\[uncached_memory\]\]\), not 3"
    ):
        boards.load(profile)
