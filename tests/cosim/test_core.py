"""The core without RTL: counters of programs known to the instruction, bad programs, determinism."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from axiloom import boards
from axiloom.base.errors import DriverError
from axiloom.cosim.build.toolchain import compile_bare
from axiloom.cosim.core import Core, run_cpu

BOARD = boards.load(boards.DEFAULT)

Counters = dict[str, int]


def assemble(folder: Path, body: str, data: str = "", name: str = "main.S") -> Path:
    """A program whose main is `body`.

    It starts at a multiple of 16 KiB, so that L1I sees the same in each, behind what start-up lets come into
    L2; main waits until that has come.
    """
    text = f"""
        .syntax unified
        .section .text.main, "ax"
        .balign 16384
        .global main
        .type main, %function
    main:
        mov r1, #300
    9:  subs r1, r1, #1
        bne 9b
        .balign 32
{body}
        mov r0, #0
        bx lr
        .balign 4096
        .data
        .balign 4096
    data:
        {data}
    """
    source = folder / name
    source.write_text(text)
    return compile_bare([source], folder / f"{name}.elf", board=BOARD)


def compile_c(folder: Path, text: str, **options: object) -> Path:
    source = folder / "program.c"
    source.write_text(text)
    return compile_bare([source], folder / "program.elf", board=BOARD, **options)  # type: ignore[arg-type]


@pytest.fixture
def extra(tmp_path: Path) -> Callable[[str], Counters]:
    """Counters of the instructions `body`, beyond those of a program without them."""

    def measure(body: str) -> Counters:
        data = ".space 65536"
        empty = run_cpu(assemble(tmp_path, "", data, "empty.S"), {}, {}, BOARD).counters
        full = run_cpu(assemble(tmp_path, body, data), {}, {}, BOARD).counters
        return {name: full[name] - empty[name] for name in full}

    return measure


class TestCounters:
    def test_straight_line(self, extra: Callable[[str], Counters]) -> None:
        """Four more instructions in the line of 32 bytes that main's own two are in."""
        found = extra("        add r1, r1, #1\n" * 4)
        cycles = round(4 * BOARD.cost.alu)
        assert {name: count for name, count in found.items() if count} == {
            "instructions": 4,
            "cpu-cycles": cycles,
            "task-clock": pytest.approx(cycles * 1e9 / BOARD.cpu_hz, abs=1),
        }

    def test_loop(self, extra: Callable[[str], Counters]) -> None:
        found = extra("        mov r1, #1000\n0:      subs r1, r1, #1\n        bne 0b\n")
        assert found["instructions"] == 2001
        assert found["branch-instructions"] == 1000
        # Warming up the history, and the end of the loop.
        assert 1 <= found["branch-misses"] <= 20

    def test_random_branches_are_missed_half_of_the_time(self, extra: Callable[[str], Counters]) -> None:
        """Directions from a shift register that is longer than the predictor's history."""
        found = extra(
            """
            mov r1, #4000
            movw r2, #0xACE1
            movw r4, #0xB400
        0:  lsrs r2, r2, #1
            bcc 1f
            eor r2, r2, r4
        1:  subs r1, r1, #1
            bne 0b
            """
        )
        assert found["branch-instructions"] == 8000
        assert 0.4 * 4000 < found["branch-misses"] < 0.6 * 4000

    def test_calls_return_to_their_callers(self, extra: Callable[[str], Counters]) -> None:
        found = extra(
            """
            mov r3, lr
            mov r1, #100
        0:  bl 2f
            bl 2f
            subs r1, r1, #1
            bne 0b
            b 3f
        2:  bx lr
        3:  mov lr, r3
            """
        )
        assert found["branch-instructions"] == 100 * 5 + 1
        assert found["branch-misses"] <= 20

    def test_loads_and_stores_by_line(self, extra: Callable[[str], Counters]) -> None:
        """16 KiB read twice, by words: every line misses once; then 4 KiB written, all of it in L1."""
        found = extra(
            """
            mov r4, #2
        0:  ldr r1, =data
            mov r2, #4096
        1:  ldr r3, [r1], #4
            subs r2, r2, #1
            bne 1b
            subs r4, r4, #1
            bne 0b
            ldr r1, =data
            mov r2, #1024
        2:  str r3, [r1], #4
            subs r2, r2, #1
            bne 2b
            b 3f
            .ltorg
        3:
            """
        )
        literals = 3
        assert found["L1-dcache-loads"] == 2 * 4096 + literals
        assert found["L1-dcache-stores"] == 1024
        assert found["cache-references"] == 2 * 4096 + literals + 1024
        assert found["L1-dcache-load-misses"] == 16384 // 32 + 1
        assert found["cache-misses"] == 16384 // 32 + 1
        assert found["L1-icache-load-misses"] == 2  # main has 18 words and not 2

    def test_several_registers_use_the_path_of_eight_bytes(self, extra: Callable[[str], Counters]) -> None:
        found = extra(
            """
            ldr r12, =data
            ldm r12, {r1-r8}
            vld1.8 {d0-d3}, [r12]
            vst1.8 {d0-d1}, [r12]
            b 0f
            .ltorg
        0:
            """
        )
        assert found["L1-dcache-loads"] == 1 + 4 + 4
        assert found["L1-dcache-stores"] == 2

    def test_misses_cost_what_the_board_says(self, extra: Callable[[str], Counters]) -> None:
        body = (
            "        movw r1, #0\n        movt r1, #0x0800\n        ldr r2, [r1]\n        ldr r2, [r1, #4]\n"
        )
        near, far = extra(body), extra(body + "        ldr r2, [r1, #64]\n")
        assert far["l2-misses"] - near["l2-misses"] == 1
        expected = BOARD.latency.l2_hit + BOARD.latency.ddr + BOARD.cost.load
        assert far["cpu-cycles"] - near["cpu-cycles"] == pytest.approx(expected, abs=1)

    def test_same_run_same_counters(self, tmp_path: Path) -> None:
        elf = compile_c(
            tmp_path,
            """
            #include <stdint.h>
            int32_t a[64][64], b[64][64], c[64][64];
            int main(void) {
                for (int i = 0; i < 64; i++)
                    for (int j = 0; j < 64; j++)
                        for (int k = 0; k < 64; k++)
                            c[i][j] += a[i][k] * b[k][j];
                return 0;
            }
            """,
        )
        generator = np.random.default_rng(1)
        a, b = (generator.integers(-100, 100, (64, 64), np.int32) for _ in range(2))
        runs = [run_cpu(elf, {"a": a, "b": b}, {"c": ((64, 64), "int32")}, BOARD) for _ in range(3)]
        assert np.array_equal(runs[0].outputs["c"], a @ b)
        assert runs[0].counters == runs[1].counters == runs[2].counters


