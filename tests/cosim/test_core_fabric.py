"""The core with a fabric made of Python: time, stale data, the protocol monitor, faults of the bus."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from axiloom import boards, isa
from axiloom.cosim import native
from axiloom.cosim.build.toolchain import compile_bare
from axiloom.cosim.core import Core, library

BOARD = boards.load(boards.DEFAULT)
SPEC = isa.builtin("v3", 4)
HALT, READ, WRITE, WAIT_IRQ, ADVANCE = range(5)

Step = tuple[int, int, int]
"""Operation, address, data written."""


class Fabric:
    """Calls the core as the RTL does: it lets `delay` pass, and each access takes two cycles more."""

    def __init__(self) -> None:
        self.lib = native.bind(library())
        self.now = 1000  # a job may start at any time

    def step(self, rdata: int = 0, resp: int = 0, irq: int = 0, takes: int = 2) -> Step:
        address, data, delay = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        op = self.lib.axl_cpu_step(
            rdata, resp, irq, self.now, ctypes.byref(address), ctypes.byref(data), ctypes.byref(delay)
        )
        assert delay.value >= 0
        self.delay = delay.value
        self.now += delay.value + (takes if op in (READ, WRITE) else 0)
        return op, address.value & 0xFFFFFFFF, data.value & 0xFFFFFFFF

    def until_access(self, **answer: int) -> Step:
        """The next access, wait or end; quanta pass."""
        step = self.step(**answer)
        while step[0] == ADVANCE:
            step = self.step()
        return step


Run = Callable[[str], tuple[Core, Fabric]]

PRELUDE = """
    #include <stdint.h>
    #define REGISTER(offset) (*(volatile uint32_t *)(0x40400000u + (offset)))
    #define BUFFER ((volatile uint32_t *)0x16000000)
    volatile uint32_t result[4];
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Run]:
    """Compile `statements` as a program's functions and start it; nothing has run yet."""

    def make(functions: str) -> tuple[Core, Fabric]:
        source = tmp_path / "program.c"
        source.write_text(PRELUDE + functions)
        core = Core(BOARD, SPEC)
        core.begin(compile_bare([source], tmp_path / "program.elf", board=BOARD))
        core.reset_protocol()
        return core, Fabric()

    yield make
    Core(BOARD)  # abandons what still runs


