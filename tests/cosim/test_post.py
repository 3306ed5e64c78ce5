"""Post-processing in the simulated SoC: C as int8 on both simulators, and what a hang says of P."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.hw.array.test_requantise import reference

from axiloom import boards, isa
from axiloom.base.errors import HangError
from axiloom.cosim.build.toolchain import compile_bare
from axiloom.cosim.job import Job
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System

SPEC = isa.builtin("v3_4", post=True)
SOURCE = Path(__file__).parent / "drivers" / "post.c"
SHARED = Path(__file__).parents[1] / "system" / "drivers"
CHANNELS = [(-7, 65535, 17), (2**31 - 1, 3, 1), (0, 1, 0), (1000, 40000, 20)]
BOUNDS = 3, -100, 90


def driver(tmp_path: Path, **defines: int) -> Path:
    board = boards.load(boards.DEFAULT)
    return compile_bare([SOURCE], tmp_path / "post.elf", board=board, include=[SHARED], defines=defines)


@pytest.mark.slow
@pytest.mark.icarus
def test_both_simulators_send_the_same_bytes(tmp_path: Path) -> None:
    a, b = np.random.default_rng(2).integers(-30, 30, (2, 4, 4), np.int32)
    parameters = np.array(
        [word for bias, mult, shift in CHANNELS for word in (bias, mult | shift << 16)], np.int64
    ).astype(np.uint32)
    zp, lo, hi = (value & 0xFF for value in BOUNDS)
    inputs = {"A": a, "B": b, "P": parameters, "bounds": np.array([zp | lo << 8 | hi << 16], np.uint32)}
    job = Job(driver(tmp_path), inputs, {"D": ((4,), "uint32")})
    results = [Soc(System(SPEC, sim=sim)).run_many([job])[0] for sim in ("verilator", "icarus")]
    expected = [
        [reference(int(s), channel, BOUNDS) for s, channel in zip(row, CHANNELS, strict=True)]
        for row in a @ b
    ]
    assert len({value for row in expected for value in row}) > 5
    for result in results:
        assert result.outputs["D"].view(np.int8).reshape(4, 4).tolist() == expected
        assert result.fabric["words_out"] == 4
    assert results[0].fabric == results[1].fabric
    assert results[0].counters == results[1].counters


@pytest.mark.slow
def test_missing_parameters_are_named(tmp_path: Path) -> None:
    with pytest.raises(HangError) as caught:
        Soc(System(SPEC, watchdog_cycles=3000)).run(driver(tmp_path, PARAMETERS=5))
    assert "the device sends nothing: 4 words expected, 0 received, 4 missing" in str(caught.value)
    assert "last opcode sP waits for 3 of the 8 words of P (8 words in)" in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words", "told"),
    [
        # fh fw sh sw dh dw; ic ih iw, pt pl; of the 3 x 4 x 5 elements, 7
        (
            "conv_v4",
            [16, 1 | 1 << 5 | 1 << 10 | 1 << 14 | 1 << 18 | 1 << 22, 1, 3 | 4 << 11 | 5 << 21, 0, *range(7)],
            "last opcode sI waits for 53 of the 60 words of I (12 words in)",
        ),
        (
            "conv_v3",
            [16 | 32, 2, 3, 1, *range(18), 2 | 4 | 64, *range(5)],
            "last opcode sIcO waits for 13 of the 18 words of I (28 words in)",
        ),
    ],
)
def test_a_hang_of_a_convolution_names_what_is_missing(
    name: str, words: list[int], told: str, tmp_path: Path
) -> None:
    board = boards.load(boards.DEFAULT)
    source = SOURCE.with_name("words.c")
    elf = compile_bare(
        [source], tmp_path / "words.elf", board=board, include=[SHARED], defines={"COUNT": len(words)}
    )
    with pytest.raises(HangError) as caught:
        Soc(System(isa.builtin(name), watchdog_cycles=3000)).run(elf, {"W": np.array(words, np.uint32)})
    assert told in str(caught.value)
