"""IP of the vendor's beside an accelerator: by C on the vendor's API, by a live session, and what is refused.

What a register does was tried with the vendor's own drivers and examples (gpio, tmrctr, axicdma, llfifo),
unchanged; expected numbers here are arithmetic of the product guides.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import axiloom as ax
from axiloom import isa
from axiloom.base.errors import CompileError, DriverError, HangError, UsageError
from axiloom.cosim.build.user_code import CompileOptions
from axiloom.cosim.core import Core
from axiloom.cosim.job import Job
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System
from axiloom.isa.contract.fifo_registers import ISR_RESET, Interrupt

HERE = Path(__file__).parent / "bsp"
LOOP = isa.builtin("fifo")
BESIDE = ("buttons=axi_gpio@0x41210000,gpio_width=4,in=5@20000,in=1@40000", "axi_timer", "axi_cdma")
ROUND = """round {}: 5 ticks of 1000 in 5 thousand cycles, self test 0
polled right
interrupt right
ring right
ring right
keyhole right
error 40 0
"""
SAID = "pins 5f 0, f\nedges 2, level 1\n" + ROUND.format(0) + ROUND.format(1)


def alone(folder: Path, *defines: str) -> Core:
    """Without RTL: the blocks are of the core."""
    system = System(LOOP, ip=BESIDE)
    options = CompileOptions(defines, compiler=("-Wextra",), bsp=True)
    elf, warnings = system.compile_user([HERE / "neighbours.c"], folder / "a.elf", options)
    assert warnings == []
    core = Core(system.profile, beside=system.placed)
    core.begin(elf)
    core.run()
    return core


def test_gpio_timer_and_cdma_by_the_vendor_s_api(tmp_path: Path) -> None:
    core = alone(tmp_path)
    assert (core.console.replace("\r\n", "\n"), core.state.exit_code) == (SAID, 0)
    assert (core.stale(), core.notes()) == ([], [])
    first = core.counters()["cpu-cycles"]
    core.begin(core.program, {})  # type: ignore[arg-type]
    core.run()
    assert core.console.replace("\r\n", "\n") == SAID  # a job begins with blocks as after a reset
    assert core.counters()["cpu-cycles"] == first


def test_what_the_cdma_reads_before_a_flush_is_stale(tmp_path: Path) -> None:
    stale = alone(tmp_path, "NO_FLUSH=1").stale()
    assert "missing flush" in stale[0]
    assert "neighbours.c:" in stale[0]


def bits(*interrupts: Interrupt) -> str:
    return f"{sum(1 << bit for bit in interrupts):x}"


@pytest.mark.slow
def test_packets_by_a_stream_fifo(tmp_path: Path) -> None:
    soc = Soc(System(LOOP, sim="icarus", ip=["axi_fifo_mm_s"]))
    elf, _ = soc.system.compile_user([HERE / "stream.c"], tmp_path / "a.elf", CompileOptions(bsp=True))
    (result,) = soc.run_many([Job(elf)], check=False)
    turn = "room 508, packets of 3 and 40, 0 left"
    one = Interrupt
    assert (result.fault, result.hang, result.breaches) == (None, None, [])
    assert result.console.replace("\r\n", "\n").splitlines() == [
        f"reset {ISR_RESET:x}",
        turn,
        turn,
        f"interrupt {bits(one.RC)}, 20 bytes: not a whole word",
        f"errors {bits(one.RPUE)} {bits(one.RPURE)} {bits(one.RPORE)} {bits(one.TSE)} {bits(one.TPOE)}, "
        "room 0 and 508",
    ]
    assert (result.mistakes, result.fabric["words_in"]) == ([], 2 * 43 + 5 + 1 + 1)


def test_a_live_session_drives_pins_and_counts_cycles() -> None:
    with ax.soc("v1_4", sim="icarus", ip=["leds=axi_gpio", "axi_timer", "axi_cdma"]) as chip:
        leds, timer, cdma = (chip.system.at(name).base for name in ("leds", "axi_timer_0", "axi_cdma_0"))
        assert chip.read(leds + 4) == 0xFFFF_FFFF
        chip.write(leds + 12, 0)
        chip.write(leds + 8, 9)
        assert chip.pins("leds", 1) == 9
        chip.write(leds + 0x11C, 1 << 31)
        chip.write(leds + 0x128, 1)
        chip.drive("leds", 6)
        assert (chip.read(leds), chip.interrupts) == (6, {"leds"})
        chip.write(leds + 0x120, 1)  # ... toggles the bit
        assert chip.interrupts == frozenset()
        chip.write(timer + 4, 98)
        chip.write(timer, 0x20)
        chip.write(timer, 0xD2)  # ENT, ENIT, ARHT, down: a period of TLR + 2
        seen = []
        for _ in range(3):
            assert chip.wait_for_interrupt() == {"axi_timer_0"}
            seen.append(chip.cycles)
            chip.write(timer, 0x1D2)
        assert [b - a for a, b in pairwise(seen)] == [100, 100]
        chip.write(timer, 0x192)  # without an interrupt it goes round, too
        left = chip.read(timer + 8)
        chip.step(100 * 1000)
        assert (left - chip.read(timer + 8)) % 100 < 40  # what the two reads take
        chip.write(timer, 0x100)
        data = chip.memory.allocate(32, np.uint32)
        data[:16] = range(16)
        at = chip.memory.address(data)
        chip.write(cdma, 0x1000)
        chip.write(cdma + 0x18, at)
        chip.write(cdma + 0x20, at + 64)
        begin = chip.cycles
        chip.write(cdma + 0x28, 64)
        assert chip.wait_for_interrupt() == {"axi_cdma_0"}
        assert np.array_equal(data[16:], data[:16])
        board = chip.system.profile
        assert 16 + board.ddr_read_cycles + board.ddr_write_cycles < chip.cycles - begin < 200
        with pytest.raises(UsageError, match="no pins of 'axi_cdma_0': neighbours with pins are leds, axi_t"):
            chip.pins("axi_cdma_0")
        with pytest.raises(
            DriverError, match="nothing is mapped there; registers begin at 0x40400000, 0x412"
        ):
            chip.read(0x5000_0000)


@pytest.mark.slow
def test_a_live_session_sends_tiles_by_a_fifo() -> None:
    rng = np.random.default_rng(5)
    with ax.soc("v1_4", sim="icarus", ip=["axi_fifo_mm_s@0x43C20000"], watchdog_cycles=20_000) as chip:
        for _ in range(2):
            a, b = rng.integers(-9, 9, (2, 4, 4), dtype=np.int32)
            chip.send(np.concatenate([a.ravel(), b.ravel()]))
            assert np.array_equal(chip.receive((4, 4)), a @ b)
        assert chip.read(0x43C2_000C) == 508
        with pytest.raises(DriverError, match="registers begin at 0x43c20000"):
            chip.read(0x4040_0000)
        chip.send(np.zeros(20, np.int32))
        with pytest.raises(HangError, match=r"no packet comes out.*waits for 12 of the 16 words of B"):
            chip.receive((4, 4))


def test_a_header_without_its_block_says_what_to_give(tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text('#include "xgpio.h"\nint main(void) { return 0; }\n')
    with pytest.raises(CompileError, match=r"xgpio\.h: the simulated system has no AXI GPIO: give --ip axi"):
        System(LOOP).compile_user([source], tmp_path / "a.elf", CompileOptions(bsp=True))


@pytest.mark.parametrize(
    ("ip", "says"),
    [
        (["axi_uart"], r"where IP is axi_gpio, axi_timer, axi_cdma, axi_fifo_mm_s"),
        (["axi_gpio@0x1234"], "a block stands at a multiple of 0x10000 from 0x40000000"),
        (["axi_gpio@0x40400000"], "axi_gpio_0 at 0x40400000 and axi_dma_0 at 0x40400000 overlap"),
        (["axi_gpio,pins=3"], "axi_gpio has no pins: it has gpio_width, gpio2_width, is_dual"),
        (["axi_gpio,gpio_width=40"], "C_GPIO_WIDTH is simulated as 0x1 to 0x20, not 0x28"),
        (["axi_gpio,in=x"], "'x' is no number of 32 bits"),
        (["axi_fifo_mm_s,use_rx_cut_through=1"], "C_USE_RX_CUT_THROUGH is simulated as 0x0 alone"),
        (["axi_fifo_mm_s", "b=axi_fifo_mm_s"], "one FIFO takes the place of the DMA of one accelerator"),
        (["a=axi_gpio", "a=axi_timer"], "two blocks are called a"),
        (["axi_gpio"] * 15, "17 interrupts of the fabric, and a Zynq has 16"),
    ],
)
def test_what_does_not_go_is_one_line(ip: list[str], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        System(LOOP, ip=ip)