class TestBus:
    def test_accesses_in_order_with_their_data(self, start: Run) -> None:
        core, fabric = start(
            "int main(void) { REGISTER(0x18) = 4660; result[0] = REGISTER(4) + 1; return 0; }"
        )
        assert fabric.until_access() == (WRITE, 0x40400018, 4660)
        assert core.state.waiting == "a write of 0x40400018"
        assert fabric.until_access() == (READ, 0x40400004, 0)
        assert fabric.until_access(rdata=41)[0] == HALT
        assert core.read("result", (1,), "uint32")[0] == 42
        assert core.state.run == "exited"
        assert (core.activity()["mmio_reads"], core.activity()["mmio_writes"]) == (1, 1)

    def test_polls_are_reads_again_of_the_same_register(self, start: Run) -> None:
        core, fabric = start("int main(void) { while (!(REGISTER(4) & 2)) {} (void)REGISTER(0); return 0; }")
        assert fabric.until_access()[0] == READ
        for _ in range(9):
            assert fabric.until_access(rdata=0)[0] == READ
        assert fabric.until_access(rdata=2)[1] == 0x40400000
        assert fabric.until_access()[0] == HALT
        assert core.activity()["polls"] == 9

    def test_polls_may_look_at_two_registers_in_turn(self, start: Run) -> None:
        core, fabric = start(
            "int main(void) { while (!(REGISTER(4) & 2) && !(REGISTER(0x34) & 2)) {} REGISTER(4) = 1;"
            " (void)REGISTER(4); return 0; }"
        )
        assert fabric.until_access()[1] == 0x40400004
        for address in (0x40400034, 0x40400004, 0x40400034, 0x40400004):
            assert fabric.until_access(rdata=0)[1] == address
        assert fabric.until_access(rdata=2)[0] == WRITE
        assert fabric.until_access()[0] == READ
        assert fabric.until_access()[0] == HALT
        assert core.activity()["polls"] == 3

    def test_error_response_is_a_fault(self, start: Run) -> None:
        core, fabric = start("int main(void) { return (int)REGISTER(0x200); }")
        assert fabric.until_access()[0] == READ
        assert fabric.until_access(resp=2)[0] == HALT
        assert core.state.fault
        assert "AXI response 2" in core.state.fault
        assert "(main" in core.state.fault

    def test_narrow_access_is_a_fault(self, start: Run) -> None:
        core, fabric = start("int main(void) { *(volatile uint8_t *)0x40400018 = 1; return 0; }")
        assert fabric.until_access()[0] == HALT
        assert core.state.fault
        assert "aligned 32-bit accesses only" in core.state.fault

    def test_wait_for_interrupt(self, start: Run) -> None:
        core, fabric = start('int main(void) { __asm__ volatile("wfi"); result[0] = 5; return 0; }')
        assert fabric.until_access()[0] == WAIT_IRQ
        assert core.state.waiting == "an interrupt"
        assert fabric.until_access(irq=0)[0] == WAIT_IRQ
        assert fabric.until_access(irq=1)[0] == HALT
        assert core.read("result", (1,), "uint32")[0] == 5

    def test_interrupts_may_be_spurious(self, start: Run) -> None:
        _, fabric = start(
            'int main(void) { do { __asm__ volatile("wfi"); } while (!REGISTER(4)); return 0; }'
        )
        for _ in range(3):
            assert fabric.until_access()[0] == WAIT_IRQ
            assert fabric.until_access(irq=1)[0] == READ
        assert fabric.until_access(rdata=1)[0] == HALT

    def test_a_run_may_be_left_in_the_middle(self, start: Run) -> None:
        core, fabric = start("int main(void) { while (!REGISTER(4)) {} return 0; }")
        assert fabric.until_access()[0] == READ
        core, fabric = start("int main(void) { result[1] = 7; return 0; }")
        assert fabric.until_access()[0] == HALT
        assert core.read("result", (2,), "uint32")[1] == 7


class TestTime:
    def test_waiting_for_the_fabric_is_stall(self, start: Run) -> None:
        core, fabric = start("int main(void) { return (int)REGISTER(4); }")
        assert fabric.until_access(takes=2)[0] == READ
        before = core.counters()
        fabric.now += 1000
        assert fabric.step()[0] == ADVANCE  # the way to the end
        after = core.counters()
        ratio = BOARD.cpu_hz / BOARD.fabric_hz
        request, response = BOARD.fabric.mmio_request, BOARD.fabric.mmio_response
        expected = (1000 + 2 + request + response) * ratio
        assert after["stall-cycles"] - before["stall-cycles"] == pytest.approx(expected, abs=2 * ratio)
        assert after["cpu-cycles"] - before["cpu-cycles"] > expected

    def test_both_clocks_agree_at_the_end(self, start: Run) -> None:
        core, fabric = start(
            "int main(void) { for (int i = 0; i < 20; i++) { (void)REGISTER(4);"
            "for (volatile int j = 0; j < 1000; j++) {} } return 0; }"
        )
        begin = fabric.now
        while fabric.step()[0] != HALT:
            pass
        cpu_s = core.counters()["cpu-cycles"] / BOARD.cpu_hz
        assert (fabric.now - begin) / BOARD.fabric_hz == pytest.approx(cpu_s, rel=1e-3)

    def test_polling_a_flag_in_memory_lets_the_fabric_run(self, start: Run) -> None:
        core, fabric = start(
            FLUSH + "int main(void) { do { invalidate_l2(0x16000000); invalidate_l1(0x16000000); }"
            "while (!BUFFER[0]); return 0; }"
        )
        quanta = [fabric.step() for _ in range(5)]
        assert [op for op, _, _ in quanta] == [ADVANCE] * 5
        quantum = BOARD.simulation.quantum * BOARD.fabric_hz / BOARD.cpu_hz
        assert fabric.delay == pytest.approx(quantum, rel=0.1)
        fabric.lib.axl_mem_write(0x16000000, 1, 15)
        assert fabric.until_access()[0] == HALT
        assert core.state.exit_code == 0


