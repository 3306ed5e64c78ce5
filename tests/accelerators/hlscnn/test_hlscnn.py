"""HLSCNN's text against a convolution in plain NumPy; its error against float64 beside the published one."""

from __future__ import annotations

import numpy as np
import pytest
from tests.accelerators.hlscnn.hlscnn_plain import (
    Array,
    Conv,
    activation_bytes,
    commands,
    output_bytes,
    outputs_of,
    plain,
    relative_error,
    weight_bytes,
    write,
)

from axiloom.isa.instructions.library import targets
from axiloom.isa.instructions.read import parse, read
from axiloom.isa.instructions.simulator.simulate import Simulator
from axiloom.isa.instructions.simulator.state import IllegalCommandError

FILE = targets()["hlscnn"]
ACT, WEIGHTS, INITIAL = 0x100, 0x8000, 0x20000


def convolved(
    simulator: Simulator, conv: Conv, x: Array, w: Array, before: Array | None = None, width: int = 2
) -> Array:
    """What the device makes of it, at an odd place of spad1."""
    out, soc = 3, simulator.state["soc"]
    act, weights = activation_bytes(conv, x), weight_bytes(conv, w, width)
    soc[ACT : ACT + len(act)] = act
    soc[WEIGHTS : WEIGHTS + len(weights)] = weights
    initial = None
    if before is not None:
        raw = output_bytes(conv, before)
        soc[INITIAL : INITIAL + len(raw)] = raw
        initial = (INITIAL, len(raw))
    for command in commands(conv, ACT, (WEIGHTS, len(weights)), out, initial):
        simulator.command(**command)
    beats = []
    for beat in range(-(-conv.filters // 8) * conv.out[0] * conv.out[1]):
        simulator.command(addr=0x32024000 + 16 * (out + beat), rd=1)
        beats.append(simulator.state["bus"].copy())
    return outputs_of(conv, np.concatenate(beats))


def random_conv(rng: np.random.Generator, taps: int) -> Conv:
    """Of not more than `taps` taps."""
    while True:
        kernel = tuple(int(one) for one in rng.integers(1, 4, 2))
        strides = tuple(int(one) for one in rng.integers(1, 4, 2))
        rows, cols = (int(rng.integers(k, k + 6)) for k in kernel)
        bias = int(rng.integers(-2000, 2000)) if rng.integers(2) else None
        found = Conv(
            *(int(rng.integers(1, 25)), rows, cols, int(rng.integers(1, 11)), kernel, strides, bias),  # type: ignore[arg-type]
            relu=bool(rng.integers(2)),
            accumulate=bool(rng.integers(2)),
        )
        if found.filters * found.blocks * np.prod(found.out) * np.prod(kernel) <= taps:
            return found


def data(rng: np.random.Generator, conv: Conv, large: bool) -> tuple[Array, Array, Array | None]:
    size = 32768 if large else 600
    x = rng.integers(-size, size, (conv.channels, conv.rows, conv.cols))
    w = rng.integers(-32768, 32768, (conv.filters, conv.channels, *conv.kernel))
    before = rng.integers(-size, size, (conv.filters, *conv.out)) if conv.accumulate else None
    return x, w, before


def compare(constants: dict[str, int], convs: int, taps: int, seed: int) -> int:
    """Returns how many outputs saturated or wrapped."""
    rng, narrow = np.random.default_rng(seed), 0
    isa = read(FILE, constants=constants)
    for turn in range(convs):
        conv = random_conv(rng, taps)
        x, w, before = data(rng, conv, large=turn % 3 == 0)
        width = constants.get("WEIGHT_BYTES", 2)
        if width == 1:
            w &= -256
        how = {"halves_up": bool(constants.get("ROUND", 1)), "wraps": not constants.get("SATURATE", 1)}
        wanted = plain(conv, x, w, before, **how)
        found = convolved(Simulator(isa), conv, x, w, before, width)
        assert np.array_equal(found, wanted), conv
        narrow += int(
            (wanted != plain(conv, x, w, before, halves_up=how["halves_up"], wraps=not how["wraps"])).sum()
        )
    return narrow


@pytest.mark.parametrize("constants", [{}, {"WEIGHT_BYTES": 1, "ROUND": 0, "SATURATE": 0}])
def test_convolutions(constants: dict[str, int]) -> None:
    assert compare(constants, 6, 400, seed=5)


@pytest.mark.slow
@pytest.mark.parametrize("constants", [{}, {"WEIGHT_BYTES": 1}, {"ROUND": 0}, {"SATURATE": 0}])
def test_many_convolutions(constants: dict[str, int]) -> None:
    assert compare(constants, 40, 6000, seed=50)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("b * rows + r * row_stride + i", "b * rows + r * col_stride + i"),
        ("if last and with_bias == 1", "if with_bias == 1"),
        ("f * blocks + b", "b * filters + f"),
        ("narrowed(psum + (256 if ROUND == 1 else 0) >> 9)", "narrowed(psum >> 9)"),
        ("clamp(x, -32768, 32767) if SATURATE == 1 else int16(x)", "int16(x)"),
    ],
)
def test_a_wrong_text_differs(right: str, wrong: str) -> None:
    conv = Conv(17, 5, 6, 3, (2, 3), (1, 2), bias=77, relu=False)
    rng = np.random.default_rng(1)
    x, w, _ = data(rng, conv, large=True)
    text = FILE.read_text()
    assert right in text
    isa = parse(text.replace(right, wrong), "hlscnn.isa", "hlscnn")
    assert not np.array_equal(convolved(Simulator(isa), conv, x, w), plain(conv, x, w))


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (write(12, 1), "no instruction comes"),
        (write(27, 1), "no instruction comes"),
        ({"addr": 0x32004008, "wr": 1}, r"not addr\[0:4\] == 0"),
        ({"addr": 0x32024000, "wr": 1, "rd": 1}, "no instruction comes"),
        (write(17, 1), "not kernel_rows >= 1"),
    ],
)
def test_what_is_illegal_stops_it(command: dict[str, int], why: str) -> None:
    with pytest.raises(IllegalCommandError, match=why):
        Simulator(read(FILE)).command(**command)


def test_an_output_of_another_size_is_illegal() -> None:
    simulator = Simulator(read(FILE))
    conv = Conv(8, 6, 6, 1, (3, 3), (2, 2))
    for command in [*commands(conv, 0, (0, 16), 0)][:-1]:
        simulator.command(**command)
    simulator.command(**write(22, 3 | 2 << 10))
    with pytest.raises(IllegalCommandError, match=r"out_cols - 1\) \* col_stride"):
        simulator.command(**write(17, 1))


def test_the_error_is_the_published_one() -> None:
    """1.78 % +- .16 (D2A, Table 2, which says neither size nor data) if it rounds, and not if it cuts."""
    conv = Conv(32, 10, 10, 16, (3, 3))
    rng = np.random.default_rng(0)
    rounded = [100 * relative_error(rng, conv, width=1) for _ in range(60)]
    cut = [100 * relative_error(rng, conv, width=1, halves_up=False) for _ in range(60)]
    assert abs(np.mean(rounded) - 1.78) < 0.16
    assert np.mean(cut) > 2.5
