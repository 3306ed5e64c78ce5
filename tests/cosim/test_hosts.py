"""What each host must do alike, on the same programs: count, cache, wake up, tell the time, and fail.

A new host is in here as soon as a board's profile has it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cosim.test_core_fabric import HALT, READ, WAIT_IRQ, WRITE, Fabric

from axiloom import boards, isa, sw
from axiloom.base.errors import DriverError
from axiloom.boards import Board, hosts
from axiloom.cosim.build.toolchain import compile_bare
from axiloom.cosim.core import Core, CpuRun, run_cpu

SPEC = isa.builtin("v3", 4)


def board_of(host: str) -> Board:
    """The first profile with that CPU and no operating system."""
    every = (boards.load(name) for name in boards.names())
    return next(board for board in every if board.cpu == host and board.os is None)


BOARDS = [board_of(name) for name in hosts.every()]
EACH = pytest.mark.parametrize("board", BOARDS, ids=lambda board: str(board.cpu))

PRELUDE = """
#include <string.h>
#include "../src/dma_internal.h"
#define REGISTER(offset) (*(volatile uint32_t *)(0x40400000u + (offset)))
volatile int32_t out[8];
volatile uint32_t cached[4096] __attribute__((aligned(64)));
__attribute__((section(".axl_uncached"))) volatile uint32_t uncached[64];
"""


def compiled(folder: Path, board: Board, text: str, **defines: object) -> Path:
    source = folder / "program.c"
    source.write_text(PRELUDE + text)
    return compile_bare(
        [source],
        folder / "program.elf",
        board=board,
        include=[sw.ROOT / "include"],
        defines=defines,
        opt="-O1",
    )


def run(folder: Path, board: Board, text: str, **defines: object) -> CpuRun:
    return run_cpu(compiled(folder, board, text, **defines), {}, {"out": ((8,), "int32")}, board)


def cost(folder: Path, board: Board, body: str) -> dict[str, int]:
    """Counters and events of 1,000 times `body`, without what is around it."""
    text = f"""int main(void) {{
        #pragma clang loop unroll(disable)
        for (volatile uint32_t *p = cached, *end = p + TIMES; p != end; p++) {{ {body} }}
        return 0;
    }}"""
    few, many = (run(folder, board, text, TIMES=times) for times in (1000, 2000))
    return {
        name: value - (few.counters | few.events)[name]
        for name, value in (many.counters | many.events).items()
    }


@pytest.mark.slow
@EACH
def test_loads_stores_and_branches(tmp_path: Path, board: Board) -> None:
    """One of each in 1,000 rounds, whatever the instruction set."""
    found = cost(tmp_path, board, "*p = *p + 1;")
    assert (found["L1-dcache-loads"], found["L1-dcache-stores"], found["branch-instructions"]) == (
        1000,
        1000,
        1000,
    )
    assert found["cache-references"] == 2000
    assert (found["executed_load"], found["executed_store"], found["executed_branch"]) == (1000, 1000, 1000)
    assert 4000 <= found["instructions"] <= 6000
    assert found["branch-misses"] < 10


@pytest.mark.every(3)
@EACH
def test_multiplications(tmp_path: Path, board: Board) -> None:
    found = cost(tmp_path, board, "*p = *p * *p;")
    assert (found["executed_mul"], found["executed_load"]) == (1000, 2000)


@EACH
def test_calls_return_where_they_are_expected(tmp_path: Path, board: Board) -> None:
    """The return stack knows; a call and a return are two branches."""
    text = "static __attribute__((noinline)) void call(volatile uint32_t *p) { *p = 1; }"
    body = text + "int main(void) { for (int i = 0; i < TIMES; i++) call(&cached[i]); return 0; }"
    few, many = (run(tmp_path, board, body, TIMES=times).counters for times in (1000, 2000))
    assert many["branch-instructions"] - few["branch-instructions"] == 3000
    assert many["branch-misses"] - few["branch-misses"] < 10


@EACH
def test_lines_of_the_cache(tmp_path: Path, board: Board) -> None:
    """A word after the other misses once a line; 16 KiB are not there yet. The start has its own misses."""
    text = "int main(void) { for (int i = 0; i < TIMES; i++) out[0] += (int32_t)cached[i]; return 0; }"
    few, many = (
        run(tmp_path, board, text, TIMES=times).counters["L1-dcache-load-misses"] for times in (1024, 4096)
    )
    assert many - few == pytest.approx(3 * 4096 / board.line_bytes, abs=8)


@EACH
def test_attributes_of_memory(tmp_path: Path, board: Board) -> None:
    """What the linker script puts aside for descriptors is not cached; the rest is."""
    text = "int main(void) { for (int i = 0; i < TIMES; i++) out[0] += (int32_t)uncached[i & 63]; return 0; }"
    few, many = (run(tmp_path, board, text, TIMES=times) for times in (1000, 2000))
    assert many.events["uncached_loads"] - few.events["uncached_loads"] == 1000
    assert many.events["uncached_stores"] == few.events["uncached_stores"]
    assert many.counters["L1-dcache-loads"] - few.counters["L1-dcache-loads"] == 1000  # out[0]
    assert many.counters["L1-dcache-load-misses"] - few.counters["L1-dcache-load-misses"] == 0


@EACH
def test_code_is_cached(tmp_path: Path, board: Board) -> None:
    found = cost(tmp_path, board, "*p = 1;")
    assert found["L1-icache-load-misses"] == 0
    assert found["cpu-cycles"] < 40_000


@EACH
def test_time(tmp_path: Path, board: Board) -> None:
    """The runtime's ticks: two cycles of the CPU each."""
    text = """int main(void) {
        const uint64_t begin = axl_timer();
        for (int i = 0; i < 200000; i++) cached[0] += 1;
        out[0] = (int32_t)(axl_timer() - begin);
        return 0;
    }"""
    found = run(tmp_path, board, text)
    assert found.outputs["out"][0] == pytest.approx(found.counters["cpu-cycles"] / 2, rel=0.1)