class TestMemory:
    def test_dma_and_python_see_the_same_words(self, start: Run) -> None:
        core, fabric = start("int main(void) { return 0; }")
        core.ram[0x16000000:0x16000004] = [1, 2, 3, 4]
        assert fabric.lib.axl_mem_read(0x16000000) == 0x04030201
        fabric.lib.axl_mem_write(0x16000000, 0x7A7B7C7D, 0b0101)
        assert core.ram[0x16000000:0x16000004].tolist() == [0x7D, 2, 0x7B, 4]

    def test_dma_outside_ram_ends_the_run(self, start: Run) -> None:
        core, fabric = start("int main(void) { while (!REGISTER(4)) {} return 0; }")
        fabric.until_access()
        fabric.lib.axl_mem_read(0x70000000)
        assert fabric.until_access()[0] == HALT
        assert core.state.fault == "the DMA reads address 0x70000000, which is not a word of RAM"


FLUSH = """
    static void clean_l1(uint32_t a) { __asm__ volatile("mcr p15, 0, %0, c7, c10, 1" :: "r"(a)); }
    static void invalidate_l1(uint32_t a) { __asm__ volatile("mcr p15, 0, %0, c7, c6, 1" :: "r"(a)); }
    static void clean_l2(uint32_t a) { *(volatile uint32_t *)0xF8F027B0u = a; }
    static void invalidate_l2(uint32_t a) { *(volatile uint32_t *)0xF8F02770u = a; }
    void unused(void) { clean_l1(0); invalidate_l1(0); clean_l2(0); invalidate_l2(0); }
"""


