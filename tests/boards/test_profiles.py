"""Profiles of boards: what loads, and what is said about those that do not."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from axiloom import boards
from axiloom.base.errors import UsageError

FOLDER = Path(boards.__file__).parent


@pytest.fixture
def changed(tmp_path: Path):
    """The path of a profile with one text replaced by another."""

    def change(old: str, new: str, board: str = "pynq-z2-linux") -> Path:
        text = (FOLDER / board / "profile.toml").read_text()
        assert old in text
        path = tmp_path / "profile.toml"
        path.write_text(text.replace(old, new, 1))
        return path

    return change


@pytest.mark.parametrize("name", boards.names())
def test_every_profile_loads(name: str) -> None:
    board = boards.load(name)
    assert board.name == name
    assert boards.load(FOLDER / name / "profile.toml") == board


def test_bare_metal_has_no_operating_system() -> None:
    board = boards.load("pynq-z2")
    assert board.os is None
    assert board.simulation.dma_buffers == "cached"
    assert board.simulation.dma_cached


def test_linux() -> None:
    board = boards.load("pynq-z2-linux")
    assert board.os is not None
    assert board.os.syscall.cycles > 100
    assert not board.simulation.dma_cached
    assert board.events.l1d_events == "accesses"


def test_a_board_has_the_port_that_is_named_or_says_which_it_has() -> None:
    zynq, other = boards.load("pynq-z2"), boards.load("zcu104")
    assert [boards.is_coherent(zynq, port) for port in ("acp", "coherent", "plain")] == [True, True, False]
    assert not boards.is_coherent(other, "plain")
    with pytest.raises(UsageError, match=r"^--memory-port 'hp': pynq-z2 has plain or acp \(coherent\)$"):
        boards.is_coherent(zynq, "hp")
    with pytest.raises(UsageError, match=r"^--memory-port 'acp': zcu104 has plain alone, none looks into"):
        boards.is_coherent(other, "acp")


def test_a_board_behind_its_coherent_port() -> None:
    board = boards.load("pynq-z2")
    behind = boards.through(board, coherent=True)
    assert board.coherent is not None
    assert behind.simulation.dma_buffers == "coherent"
    assert behind.fabric.port_bits == board.coherent.bits
    assert behind.fabric.ddr_read == board.coherent.ddr_read
    assert boards.through(behind, coherent=True) == behind
    assert boards.through(board, coherent=False) is board
    with pytest.raises(UsageError, match="nexys-video-rv32 has plain alone"):
        boards.through(boards.load("nexys-video-rv32"), coherent=True)


def test_both_describe_one_cpu() -> None:
    bare, linux = boards.load("pynq-z2"), boards.load("pynq-z2-linux")
    assert bare.caches == linux.caches

    for name in ("l2_hit", "ddr", "writeback", "branch_miss", "uncached_read", "uncached_write"):
        assert getattr(bare.latency, name) == getattr(linux.latency, name)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"uncached"', '"fast"', "simulation.dma_buffers must be uncached, cached or coherent, not 'fast'"),
        ('"accesses"', '"all"', "events.l1d_events must be separate or accesses, not 'all'"),
        ("[os.syscall]", "[os.call]", "os: syscall is missing, call is unknown"),
        ("uncached = true", "uncached = 1", "events: uncached must be true or false, not 1"),
        ("l2_ways = 8", "l2_ways = 8.5", "caches: l2_ways must be a whole number, not negative, not 8.5"),
        ("l1d_ways = 4", "l1d_ways = 3", "caches.l1d_size and l1d_ways must be powers of two, with a line"),
        ("l1d_ways = 4", "l1d_ways = 2048", "bytes in each way at least, not 32,768 and 2048"),
        ("l2_ways = 8", "l2_ways = 0", "caches.l2_size and l2_ways must be powers of two"),
        ("cpu_hz = 650_000_000", "cpu_hz = 0", "cpu_hz must be 1,000,000 to 10,000,000,000, not 0"),
        ("mul = ", "mul = nan # ", "cost.mul must be 0 to 1,000, not nan"),
        ("ddr_read = ", "ddr_read = 99999999999 # ", "fabric.ddr_read must be 0 to 4,294,967,295"),
        ("predictor_bits = 12", "predictor_bits = 60", "latency.predictor_bits must be 1 to 20, not 60"),
        ("[events]\n", "[event]\n", "events is missing, event is unknown"),
    ],
)  # fmt: skip
def test_faults(changed, old: str, new: str, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        boards.load(changed(old, new))


def test_a_section_that_is_none(changed) -> None:
    path = changed('name = "pynq-z2-linux"', 'name = "pynq-z2-linux"\nfidelity = 3')
    path.write_text(path.read_text().split("[fidelity]")[0])
    with pytest.raises(UsageError, match="fidelity must be a table, not 3"):
        boards.load(path)


def test_fidelity(changed) -> None:
    assert boards.load("pynq-z2").fidelity is None
    path = changed('name = "pynq-z2"', 'name = "mine"', "pynq-z2")
    band = 'source = "bench"\ntask_clock_mean = 0.021\ntask_clock_worst = 0.1\nl1d_mean = 0.03\n'
    path.write_text(f"{path.read_text()}\n[fidelity]\n{band}")
    assert str(boards.load(path).fidelity) == (
        "task-clock within 2.1% on average, 10.0% at worst; L1D accesses within 3.0% on average (bench)"
    )


def test_another_clock_of_the_fabric(changed) -> None:
    board = boards.load("pynq-z2@62.5")
    assert board == replace(boards.load("pynq-z2"), fabric_hz=62_500_000)
    path = changed("fabric_hz = 100_000_000", "fabric_hz = 90_000_000", "pynq-z2")
    assert boards.load(f"{path}@150").fabric_hz == 150_000_000
    assert boards.at_clock("pynq-z2", 62.5e6) == "pynq-z2@62.5"
    assert boards.at_clock("pynq-z2@62.5", 84e6) == "pynq-z2@84"
    assert boards.load(boards.at_clock(path, 84e6)).fabric_hz == 84_000_000
    with pytest.raises(UsageError, match="fabric_hz must be 1,000,000 to"):
        boards.load("pynq-z2@0.5")
    with pytest.raises(UsageError, match="board 'pynq-z2@fast' is unknown"):
        boards.load("pynq-z2@fast")