@EACH
def test_library(tmp_path: Path, board: Board) -> None:
    """What a compiler calls on its own: strings, divisions of 64 bits, floats; any alignment of bytes."""
    text = """
    static const char from[40] = "an axi stream, and a word, and another";
    static char to[64];
    volatile uint64_t big = 12345678901234567u, small = 9876;
    volatile float half = 0.5f;
    int main(void) {
        memcpy(to + 1, from + 2, 30);
        out[0] = memcmp(to + 1, from + 2, 30) == 0 && to[0] == 0 && to[31] == 0;
        memmove(to + 3, to + 1, 30);
        out[1] = memcmp(to + 3, from + 2, 30) == 0;
        memset(to + 5, 7, 11);
        out[2] = to[4] != 7 && to[5] == 7 && to[15] == 7 && to[16] != 7;
        memset(to, 3, 64);
        out[3] = to[0] == 3 && to[63] == 3 && memcmp(to, from, 4) < 0;
        out[4] = (int32_t)(big / small);
        out[5] = (int32_t)(big % small);
        out[6] = (int32_t)(half * 5.0f);
        out[7] = (int32_t)((int64_t)-7 / (int64_t)(small - 9873));
        return 0;
    }"""
    big, small = 12345678901234567, 9876
    quotient = (big // small + 2**31) % 2**32 - 2**31
    assert run(tmp_path, board, text).outputs["out"].tolist() == [1, 1, 1, 1, quotient, big % small, 2, -2]


@EACH
def test_exit_code(tmp_path: Path, board: Board) -> None:
    with pytest.raises(DriverError, match=r"program\.elf: main returned 7"):
        run(tmp_path, board, "int main(void) { return 7; }")


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "out[0] = *(volatile int32_t *)0x70000000;",
            r"load of 0x70000000 at pc 0x\w+ \(main.*nothing is mapped",
        ),
        (
            "*(volatile int32_t *)0x70000000 = 1;",
            r"store to 0x70000000 at pc 0x\w+ \(main.*nothing is mapped",
        ),
        ("((void (*)(void))0x70000000)();", r"jump to 0x70000000"),
        ("__builtin_trap();", r"(undefined instruction|exception \d+) at pc 0x\w+ \(main"),
    ],
    ids=["load", "store", "jump", "undefined"],
)
@EACH
def test_faults_name_the_place(tmp_path: Path, board: Board, statement: str, message: str) -> None:
    with pytest.raises(DriverError, match=message):
        run(tmp_path, board, f"int main(void) {{ {statement} return 0; }}")