class TestStaleData:
    """The CPU stops at a register access; there the test is the DMA."""

    SEND = "int main(void) { BUFFER[9] = 1; %s REGISTER(0x28) = 4; return 0; }"
    RECV = "int main(void) { result[0] = BUFFER[9]; REGISTER(0x58) = 4; %s result[1] = BUFFER[9]; return 0; }"

    def send(self, start: Run, maintenance: str, reads: int = 1) -> list[str]:
        core, fabric = start(FLUSH + self.SEND % maintenance)
        assert fabric.until_access()[0] == WRITE
        assert fabric.lib.axl_mem_read(0x16000024) == reads
        fabric.lib.axl_mem_read(0x16000040)  # a line that nobody wrote
        assert fabric.until_access()[0] == HALT
        return core.stale()

    def recv(self, start: Run, maintenance: str, reads: int = 1) -> list[str]:
        core, fabric = start(FLUSH + self.RECV % maintenance)
        assert fabric.until_access()[0] == WRITE
        fabric.lib.axl_mem_write(0x16000024, 1, 15)
        assert fabric.until_access()[0] == HALT
        assert core.read("result", (2,), "int32").tolist() == [0, reads]
        return core.stale()

    @pytest.mark.parametrize("maintenance", ["", "clean_l1(0x16000024);", "clean_l2(0x16000024);"])
    def test_missing_flush(self, start: Run, maintenance: str) -> None:
        """The DMA reads what was there before."""
        (report,) = self.send(start, maintenance, reads=0)
        assert report.startswith("missing flush: the DMA, started by 0x0010")
        assert "read old bytes 36 to 36 of the input window (0x16000024); 0x0010" in report
        assert "(main+0x" in report
        assert "1 time, first at fabric cycle" in report

    def test_flushed(self, start: Run) -> None:
        assert self.send(start, "clean_l1(0x16000024); clean_l2(0x16000024);") == []

    @pytest.mark.parametrize("maintenance", ["", "invalidate_l1(0x16000024);", "invalidate_l2(0x16000024);"])
    def test_missing_invalidate(self, start: Run, maintenance: str) -> None:
        """The CPU reads what was there before."""
        (report,) = self.recv(start, maintenance, reads=0)
        assert report.startswith("missing invalidate: 0x0010")
        assert "read old bytes 36 to 36 of the input window (0x16000024) from the caches; the DMA" in report

    def test_invalidated(self, start: Run) -> None:
        assert self.recv(start, "invalidate_l2(0x16000024); invalidate_l1(0x16000024);") == []

    def test_lost_write(self, start: Run) -> None:
        """A line is dirty while the DMA writes, and then cleaned to memory."""
        core, fabric = start(
            FLUSH + "int main(void) { BUFFER[0] = 1; REGISTER(0x58) = 4;"
            "clean_l1(0x16000000); clean_l2(0x16000000); return 0; }"
        )
        assert fabric.until_access()[0] == WRITE
        fabric.lib.axl_mem_write(0x16000004, 1, 15)
        assert fabric.until_access()[0] == HALT
        (report,) = core.stale()
        assert report.startswith("lost DMA data: 0x0010")
        assert "wrote a cache line back over bytes 4 to 4 of the input window" in report
        assert core.ram[0x16000000:0x16000008].tolist() == [1, 0, 0, 0, 0, 0, 0, 0]

    def test_lost_store(self, start: Run) -> None:
        """A line with a variable of the CPU's is thrown away for the DMA's part of it."""
        core, fabric = start(
            FLUSH
            + "int main(void) { BUFFER[0] = 7; clean_l1(0x16000000); clean_l2(0x16000000); BUFFER[0] = 8; "
            "REGISTER(0x58) = 4; invalidate_l2(0x16000000); invalidate_l1(0x16000000);"
            "result[0] = BUFFER[0]; result[1] = BUFFER[1]; return 0; }"
        )
        assert fabric.until_access()[0] == WRITE
        fabric.lib.axl_mem_write(0x16000004, 5, 15)
        assert fabric.until_access()[0] == HALT
        assert core.read("result", (2,), "int32").tolist() == [7, 5]
        (report,) = core.stale()
        assert report.startswith("lost store: 0x0010")
        assert "invalidated bytes 0 to 0 of the input window (0x16000000) without a clean, which" in report

    def test_what_is_shared_and_not_touched_is_no_fault(self, start: Run) -> None:
        """The CPU has the line, and uses other bytes of it than the DMA: nothing is old, nothing is lost."""
        core, fabric = start(
            FLUSH
            + "int main(void) { BUFFER[0] = 7; clean_l1(0x16000000); clean_l2(0x16000000); BUFFER[2] = 8; "
            "REGISTER(0x28) = 4; result[0] = BUFFER[0] + BUFFER[2]; BUFFER[1] = 4; return 0; }"
        )
        assert fabric.until_access()[0] == WRITE
        assert fabric.lib.axl_mem_read(0x16000000) == 7
        fabric.lib.axl_mem_write(0x16000004, 5, 15)
        assert fabric.lib.axl_mem_read(0x16000004) == 5
        assert fabric.until_access()[0] == HALT
        assert core.read("result", (1,), "int32")[0] == 15
        assert core.stale() == []

    def test_next_job_starts_clean(self, start: Run) -> None:
        assert self.send(start, "", reads=0)
        assert self.send(start, "clean_l1(0x16000024); clean_l2(0x16000024);") == []