class TestPreload:
    """PLD, on lines of `data` that no cache holds: a miss takes `l2_hit` + `ddr` cycles."""

    MISS = BOARD.latency.l2_hit + BOARD.latency.ddr
    WAIT = "        mov r2, #400\n0:      subs r2, r2, #1\n        bne 0b\n"
    AT = "        movw r1, #:lower16:data\n        movt r1, #:upper16:data\n"

    @staticmethod
    def each(instruction: str, lines: int) -> str:
        return "".join(f"        {instruction}, #{32 * i}]\n" for i in range(lines))

    def preload(self, lines: int) -> str:
        return self.each("pld [r1", lines)

    def load(self, lines: int) -> str:
        return self.each("ldr r0, [r1", lines)

    @pytest.fixture
    def cycles(self, extra: Callable[[str], Counters]) -> Callable[[str], int]:
        """CPU cycles of loads, stores and PLDs on memory at r1, beyond those of as many no-ops."""

        def measure(body: str) -> int:
            nothing = extra(self.AT + "        mov r0, r0\n" * body.count("\n"))
            return extra(self.AT + body)["cpu-cycles"] - nothing["cpu-cycles"]

        return measure

    def test_in_time_it_hides_the_miss(self, extra: Callable[[str], Counters]) -> None:
        lines = 4
        with_it = extra(self.AT + self.preload(lines) + self.WAIT + self.load(lines))
        without = extra(self.AT + self.WAIT + self.load(lines))
        assert with_it["L1-dcache-loads"] - without["L1-dcache-loads"] == lines, "each PLD is a load"
        for same in ("L1-dcache-load-misses", "l2-misses"):
            assert with_it[same] >= without[same] >= lines
        assert without["cpu-cycles"] - with_it["cpu-cycles"] >= (lines - 1.5) * self.MISS

    def test_too_late_it_hides_nothing(self, cycles: Callable[[str], int]) -> None:
        assert abs(cycles(self.preload(1) + self.load(1)) - cycles(self.load(1))) <= 2

    def test_lines_come_one_after_the_other(self, cycles: Callable[[str], int]) -> None:
        """Four are on their way at a time; the fifth PLD waits until the first line has come."""
        lines, latency = 12, BOARD.latency
        last = self.MISS + (lines - 1) * latency.ddr_gap
        assert cycles(self.preload(lines) + self.load(lines)) == pytest.approx(last, abs=lines)
        blocked = last - latency.preloads * latency.ddr_gap
        # So long that no later miss waits for what is still on its way.
        meanwhile = "        mov r0, r0\n" * 240
        assert blocked - lines <= cycles(self.preload(lines) + meanwhile) <= blocked + latency.ddr_gap

    def test_another_miss_waits_for_them(self, cycles: Callable[[str], int]) -> None:
        other = "        ldr r0, [r1, #2048]\n"
        assert cycles(self.preload(1) + other) == pytest.approx(2 * self.MISS, abs=2)

    def test_by_register_and_for_a_store(self, extra: Callable[[str], Counters]) -> None:
        stores = "        str r0, [r1, #256]\n        str r0, [r1, #512]\n"
        by_register = "        mov r2, #64\n        pld [r1, r2, lsl #2]\n"
        preloads = by_register + "        .arch_extension mp\n        pldw [r1, #512]\n"
        missed = extra(self.AT + stores)["cache-misses"] - extra(self.AT)["cache-misses"]
        found = extra(self.AT + preloads + self.WAIT + stores)
        assert missed == found["L1-dcache-load-misses"] == found["cache-misses"] == 2

    def test_uncached_memory_is_left_alone(self, extra: Callable[[str], Counters]) -> None:
        assert (
            extra("        movw r1, #0\n        movt r1, #0x15F0\n        pld [r1]\n")["L1-dcache-loads"] == 0
        )