@EACH
def test_programs_go_with_their_cpu(tmp_path: Path, board: Board) -> None:
    elf = compiled(tmp_path, board, "int main(void) { return 0; }")
    others = [other for other in BOARDS if other.architecture != board.architecture]
    assert others
    for other in others:
        with pytest.raises(DriverError, match=f"is for {board.architecture}; the CPU of {other.name} is"):
            Core(other).begin(elf)


# --- beside a DMA: the test is the fabric -----------------------------------------------------------------


def begin(folder: Path, board: Board, text: str) -> tuple[Core, Fabric]:
    core = Core(board, SPEC)
    core.begin(compiled(folder, board, text))
    core.reset_protocol()
    return core, Fabric()


def address(core: Core, name: str) -> int:
    assert core.program is not None
    return core.program.symbol(name).address


@EACH
def test_sleep_until_the_interrupt(tmp_path: Path, board: Board) -> None:
    core, fabric = begin(
        tmp_path, board, "int main(void) { axl_wait_for_interrupt(); out[0] = 5; return 0; }"
    )
    assert fabric.until_access()[0] == WAIT_IRQ
    assert fabric.until_access(irq=0)[0] == WAIT_IRQ
    assert fabric.until_access(irq=1)[0] == HALT
    assert core.read("out", (1,), "int32")[0] == 5


@EACH
def test_registers(tmp_path: Path, board: Board) -> None:
    core, fabric = begin(
        tmp_path, board, "int main(void) { REGISTER(4) = 7; out[0] = (int32_t)REGISTER(8); return 0; }"
    )
    assert fabric.until_access() == (WRITE, 0x40400004, 7)
    assert fabric.until_access()[:2] == (READ, 0x40400008)
    assert fabric.until_access(rdata=9)[0] == HALT
    assert core.read("out", (1,), "int32")[0] == 9
    assert (core.activity()["mmio_reads"], core.activity()["mmio_writes"]) == (1, 1)


SEND = (
    "int main(void) {{ {array}[9] = 1; {maintenance} axl_memory_barrier(); REGISTER(0x28) = 4; return 0; }}"
)
RECEIVE = (
    "int main(void) {{ out[0] = (int32_t){array}[9]; {before} REGISTER(0x58) = 4; {maintenance} "
    "out[1] = (int32_t){array}[9]; return 0; }}"
)


def sent(folder: Path, board: Board, array: str, maintenance: str) -> list[str]:
    core, fabric = begin(folder, board, SEND.format(array=array, maintenance=maintenance))
    assert fabric.until_access()[0] == WRITE
    assert fabric.lib.axl_mem_read(address(core, array) + 36) == int(bool(maintenance) or array == "uncached")
    assert fabric.until_access()[0] == HALT
    return core.stale()


def received(folder: Path, board: Board, array: str, before: str, maintenance: str) -> list[str]:
    core, fabric = begin(folder, board, RECEIVE.format(array=array, before=before, maintenance=maintenance))
    assert fabric.until_access()[0] == WRITE
    fabric.lib.axl_mem_write(address(core, array) + 36, 77, 15)
    assert fabric.until_access()[0] == HALT
    reads = 77 if maintenance or array == "uncached" else 0
    assert core.read("out", (2,), "int32").tolist() == [0, reads]
    return core.stale()


@EACH
def test_a_missing_flush_is_reported(tmp_path: Path, board: Board) -> None:
    (report,) = sent(tmp_path, board, "cached", "")
    assert report.startswith("missing flush: the DMA, started by 0x")
    assert "read old bytes 36 to 36 of cached (0x" in report
    assert sent(tmp_path, board, "cached", "axl_cache_clean((uintptr_t)&cached[9], 4);") == []
    rows = "axl_cache_clean_rows((uintptr_t)&cached[1], 8, 3, 16);"
    assert sent(tmp_path, board, "cached", rows) == []


@EACH
def test_a_missing_invalidate_is_reported(tmp_path: Path, board: Board) -> None:
    (report,) = received(tmp_path, board, "cached", "", "")
    assert report.startswith("missing invalidate: 0x")
    assert "read old bytes 36 to 36 of cached (0x" in report
    discard = "axl_cache_discard((uintptr_t)&cached[9], 4);"
    assert (
        received(tmp_path, board, "cached", discard, "axl_cache_invalidate((uintptr_t)&cached[9], 4);") == []
    )


@EACH
def test_uncached_memory_needs_neither(tmp_path: Path, board: Board) -> None:
    assert sent(tmp_path, board, "uncached", "") == []
    assert received(tmp_path, board, "uncached", "", "") == []