class TestProtocol:
    """v3_4: A, B and C are 16 words each."""

    def opcode(self, name: str) -> int:
        literal = SPEC.opcodes[name].literal
        assert literal is not None
        return literal

    def test_words_missing_of_a_payload(self, start: Run) -> None:
        core, fabric = start("int main(void) { return 0; }")
        assert core.protocol_text() == "input: no opcode yet; output: nothing more is due (0 words out)"
        for word in [self.opcode("sA"), *range(10)]:
            fabric.lib.axl_stream_in(word, 0)
        assert "last opcode sA waits for 6 of the 16 words of A (11 words in)" in core.protocol_text()
        for word in range(6):
            fabric.lib.axl_stream_in(word, 0)
        assert "last opcode sA is complete" in core.protocol_text()

    def test_words_missing_of_a_store(self, start: Run) -> None:
        core, fabric = start("int main(void) { return 0; }")
        fabric.lib.axl_stream_in(self.opcode("rC"), 1)
        for _ in range(10):
            fabric.lib.axl_stream_out(0, 0)
        assert "6 of the 16 words of C (opcode rC) are still to come (10 words out)" in core.protocol_text()
        assert core.state.fault is None

    @pytest.mark.parametrize(
        ("lasts", "message"),
        [
            ([0] * 16, "no TLAST on word 16 of the 16 of C (opcode rC)"),
            ([0, 0, 1], "TLAST on word 3 of the 16 of C (opcode rC)"),
            ([*([0] * 15), 1, 0], "the accelerator sent word 17 of its output, which no opcode asks for"),
        ],
    )
    def test_tlast_violations_end_the_run(self, start: Run, lasts: list[int], message: str) -> None:
        core, fabric = start("int main(void) { while (!REGISTER(4)) {} return 0; }")
        fabric.until_access()
        fabric.lib.axl_stream_in(self.opcode("rC"), 1)
        for last in lasts:
            fabric.lib.axl_stream_out(0, last)
        assert core.state.fault == message
        assert fabric.until_access()[0] == HALT

    def test_unknown_opcode(self, start: Run) -> None:
        core, fabric = start("int main(void) { return 0; }")
        fabric.lib.axl_stream_in(0xBAD, 0)
        assert "word 1 is 0x00000BAD where an opcode should be (last opcode none)" in core.protocol_text()
        core.reset_protocol()
        fabric.lib.axl_stream_in(self.opcode("sB"), 0)
        assert "last opcode sB waits for 16 of the 16 words of B" in core.protocol_text()

    def test_dims_set_the_length(self) -> None:
        spec = isa.builtin("v4", 16)
        core, lib = Core(BOARD, spec), Fabric().lib
        lib.axl_protocol_reset()
        literal = spec.opcodes["sA"].literal
        assert literal is not None
        lib.axl_stream_in(literal, 0)
        assert "of the 1 words of the dims" in core.protocol_text()
        lib.axl_stream_in(32 | 16 << 10 | 48 << 20, 0)
        assert f"waits for {32 * 48} of the {32 * 48} words of A" in core.protocol_text()

    def test_words_that_fill_up_a_beat(self) -> None:
        """On 128 bits: opcode, dims, two zeros; then the tile. The zeros belong to the opcode."""
        spec = isa.revise(isa.builtin("v4", 16), stream_width=128)
        core, lib = Core(BOARD, spec), Fabric().lib
        lib.axl_protocol_reset()
        for word in (spec.opcodes["sA"].literal, 32 | 16 << 10 | 48 << 20, 0):
            assert word is not None
            lib.axl_stream_in(word, 0)
        assert "waits for 1 of the 2 words that fill up a beat" in core.protocol_text()
        lib.axl_stream_in(0, 0)
        assert f"waits for {32 * 48} of the {32 * 48} words of A" in core.protocol_text()
        for word in range(32 * 48):
            lib.axl_stream_in(word, 0)
        assert "last opcode sA is complete" in core.protocol_text()
        lib.axl_stream_in(spec.opcodes["rC"].literal, 0)
        assert "waits for 1 of the 1 words of the dims" in core.protocol_text()
        for word in (16 | 16 << 10 | 16 << 20, 0, 0):
            lib.axl_stream_in(word, 0)
        assert "last opcode rC is complete" in core.protocol_text()
        assert "256 of the 256 words of C" in core.protocol_text()

    def test_without_opcodes(self) -> None:
        core, lib = Core(BOARD, isa.builtin("v1", 4)), Fabric().lib
        lib.axl_protocol_reset()
        for word in range(20):
            lib.axl_stream_in(word, 0)
        assert "waits for 12 of the 16 words of B" in core.protocol_text()
        for word in range(13):
            lib.axl_stream_in(word, 0)
        assert "waits for 15 of the 16 words of A" in core.protocol_text()
        assert "16 of the 16 words of C" in core.protocol_text()


