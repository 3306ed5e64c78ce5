"""A simulated SoC by hand: registers, memory, transfers, cycles, and what ends a session."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import axiloom as ax
from axiloom.base.errors import DriverError, HangError, UsageError
from axiloom.isa.contract.dma_registers import ADDRESS, DMACR, DMASR, LENGTH, Channel
from axiloom.library.sessions import Chip

RNG = np.random.default_rng(1)
MM2S, S2MM = Channel.MM2S, Channel.S2MM


def operands() -> np.ndarray:
    return RNG.integers(-9, 9, (2, 4, 4), dtype=np.int32)


@pytest.fixture(params=["verilator", "icarus"])
def chip(request: pytest.FixtureRequest) -> Iterator[Chip]:
    with ax.soc("v1_4", sim=request.param, watchdog_cycles=20_000) as chip:
        yield chip


def test_transfers_registers_and_streams_go_on_and_on(chip: Chip) -> None:
    for _ in range(3):
        a, b = operands()
        chip.send(np.concatenate([a.ravel(), b.ravel()]))
        assert np.array_equal(chip.receive((4, 4)), a @ b)
    stream = chip.streams["v1_4"]
    assert len(stream.sent) == 96
    assert np.array_equal(stream.sent[-16:].view(np.int32), b.ravel())
    assert np.array_equal(stream.received[-16:].view(np.int32), (a @ b).ravel())
    assert "nothing more is due (48 words out)" in stream.says


def test_the_same_by_registers_with_an_interrupt(chip: Chip) -> None:
    base, (a, b) = chip.system.device.link.dma.address, operands()
    both = chip.memory.allocate(32, np.int32)
    both[:16], both[16:] = a.ravel(), b.ravel()
    back = chip.memory.allocate((4, 4), np.int32)
    for channel, array in ((S2MM, back), (MM2S, both)):
        enable = DMACR.field("RS").mask | DMACR.field("IOC_IrqEn").mask * (channel is S2MM)
        chip.write(base + DMACR.at(channel), enable)
        chip.write(base + ADDRESS.at(channel), chip.memory.address(array))
        chip.write(base + LENGTH.at(channel), array.nbytes)
    assert chip.interrupts == frozenset()
    assert chip.wait_for_interrupt() == {"v1_4.s2mm"}
    assert np.array_equal(back, a @ b)
    done = DMASR.field("IOC_Irq").mask
    assert chip.read(base + DMASR.at(S2MM)) & done
    chip.write(base + DMASR.at(S2MM), done)
    assert chip.read(base + DMASR.at(S2MM)) & done == 0
    assert not chip.interrupts


def test_time_stands_still_until_it_is_told_to_pass(chip: Chip) -> None:
    chip.read(chip.system.device.link.dma.address)
    before = chip.cycles
    chip.step(1000)
    assert chip.cycles == before + 1000
    chip.step(10**9)  # nothing moves: a jump
    assert chip.cycles == before + 1000 + 10**9
    result = chip.close()
    assert result is not None
    assert result.fabric["mmio_reads"] == 1
    chip.step(2)
    assert chip.cycles == 2  # another session


def test_memories_and_registers_of_the_rtl() -> None:
    """Both simulators show the same tile in the banks of its buffer, and stop when a word of it comes."""
    tile = np.arange(1, 17, dtype=np.int32)
    shown: list[list[list[int]]] = []
    for sim in ("verilator", "icarus"):
        with ax.soc("v3_4", sim=sim) as chip:
            assert {"accelerator.buffer_a.bank_0", "dma.mm2s.fifo.storage"} <= {*chip.memories}
            banks = [f"buffer_a.bank_{number}" for number in range(4)]
            assert not any(chip.memories[bank].any() for bank in banks)
            chip.send(np.concatenate([np.int32([1]), tile]).astype(np.int32))  # opcode sA, and its tile
            chip.wait()
            chip.step(50)
            shown.append([chip.memories[bank].tolist() for bank in banks])
            assert {value for bank in shown[-1] for value in bank} == {0, *tile.tolist()}
            place = next(number for number, bank in enumerate(shown[-1]) if 7 in bank)
            index = shown[-1][place].index(7)
            word, next_word = f"{banks[place]}[{index}]", f"{banks[place]}[{index ^ 4}]"  # the other half
            assert chip.wait_for_state(word, 7)  # it is there already
            before = chip.cycles
            assert not chip.wait_for_state(next_word, 8, cycles=100)
            assert 100 <= chip.cycles - before < 104
            chip.send(np.concatenate([np.int32([1]), tile + 1]).astype(np.int32))
            assert chip.wait_for_state(next_word, 8)
            assert chip.memories[banks[place]][index ^ 4] == 8
            assert not any(17 in chip.memories[bank] for bank in banks)  # the last one comes later
            assert all(isinstance(value, int) for value in chip.state.values())
            with pytest.raises(UsageError, match=r"'bank_0' is the end of several names: accelerator.buffer"):
                chip.memories["bank_0"]
            with pytest.raises(UsageError, match="no register or memory 'bank_9'; did you mean bank_"):
                chip.memories["bank_9"]
            with pytest.raises(UsageError, match=r"write NAME of a register, NAME.WORD. of a memory"):
                chip.wait_for_state(banks[0], 1)
    assert shown[0] == shown[1]


def test_what_cannot_be_is_one_line_and_the_session_goes_on(chip: Chip) -> None:
    base = chip.system.device.link.dma.address
    with pytest.raises(DriverError, match="read of 0x50000000: nothing is mapped there; registers begin at"):
        chip.read(0x5000_0000)
    with pytest.raises(DriverError, match="aligned 32-bit words"):
        chip.write(base + 2, 1)
    with pytest.raises(DriverError, match="this is RAM: `memory` has it"):
        chip.read(0x1000)
    with pytest.raises(UsageError, match="no 8,589,934,592 bytes of RAM are free in a row"):
        chip.memory.allocate(1 << 31)
    with pytest.raises(UsageError, match="this array is not in the SoC's RAM"):
        chip.memory.address(np.zeros(4))
    with pytest.raises(UsageError, match="this slice has gaps"):
        chip.memory.address(chip.memory.allocate(8)[::2])
    with pytest.raises(UsageError, match="time does not go back"):
        chip.step(-1)
    with pytest.raises(UsageError, match="of='v3': the accelerators are v1_4"):
        chip.send([1], of="v3")
    assert chip.read(base + DMASR.at(MM2S)) == DMASR.reset


def test_a_transfer_that_never_ends_says_why(chip: Chip) -> None:
    chip.send(np.zeros(31, np.int32))  # a word is missing
    with pytest.raises(HangError, match=r"16 words expected, 0 received.*the session, waiting for"):
        chip.receive((4, 4))
    with pytest.raises(HangError, match="16 words expected"):  # and says so ever after
        chip.read(chip.system.device.link.dma.address)


def test_memory_that_is_free_is_used_again() -> None:
    with ax.soc("v1_4", sim="icarus") as chip:
        first, second = chip.memory.allocate(1000), chip.memory.allocate(1000)
        first[:] = 7
        place = chip.memory.address(first)
        chip.memory.free(first)
        third = chip.memory.allocate(900)
        assert chip.memory.address(third) == place
        assert not third.any()
        assert chip.memory.address(second) > place
        with pytest.raises(UsageError, match="nothing was allocated"):
            chip.memory.free(second[1:])
        chip.memory.write(place, [1, -1])
        assert chip.memory.read(place, 2).tolist() == [1, 0xFFFF_FFFF]


def test_a_dma_of_descriptors_takes_transfers_too() -> None:
    with ax.soc("v1_4", sim="icarus", dma="sg") as chip:
        for _ in range(5):
            a, b = operands()
            chip.send([*a.ravel().tolist(), *b.ravel().tolist()])
            assert np.array_equal(chip.receive((4, 4)), a @ b)


def test_nothing_is_left_of_a_process_that_is_killed(tmp_path: Path) -> None:
    program = tmp_path / "killed.py"
    program.write_text(
        "import os, signal, axiloom as ax\n"
        "chip = ax.soc('v1_4', sim='icarus')\n"
        "chip.step(1)\n"
        "print(chip._session.live._process.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    simulator = int(done.stdout)
    for _ in range(100):
        try:
            os.kill(simulator, 0)
            state = Path(f"/proc/{simulator}/stat").read_text().split()[2]
        except (ProcessLookupError, FileNotFoundError):
            return
        if state == "Z":
            return
        subprocess.run(["sleep", "0.1"], check=True)
    pytest.fail(f"the simulator {simulator} still runs")