class TestSystem:
    def test_global_timer_runs_at_half_the_clock(self, tmp_path: Path) -> None:
        elf = compile_c(
            tmp_path,
            """
            #include "axiloom.h"
            uint64_t ticks;
            int main(void) {
                uint64_t begin = axl_timer();
                for (volatile int i = 0; i < 100000; i++) {}
                ticks = axl_timer() - begin;
                return 0;
            }
            """,
        )
        run = run_cpu(elf, {}, {"ticks": ((1,), "uint64")}, BOARD)
        assert 0.9 < 2 * int(run.outputs["ticks"][0]) / run.counters["cpu-cycles"] < 1

    def test_library_functions(self, tmp_path: Path) -> None:
        elf = compile_c(
            tmp_path,
            """
            #include <stdint.h>
            #include <string.h>
            unsigned char x[103], y[103], z[103];
            uint64_t n, d;
            int main(void) {
                for (int i = 0; i < 103; i++) x[i] = (unsigned char)i;
                memcpy(y + 1, x + 2, 50);
                memcpy(y + 52, x + 4, 47);
                memmove(x + 3, x, 90);
                memset(z + 1, 0xA5, 101);
                return n / d == 142 && memcmp(x, y, 1) == 0 && memcmp(x + 1, y, 1) > 0 ? 0 : 1;
            }
            """,
        )
        begin = np.arange(103, dtype=np.uint8)
        moved, copied, filled = begin.copy(), np.zeros(103, np.uint8), np.zeros(103, np.uint8)
        copied[1:51], copied[52:99] = begin[2:52], begin[4:51]
        moved[3:93] = begin[:90]
        filled[1:102] = 0xA5
        forms = dict.fromkeys("xyz", ((103,), "uint8"))
        outputs = run_cpu(elf, {"n": np.array([1000], "u8"), "d": np.array([7], "u8")}, forms, BOARD).outputs
        assert np.array_equal(outputs["x"], moved)
        assert np.array_equal(outputs["y"], copied)
        assert np.array_equal(outputs["z"], filled)

    def test_uncached_memory_is_slow_and_in_no_cache(self, tmp_path: Path) -> None:
        elf = compile_c(
            tmp_path,
            """
            #include "dma_internal.h"
            int main(void) {
                volatile uint32_t *p = (volatile uint32_t *)0x10000000;
                UNCACHED;
                for (int i = 0; i < 256; i++) (void)p[i];
                return 0;
            }
            """,
            include=[Path(boards.__file__).parent.parent / "sw" / "src"],
            defines={"UNCACHED": "axl_map_uncached(0x10000000, 1024)"},
        )
        core = Core(BOARD)
        core.begin(elf)
        core.run()
        assert core.activity()["uncached_loads"] >= 256

    def test_the_beginning_of_a_program_is_in_l2_when_it_starts(self, tmp_path: Path) -> None:
        lines = 64
        text = f"""
            #include "axiloom.h"
            uint64_t ticks;
            int main(void) {{
                const uint64_t begin = axl_timer();
                __asm__ volatile(".rept {8 * lines}\\n nop\\n .endr");
                ticks = axl_timer() - begin;
                return 0;
            }}
        """
        elf = compile_c(tmp_path, text)
        run = run_cpu(elf, {}, {"ticks": ((1,), "uint64")}, BOARD)
        latency = BOARD.latency
        from_l2, from_memory = (lines * one for one in (latency.l2_hit, latency.l2_hit + latency.ddr))
        assert from_l2 < 2 * int(run.outputs["ticks"][0]) < (from_l2 + from_memory) / 2

    def test_hints_do_nothing(self, tmp_path: Path) -> None:
        hints = "sev; wfe; yield; dmb; isb"
        elf = compile_c(tmp_path, f'int main(void) {{ __asm__ volatile("{hints}"); return 0; }}')
        assert run_cpu(elf, {}, {}, BOARD).exit_code == 0

    def test_exit_code(self, tmp_path: Path) -> None:
        elf = compile_c(tmp_path, "int main(void) { return 9; }")
        with pytest.raises(DriverError, match=r"program\.elf: main returned 9"):
            run_cpu(elf, {}, {}, BOARD)