class TestProtocolOfSettings:
    """What a tile is follows from dims and settings: post-processing, images, saved results."""

    def monitor(self, spec: isa.AcceleratorSpec) -> Callable[..., str]:
        core, lib = Core(BOARD, spec), Fabric().lib
        lib.axl_protocol_reset()

        def take(name: str, *words: int) -> str:
            """The opcode word (of the sum of several), then the words; what the monitor says now."""
            literals = [spec.opcodes[one].literal or 0 for one in name.split()]
            for word in (sum(literals), *words):
                lib.axl_stream_in(word, 0)
            return core.protocol_text()

        self.core, self.lib = core, lib
        return take

    def out(self, words: int) -> str:
        for word in range(words):
            self.lib.axl_stream_out(0, int(word == words - 1))
        assert self.core.state.fault is None
        return self.core.protocol_text().partition("; ")[2]

    def test_requantised_results_are_bytes(self) -> None:
        take = self.monitor(isa.builtin("v4_16", post=True))
        sizes = 32 | 48 << 10 | 16 << 20
        assert "last opcode cfgP waits for 1 of the 1 words of the dims" in take("cfgP")
        self.lib.axl_stream_in(0x7F8000, 0)
        assert "last opcode sP waits for 96 of the 96 words of P" in take("sP", sizes)
        for word in range(96):
            self.lib.axl_stream_in(word, 0)
        assert f"{32 * 48 // 4} of the {32 * 48 // 4} words of C (opcode qC)" in take("qC", sizes)
        assert "nothing more is due" in self.out(32 * 48 // 4)
        assert f"{32 * 48} of the {32 * 48} words of C (opcode rC)" in take("rC", sizes)

    def test_images_are_dense_and_filters_begin_on_beats(self) -> None:
        spec = isa.revise(isa.builtin("conv_v4", data_type="int8", post=True), stream_width=64)
        take = self.monitor(spec)
        taps = 3 | 3 << 5 | 1 << 10 | 1 << 14 | 1 << 18 | 1 << 22
        assert "last opcode cfg is complete" in take("cfg", taps)
        image = -(-5 * 7 * 9 // 8) * 2
        text = take("sI", 5 | 7 << 11 | 9 << 21, 1 | 1 << 8, 0)
        assert f"last opcode sI waits for {image} of the {image} words of I" in text
        for word in range(image):
            self.lib.axl_stream_in(word, 0)
        filters = 3 * -(-5 * 3 * 3 // 8) * 2
        text = take("sF", 3 | 5 << 11)
        assert f"last opcode sF waits for {filters} of the {filters} words of F" in text
        for word in range(filters):
            self.lib.axl_stream_in(word, 0)
        assert "last opcode cO is complete" in take("cO", 7 | 9 << 11)
        assert "last opcode sP waits for 6 of the 6 words of P" in take("sP", 3)
        for word in range(6):
            self.lib.axl_stream_in(word, 0)
        raw, small = -(-3 * 7 * 9 // 2) * 2, -(-3 * 7 * 9 // 8) * 2
        assert f"{raw} of the {raw} words of O (opcode rO)" in take("rO", 0)
        assert "nothing more is due" in self.out(raw)
        assert f"{small} of the {small} words of O (opcode qO)" in take("qO", 0)

    def test_saved_results_come_together(self) -> None:
        take = self.monitor(isa.builtin("conv_v3"))
        assert "last opcode sC sH waits for 1 of the 1 words of the dims" in take("sC sH")
        for word in (2, 3):
            self.lib.axl_stream_in(word, 0)
        assert "last opcode sF waits for 18 of the 18 words of F" in take("sF")
        for word in range(18):
            self.lib.axl_stream_in(word, 0)
        for _ in range(5):
            assert "last opcode sIcO is complete" in take("sIcO", *range(18))
        text = take("sI cO save rO", *range(17))
        assert "last opcode sI cO save rO waits for 1 of the 18 words of I" in text
        assert "nothing more is due" in text
        self.lib.axl_stream_in(0, 0)
        assert "6 of the 6 words of O (opcode rO)" in self.core.protocol_text()
        assert "nothing more is due" in self.out(6)
        assert "nothing more is due" in take("rO"), "all were cleared"

    def test_bits_of_no_opcode(self) -> None:
        assert "is 0x00000081 where an opcode should be" in self._word(isa.builtin("conv_v3"), 0x81)
        assert "is 0x00000000 where an opcode should be" in self._word(isa.builtin("conv_v3"), 0)

    def _word(self, spec: isa.AcceleratorSpec, word: int) -> str:
        core, lib = Core(BOARD, spec), Fabric().lib
        lib.axl_protocol_reset()
        lib.axl_stream_in(word, 0)
        return core.protocol_text()
