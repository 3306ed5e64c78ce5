"""Processes that wait as Linux programs do: for interrupts through UIO, for each other, for time.

The programs of ``processes/`` know nothing of Axiloom. Those with a DMA run against the loopback's RTL.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from axiloom import boards, isa
from axiloom.base.errors import DriverError, HangError
from axiloom.boards import Board
from axiloom.cosim.build.user_code import CompileOptions, compile_user
from axiloom.cosim.core import Core
from axiloom.cosim.job import Job, Result
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System

HERE = Path(__file__).parent / "processes"
A9, A53 = boards.load("pynq-z2"), boards.load("zcu104")
CPUS = pytest.mark.parametrize(
    "board", [A9, pytest.param(A53, marks=pytest.mark.slow)], ids=lambda board: str(board.architecture)
)
SPEC = isa.builtin("loopback")


def build(folder: Path, board: Board, name: str, *defines: str) -> Path:
    options = CompileOptions(defines)
    source = HERE / f"{name}.c"
    elf, warnings = compile_user(
        [source], folder / f"{name}.elf", board=board, spec=[SPEC], linux=True, options=options
    )
    assert warnings == []
    return elf


def simulated(folder: Path, board: Board, name: str, *defines: str) -> Result:
    """With the DMA; it raises nothing."""
    elf = build(folder, board, name, *defines)
    (result,) = Soc(System(SPEC, board=board, os="linux")).run_many([Job(elf, {}, {})], check=False)
    return result


def alone(folder: Path, board: Board, name: str, *defines: str, arguments: Sequence[str] = ()) -> Core:
    core = Core(board, SPEC)
    core.begin(build(folder, board, name, *defines), arguments=arguments)
    core.run()
    return core


def line(name: str, text: str) -> str:
    """Of a program: where it says `text`."""
    rows = (HERE / f"{name}.c").read_text().splitlines()
    return f"{name}.c:{next(number for number, row in enumerate(rows, 1) if text in row)}"


@CPUS
def test_interrupt_wakes_read_poll_and_select(tmp_path: Path, board: Board) -> None:
    result = simulated(tmp_path, board, "uio")
    assert (result.fault, result.hang, result.exit_code) == (None, None, 0)
    assert result.fabric["transfers_out"] == 3
    assert result.fabric["mmio_reads"] == 3  # it sleeps instead of polling


@pytest.mark.parametrize(
    ("wrong", "waits", "where", "why"),
    [
        (
            "NEVER_ENABLED",
            "poll of /dev/uio0",
            "round == 2 &&",
            "its interrupt is masked since event 1: nothing has",
        ),
        ("NO_IRQ", "read of /dev/uio0", "read(uio, &count", "its interrupt is enabled, and its line is low"),
        (
            "OTHER_LINE",
            "read of /dev/uio1",
            "read(uio, &count",
            "its interrupt is enabled, and its line is low",
        ),
    ],
)
def test_interrupt_that_never_comes_is_a_hang(
    tmp_path: Path, wrong: str, waits: str, where: str, why: str
) -> None:
    hang = simulated(tmp_path, A9, "uio", wrong).hang
    assert hang is not None
    assert f"the process waits for what cannot happen: {waits}, called at {line('uio', where)} ({why}" in hang


@CPUS
def test_dma_heap(tmp_path: Path, board: Board) -> None:
    result = simulated(tmp_path, board, "heap")
    assert (result.fault, result.exit_code, result.stale) == (None, 0, [])


@CPUS
def test_dma_heap_without_sync_is_stale(tmp_path: Path, board: Board) -> None:
    result = simulated(tmp_path, board, "heap", "NO_SYNC")
    assert result.exit_code == 7
    assert result.fault is not None
    assert result.fault.endswith("the driver returned 7; it printed last: old data")
    assert any(text.startswith("missing flush: the DMA, started by ") for text in result.stale)


def test_settings_of_udmabuf(tmp_path: Path) -> None:
    right = simulated(tmp_path, A9, "settings", 'SIZE="8192"')
    assert (right.exit_code, right.stale) == (0, [])
    short = simulated(tmp_path, A9, "settings", 'SIZE="4096"')
    assert short.exit_code == 5
    assert short.stale[0].startswith("missing ")


@CPUS
def test_threads_signals_timers(tmp_path: Path, board: Board) -> None:
    core = alone(tmp_path, board, "threads")
    assert (core.state.run, core.state.exit_code) == ("exited", 0)


@CPUS
def test_sizes_have_the_kernel_s_limits(tmp_path: Path, board: Board) -> None:
    assert alone(tmp_path, board, "limits").state.exit_code == 0


@CPUS
def test_arguments_files_memory_and_epoll(tmp_path: Path, board: Board) -> None:
    words = ("in put.bin", "-n=64")
    assert alone(tmp_path, board, "files", arguments=words).state.exit_code == 0
    with pytest.raises(DriverError, match="EPOLLET is not simulated: epoll tells what is there"):
        alone(tmp_path, board, "files", "EDGE", arguments=words)
    with pytest.raises(DriverError, match=r"arguments of 16,392 bytes: at most 16,384"):
        Core(board).begin(tmp_path / "files.elf", arguments=["x" * 16384])


def test_deadlock_is_a_hang(tmp_path: Path) -> None:
    with pytest.raises(HangError) as raised:
        alone(tmp_path, A9, "threads", "DEADLOCK")
    text = str(raised.value)
    assert text.startswith("the process waits for what cannot happen: futex (a mutex")
    assert "called at " + line("threads", "#ifdef DEADLOCK").split(":")[0] in text


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("FORK", r"system call 2 \(fork\) at pc 0x\w+ .*: it is not one of those that are simulated"),
        ("KILLED", r"the process was ended by signal 15 \(SIGTERM\) at pc 0x"),
    ],
)
def test_what_ends_a_process(tmp_path: Path, what: str, why: str) -> None:
    with pytest.raises(DriverError, match=why) as raised:
        alone(tmp_path, A9, "threads", what)
    assert str(raised.value).startswith("threads.c:")
