"""A user's own drivers: one that is right, and each way to be wrong with the one line that says so."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from axiloom import isa
from axiloom.base.errors import DriverError, HangError, StaleDataError

DRIVERS = Path(__file__).parent / "drivers"
WATCHDOG = 20_000


@pytest.mark.slow
def test_a_hand_written_driver_is_right_twice(soc) -> None:
    rng = np.random.default_rng(5)
    a, b = rng.integers(-(2**31), 2**31, (2, 4, 4), np.int64).astype(np.int32)
    chip = soc("v3", 4)
    results = [
        chip.run(DRIVERS / "right.c", inputs={"A": a, "B": b}, outputs={"C": ((4, 4), "int32")})
        for _ in range(2)
    ]
    for result in results:
        assert (result.outputs["C"] == a @ b).all()
        assert result.stale == []
    assert results[0].counters == results[1].counters
    assert results[0].fabric["words_in"] == 17 + 17 + 1 + 1
    assert results[0].fabric["words_out"] == 16
    assert results[0].fabric["transfers_in"] == 4


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("driver", "words"),
    [
        ("missing_store", ["m_axis", "cC", "16"]),
        ("missing_payload", ["m_axis", "sA", "8 of the 16 words of A", "S2MM_DMASR 0x00000000"]),
        ("second_receive", ["m_axis", "rC", "16"]),
        ("unknown_opcode", ["0x00000099", "UNKNOWN_OPCODE"]),
        ("no_receive", ["m_axis", "rC"]),
    ],
)
def test_a_hang_is_diagnosed(soc, driver: str, words: list[str]) -> None:
    """The message names the stream, the last opcode and the words missing."""
    with pytest.raises(HangError) as hang:
        soc("v3", 4, watchdog_cycles=WATCHDOG).run(DRIVERS / f"{driver}.c")
    for word in words:
        assert word in str(hang.value)


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("driver", "words"),
    [
        ("long_receive", ["TLAST came before all the words asked for"]),
        ("bad_pointer", ["0xE0000000", "main"]),
    ],
)
def test_a_faulty_driver_is_named(soc, driver: str, words: list[str]) -> None:
    with pytest.raises(DriverError) as error:
        soc("v3", 4).run(DRIVERS / f"{driver}.c")
    for word in words:
        assert word in str(error.value)


@pytest.mark.slow
def test_a_transfer_longer_than_length_is_refused(soc) -> None:
    spec = isa.builtin("v3", 4)
    narrow = spec.replace(dma=dataclasses.replace(spec.link.dma, length_width=14))
    with pytest.raises(DriverError, match="LENGTH"):
        soc(narrow).run(DRIVERS / "long_transfer.c")


def test_a_forgotten_flush_is_reported(soc) -> None:
    with pytest.raises(StaleDataError, match=r"missing flush: .*; forgotten_flush\.c:9 had stored"):
        soc("v3", 4).run(DRIVERS / "forgotten_flush.c")


def test_a_tile_that_goes_beyond_its_matrix_is_named(soc) -> None:
    """The runtime reads it; the line is the one that calls."""
    a = np.arange(16, dtype=np.int32).reshape(4, 4)
    with pytest.raises(
        DriverError, match=r"beyond\.c:7, in .*reads bytes 64 to 79 of A, which has bytes 0 to 63"
    ):
        soc("v3", 4).run(DRIVERS / "beyond.c", inputs={"A": a})
