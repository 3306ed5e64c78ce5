"""A port that looks into the caches: what is reported as stale without one, and is not with one."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from pathlib import Path

import pytest

from axiloom import boards, isa
from axiloom.cosim import native
from axiloom.cosim.build.toolchain import compile_bare
from axiloom.cosim.core import Core, library

BOARD = boards.load("pynq-z2")
ADVANCE = 4
PROGRAM = """
#include <stdint.h>
#define BUFFER ((volatile uint32_t *)0x16000000)
int main(void) {
    BUFFER[0] = 5;
    *(volatile uint32_t *)0x40400028u = 4; /* the DMA reads the word and writes it anew */
    return (int)BUFFER[0];
}
"""


def run(
    folder: Path, dma_buffers: str, port: boards.Coherent | None = BOARD.coherent, *, writes: bool = True
) -> Core:
    """The program, with a DMA that does its work while the register is written."""
    board = replace(BOARD, simulation=replace(BOARD.simulation, dma_buffers=dma_buffers), coherent=port)
    source = folder / "program.c"
    source.write_text(PROGRAM)
    core = Core(board, isa.builtin("v3", 4))
    core.begin(compile_bare([source], folder / "program.elf", board=board))
    lib = native.bind(library())
    now, accesses = 0, 0
    while True:
        address, data, delay = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        outputs = (ctypes.byref(address), ctypes.byref(data), ctypes.byref(delay))
        op = lib.axl_cpu_step(0, 0, 0, now, *outputs)
        now += delay.value
        if op == 0:
            return core
        if op != ADVANCE:
            accesses += 1
            assert lib.axl_mem_read(0x16000000) == (5 if dma_buffers == "coherent" else 0)
            if writes:
                lib.axl_mem_write(0x16000000, 9, 15)


@pytest.mark.every(2)
@pytest.mark.parametrize(("dma_buffers", "reports", "sees"), [("cached", 3, 5), ("coherent", 0, 9)])
def test_stale_data(tmp_path: Path, dma_buffers: str, reports: int, sees: int) -> None:
    core = run(tmp_path, dma_buffers)
    assert core.state.exit_code == sees
    assert len(core.stale()) == reports


@pytest.mark.slow
def test_what_the_dma_wrote_is_fetched_again(tmp_path: Path) -> None:
    for how, more in (("cached", 0), ("coherent", 1)):
        with_it, without = (run(tmp_path, how, writes=writes).counters() for writes in (True, False))
        assert with_it["cache-misses"] - without["cache-misses"] == more


def test_what_the_dma_wrote_is_in_l2_behind_an_acp(tmp_path: Path) -> None:
    """A port that allocates nothing leaves the line in memory."""
    assert BOARD.coherent is not None
    ports = (BOARD.coherent, replace(BOARD.coherent, allocates=False))
    misses = [run(tmp_path, "coherent", port).counters()["l2-misses"] for port in ports]
    assert misses[1] == misses[0] + 1


RING, STATUS, TAILDESC, DONE_AFTER = 0x00280000, 0x1C, 0x40400010, 300
WAITS = f"""
#include <stdint.h>
#define STATUS (*(volatile uint32_t *){RING + STATUS:#x})
int main(void) {{
    STATUS = 0;
    *(volatile uint32_t *){TAILDESC:#x}u = {RING:#x};
    int looks = 0;
    while (!STATUS && looks < 5000)
        looks++;
    return looks;
}}
"""


@pytest.mark.parametrize(("dma_buffers", "in_time"), [("coherent", True), ("cached", False)])
def test_cpu_that_waits_for_a_descriptor_in_its_caches(
    tmp_path: Path, dma_buffers: str, in_time: bool
) -> None:
    """It sees the status when the DMA writes it, and not only when its quantum is over; or never."""
    board = replace(BOARD, simulation=replace(BOARD.simulation, dma_buffers=dma_buffers))
    (tmp_path / "waits.c").write_text(WAITS)
    core = Core(board, isa.builtin("v3", 4))
    core.begin(compile_bare([tmp_path / "waits.c"], tmp_path / "waits.elf", board=board))
    lib = native.bind(library())
    now, told, done, op = 0, None, 0, ADVANCE
    while op:
        address, data, delay = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        outputs = (ctypes.byref(address), ctypes.byref(data), ctypes.byref(delay))
        op = lib.axl_cpu_step(0, 0, 0, now, *outputs)
        now += delay.value
        if told is None and address.value & 0xFFFFFFFF == TAILDESC:
            told = now
        if told is not None and not done and now >= told + DONE_AFTER:
            lib.axl_mem_write(RING + STATUS, 1 << 30, 15)
            done = now
    looks, cycles = core.state.exit_code, DONE_AFTER * BOARD.cpu_hz / BOARD.fabric_hz
    assert (looks < cycles) == in_time
    assert in_time == (looks < 5000) == (core.stale() == [])
    assert not in_time or done < told + DONE_AFTER + 20
    assert looks > 100