class TestFaults:
    @pytest.mark.parametrize(
        ("statement", "message"),
        [
            ("*(volatile int *)0x30000000 = 1", r"data abort at pc 0x[0-9A-F]+ \(main\+.*address 0x30000000"),
            ("(void)*(volatile int *)0x40400000", r"0x40400000.*\(main"),
            ("__builtin_trap()", r"undefined instruction at pc 0x[0-9A-F]+ \(main"),
            ('__asm__ volatile("yield; udf #1")', r"undefined instruction at pc 0x[0-9A-F]+ \(main"),
            ('__asm__ volatile("svc #0")', r"exception 2 at pc .*\(main"),
            ("((void (*)(void))0x30000000)()", r"jump to 0x30000000 from the block at .*\(main"),
            ('__asm__ volatile("wfi")', r"WFI in a run without an accelerator"),
            ("for (;;) {}", r"still running at pc 0x[0-9A-F]+ \(main"),
            ("(void)*(volatile int *)0xF8F00600", r"0xF8F00600 .* is not modelled"),
            ("(void)*(volatile int *)0xF8007000", r"0xF8007000.*\(main"),
        ],
    )
    def test_one_line_with_the_place(self, tmp_path: Path, statement: str, message: str) -> None:
        elf = compile_c(tmp_path, f"int main(void) {{ {statement}; return 0; }}")
        with pytest.raises(DriverError, match=message) as raised:
            run_cpu(elf, {}, {}, BOARD, max_instructions=1_000_000)
        assert "\n" not in str(raised.value)

    def test_next_run_is_not_affected(self, tmp_path: Path) -> None:
        good = compile_c(tmp_path, "int main(void) { return 0; }")
        before = run_cpu(good, {}, {}, BOARD).counters
        bad = tmp_path / "bad"
        bad.mkdir()
        with pytest.raises(DriverError):
            run_cpu(compile_c(bad, "int main(void) { __builtin_trap(); }"), {}, {}, BOARD)
        assert run_cpu(good, {}, {}, BOARD).counters == before

    def test_inputs_that_do_not_fit(self, tmp_path: Path) -> None:
        elf = compile_c(tmp_path, "int a[4] = {1}; int main(void) { return a[1]; }")
        with pytest.raises(DriverError, match=r"a has 16 bytes in program\.elf; 20 were given"):
            run_cpu(elf, {"a": np.zeros(5, np.int32)}, {}, BOARD)
        with pytest.raises(DriverError, match="no symbol 'b'"):
            run_cpu(elf, {"b": np.zeros(5, np.int32)}, {}, BOARD)
