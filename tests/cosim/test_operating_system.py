"""What an operating system's costs do to the counters: system calls, page faults, start, names of events."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from axiloom import boards
from axiloom.base.errors import DriverError
from axiloom.boards import Board, Events, Os, OsCost
from axiloom.cosim.build.toolchain import compile_bare
from axiloom.cosim.core import CpuRun, run_cpu

BARE = boards.load("pynq-z2")
NOTHING = OsCost(0, 0, 0, 0, 0)
QUIET = replace(BARE, os=Os(NOTHING, NOTHING, NOTHING))

CALL = """
static long call(long number) {
    register long r7 __asm__("r7") = number, r0 __asm__("r0") = 99;
    __asm__ volatile("svc 0" : "+r"(r0) : "r"(r7) : "memory");
    return r0;
}
"""


def run(folder: Path, main: str, board: Board, head: str = CALL) -> CpuRun:
    source = folder / "program.c"
    source.write_text(f"{head}\nint main(void) {{ {main} }}")
    elf = compile_bare([source], folder / "program.elf", board=board, flags=["-Wno-unused-function"])
    return run_cpu(elf, {}, {}, board)


def linux(**costs: OsCost) -> Board:
    return replace(BARE, os=replace(QUIET.os, **costs))


def test_system_call_is_charged_and_returns_zero(tmp_path: Path) -> None:
    main = "long sum = 0; for (int i = 0; i < 5; i++) sum += call(144); return sum != 0;"
    without = run(tmp_path, main, QUIET)
    charged = run(tmp_path, main, linux(syscall=OsCost(1000, 70, 30, 20, 10)))
    assert without.events["syscalls"] == charged.events["syscalls"] == 5
    assert difference(charged, without) == {
        "cpu-cycles": 5000,
        "instructions": 350,
        "L1-dcache-loads": 150,
        "L1-dcache-stores": 100,
        "cache-references": 250,
        "branch-instructions": 50,
    }


def test_start_is_charged_once(tmp_path: Path) -> None:
    without = run(tmp_path, "return 0;", QUIET)
    charged = run(tmp_path, "return 0;", linux(start=OsCost(650_000, 5, 4, 3, 2)))
    assert difference(charged, without)["cpu-cycles"] == 650_000
    assert charged.counters["task-clock"] - without.counters["task-clock"] == pytest.approx(1e6, abs=2)


def test_page_faults_are_pages_touched(tmp_path: Path) -> None:
    head = '__attribute__((aligned(4096), section(".noinit"))) volatile char pages[64 * 4096];'
    main = "for (int i = 0; i < {} * 4096; i += 512) pages[i] = 1; return 0;"
    costs = linux(page_fault=OsCost(3000, 0, 0, 0, 0))
    few, many = (run(tmp_path, main.format(n), costs, head) for n in (3, 40))
    assert many.events["page_faults"] - few.events["page_faults"] == 37
    free = run(tmp_path, main.format(40), QUIET, head)
    assert difference(many, free) == {"cpu-cycles": 3000 * many.events["page_faults"]}


def test_bare_metal_has_no_pages(tmp_path: Path) -> None:
    assert run(tmp_path, "return 0;", BARE).events["page_faults"] == 0


def test_unknown_system_call(tmp_path: Path) -> None:
    with pytest.raises(DriverError, match=r"system call 4 before pc .*: only msync \(144\) is simulated"):
        run(tmp_path, "return (int)call(4);", QUIET)


def test_one_event_for_all_accesses(tmp_path: Path) -> None:
    main = "volatile int x = 0; for (int i = 0; i < 100; i++) x++; return 0;"
    apart = run(tmp_path, main, BARE).counters
    both = run(tmp_path, main, replace(BARE, events=Events("accesses", False))).counters
    assert both["L1-dcache-loads"] == both["L1-dcache-stores"] == both["cache-references"]
    assert both["cache-references"] == apart["cache-references"]
    assert apart["L1-dcache-loads"] != apart["L1-dcache-stores"]


def test_executed_classes_add_up(tmp_path: Path) -> None:
    counted = run(tmp_path, "return 0;", BARE)
    executed = {
        name: counted.events[f"executed_{name}"]
        for name in ("alu", "mul", "load", "store", "multiple", "branch", "vfp", "neon", "system")
    }
    assert sum(executed.values()) == counted.counters["instructions"]  # no NEON of several passes here


def difference(a: CpuRun, b: CpuRun) -> dict[str, int]:
    """Counters that differ; task-clock follows from the cycles."""
    return {
        name: value - b.counters[name]
        for name, value in a.counters.items()
        if value != b.counters[name] and name != "task-clock"
    }


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("instruction", "passes"),
    [
        ("vadd.i32 q0, q1, q2", 1),
        ("vadd.i32 d0, d1, d2", 1),
        ("vmla.i32 d0, d1, d2", 2),
        ("vmla.i32 q0, q1, q2", 4),
        ("vmla.i16 q0, q1, q2", 2),
        ("vmla.i8 d0, d1, d2", 1),
        ("vmul.i32 q0, q1, q2", 4),
        ("vmla.i32 q0, q1, d4[0]", 4),
        ("vmul.i32 d0, d1, d4[1]", 2),
        ("vmla.i16 q0, q1, d4[2]", 2),
        ("vmlal.s16 q0, d2, d3", 1),
        ("vmlal.s8 q0, d2, d3", 1),
        ("vmull.s32 q0, d2, d3", 2),
        ("vmlal.s16 q0, d2, d4[1]", 1),
        ("vmlal.s32 q0, d2, d4[1]", 2),
        ("vadd.f32 q0, q1, q2", 2),
        ("vmla.f32 d0, d1, d2", 1),
        ("vmla.f32 q0, q1, d4[0]", 2),
        ("vmla.f32 d0, d1, d4[0]", 1),
        ("vpadd.i32 d0, d1, d2", 1),
        ("vaddl.s16 q0, d2, d3", 1),
        ("vext.8 q0, q1, q2, #4", 1),
        ("vmov.i32 q0, #0", 1),
    ],
)
def test_neon_passes(tmp_path: Path, instruction: str, passes: int) -> None:
    def executed(body: str) -> int:
        source = tmp_path / "neon.S"
        source.write_text(f".fpu neon\n.text\n.global main\nmain:\n{body}\nmov r0, #0\nbx lr\n")
        elf = compile_bare([source], tmp_path / "neon.elf", board=BARE)
        return run_cpu(elf, {}, {}, BARE).events["executed_neon"]

    assert executed(f"{instruction}\n" * 3) - executed("") == 3 * passes
