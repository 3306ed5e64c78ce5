"""FlexASR's text: what its published simulator read back, functions, operators, what it refuses.

The vector files are not ours and stay where they are: in the folder ``flexasr`` of $AXILOOM_DATA, or of
``../shared/data`` beside the checkout. Of linear256x64_T10 the reads end before its results: they show that
its inputs stay as they are. Its results are compared with exact sums instead.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.accelerators.flexasr import flexasr_numbers as judge
from tests.accelerators.flexasr.terms import evaluate, function_term
from tests.some import slow

from axiloom.accelerators.flexasr import host as flexasr
from axiloom.base.errors import SpecError
from axiloom.isa.instructions.library import targets
from axiloom.isa.instructions.read import parse, read
from axiloom.isa.instructions.simulator.simulate import Simulator
from axiloom.isa.instructions.simulator.state import IllegalCommandError
from axiloom.isa.instructions.tree import InstructionSet

Array = np.ndarray[Any, Any]
FILE = targets()["flexasr"]
START, CONTROL_CONFIG, PE_CONFIG = 0x33000010, 0x33700010, 0x34400010


@cache
def isa() -> InstructionSet:
    return read(FILE)


def device() -> Simulator:
    return Simulator(isa())


# --- vectors ------------------------------------------------------------------------------------------------


def vectors(name: str) -> dict[str, Array]:
    folders = [os.environ.get("AXILOOM_DATA"), Path(__file__).parents[3].parent / "shared" / "data"]
    found = [Path(one) / "flexasr" / f"flexasr_{name}.npz" for one in folders if one]
    file = next((one for one in found if one.is_file()), None)
    if file is None:
        pytest.skip(f"no {found[-1].name}: set AXILOOM_DATA to the folder that has flexasr/")
    with np.load(file) as data:
        return {key: data[key] for key in ("addr", "data", "raddr", "rdata")}


def play(unit: Simulator, data: dict[str, Array]) -> int:
    """Writes, then reads; how many vectors were read that are not the expected ones."""
    for address, row in zip(data["addr"], data["data"], strict=True):
        unit.command(addr=int(address), data=int.from_bytes(row.tobytes(), "little"), wr=1)
    wrong = 0
    for address, row in zip(data["raddr"], data["rdata"], strict=True):
        unit.command(addr=int(address), rd=1)
        wrong += not np.array_equal(unit.state["bus"], row)
    return wrong


@pytest.mark.parametrize(
    ("name", "results"),
    [("gru64", 64), ("lstm64_2step", 64), ("rnn64", 64), ("maxpool", 1024), ("linear256x64_T10", 0)],
)
def test_vectors(name: str, results: int) -> None:
    data = vectors(name)
    assert play(device(), data) == 0
    written = dict(zip(data["addr"].tolist(), map(bytes, data["data"]), strict=True))
    read_back = zip(data["raddr"].tolist(), map(bytes, data["rdata"]), strict=True)
    changed = sum(row != written.get(address, bytes(16)) for address, row in read_back)
    assert changed >= results // 8, "so many of the reads are results, and not what was written"
    assert (changed == 0) == (results == 0)


def test_linear_vectors_by_fractions() -> None:
    """The results that the file does not have: each of 640 sums, rounded by the nearest number of a list."""
    data, unit = vectors("linear256x64_T10"), device()
    play(unit, data)
    written = dict(zip(data["addr"].tolist(), data["data"], strict=True))
    tensors = flexasr.Tensor(10, 16), flexasr.Tensor(10, 4, 0x8000)
    x = np.stack([[written[int(at)] for at in row] for row in tensors[0].places()]).reshape(10, 256)
    for pe in range(4):
        part = 0x34000000 + (pe << 24)
        tiles = np.stack([written[part | 5 << 20 | i << 4] for i in range(256)]).reshape(16, 16, 16)
        w = tiles.transpose(1, 0, 2).reshape(16, 256)
        added = judge.real(written[part | 6 << 20 | 0x80 << 4].astype(float)) * 8
        # Exact in floats: 256 products of 14 bits each.
        sums = judge.real(x.astype(float)) @ judge.real(w.astype(float)).T * 64
        units = np.clip(np.floor(sums * 2**14) + added * 2**14, -(2**19) + 1, 2**19 - 1)
        expected = judge.packed(units, 4 + 4)
        found = unit.state["large"][tensors[1].places()[:, pe] >> 4 & 0xFFFF]
        assert np.array_equal(found, expected)
        row, step = 3, 5
        exact = sum(
            (Fraction(a) * Fraction(b) for a, b in zip(*_reals(x[step], w[row]), strict=True)), Fraction()
        )
        assert Fraction(sums[step, row]) == exact * 64


def _reals(*of: Array) -> list[list[float]]:
    return [judge.real(one.astype(float)).tolist() for one in of]


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("right", "wrong", "name"),
    [
        ("half - 1 if x < 0 and log > 4 else half", "half", "lstm64_2step"),
        ("(size << 2) >> 4", "(size << 2) >> 3", "rnn64"),
        ("TANH_SLOPE[piece] * uint10", "TANH_SLOPE[piece] * uint9", "rnn64"),
        ("a if value(a) >= value(b) else b", "a if a >= b else b", "maxpool"),
        ("large_at(base, vectors, v, 2 * t)", "large_at(base, vectors, v, t)", "maxpool"),
        ("* unit[pe, b, lane] >> 14", "* unit[pe, b, lane] >> 13", "gru64"),
        ("int20((1 << 14) - unit[pe, b, lane])", "int20((1 << 13) - unit[pe, b, lane])", "gru64"),
        ("0 if act_first[pe] == 1 else", "0 if act_first[pe] == 0 else", "lstm64_2step"),
        ("to_elements(control_output, control_hidden, target, 1)", "pass", "rnn64"),
        ("manager_zero[pe, manager] == 0 or pe_first[pe] == 0", "manager_zero[pe, manager] == 0", "gru64"),
    ],
)  # fmt: skip
def test_wrong_texts_are_noticed(right: str, wrong: str, name: str) -> None:
    text = FILE.read_text()
    assert right in text
    wrong_isa = parse(text.replace(right, wrong), "flexasr.isa", "flexasr")
    assert play(Simulator(wrong_isa), vectors(name)) > 0


# --- functions on all inputs --------------------------------------------------------------------------------

WORDS = np.arange(-(1 << 19), 1 << 19)
BYTES = np.arange(256)
PAIRS = np.repeat(BYTES, 256), np.tile(BYTES, 256)
TABLES = """
answers = memory(1048576, type=int32)

@instruction(wr and rd and addr == 1)
def all_words():
    for page in range({pages}):
        for i in lanes(4096):
            x = int20((page * 4096 + i) * {stride} - 524288)
            answers[page * 4096 + i] = {words}

"""
ALL_PAIRS = """
@instruction(wr and rd and addr == {address})
def all_pairs_{address}():
    for a in range(256):
        for b in lanes(256):
            answers[a * 256 + b] = {pairs}
"""
"""Instructions beside FlexASR's: NumPy's code of a function on all of its inputs, or on each `stride`-th."""


def answers(words: str, *, data: int = 0, stride: int = 1) -> Array:
    pages = 256 // stride
    text = FILE.read_text() + TABLES.format(words=words, stride=stride, pages=pages)
    unit = Simulator(parse(text, "flexasr.isa", "flexasr"))
    unit.command(wr=1, rd=1, addr=1, data=data)
    found: Array = unit.state["answers"]
    return found[: pages * 4096]


def answers_of_pairs(texts: Sequence[str]) -> list[Array]:
    """Of each text in `a` and `b`; the whole text is read once."""
    more = "".join(ALL_PAIRS.format(address=at, pairs=pairs) for at, pairs in enumerate(texts, 2))
    whole = FILE.read_text() + TABLES.format(words="0", stride=256, pages=1) + more
    unit = Simulator(parse(whole, "flexasr.isa", "flexasr"))
    found = []
    for at in range(2, 2 + len(texts)):
        unit.command(wr=1, rd=1, addr=at)
        found.append(unit.state["answers"][: 1 << 16].copy())
    return found


def _some(stride: int) -> Array:
    return WORDS[::stride][: 256 // stride * 4096]


@pytest.mark.parametrize("stride", [17, slow(1)])
@pytest.mark.parametrize("name", ["sigmoid", "tanh", "inverse_root"])
def test_pieces(name: str, stride: int) -> None:
    """NumPy's code of the text, and z3's term, against floats."""
    expected = getattr(judge, name)(_some(stride))
    assert np.array_equal(answers(f"{name}(x)", stride=stride), expected)
    term = function_term(isa().functions[name])
    assert np.array_equal(evaluate(term, signed=True, x=_some(stride)), expected)


@pytest.mark.parametrize(("bias", "stride"), [(2, 17), *(slow(bias, 1) for bias in range(8))])
def test_packed(bias: int, stride: int) -> None:
    expected = judge.packed(_some(stride), bias + 4)
    found = answers("packed(x, data[0:5])", data=bias + 4, stride=stride)
    assert np.array_equal(found, expected)
    term = function_term(isa().functions["packed"])
    low = np.array([bias + 4])
    assert np.array_equal(evaluate(term, signed=False, x=_some(stride), unit_log=low), expected)


@pytest.mark.slow
def test_pairs() -> None:
    """All 256 x 256: products, the larger, means, sums."""
    a, b = map(judge.real, PAIRS)
    most = np.where(a >= b, PAIRS[0], PAIRS[1])
    expected = {
        "value(uint8(a)) * value(uint8(b))": a * b * 2**28,
        "larger(uint8(a), uint8(b))": np.where(judge.real(most) == 0, 0, most),
        "mean(uint8(a), uint8(b))": judge.packed((a + b) / 2 * 2**15, 5),
        "plus(uint8(a), uint8(b))": judge.packed((a + b) * 2**14, 4),
    }
    for (text, numbers), found in zip(expected.items(), answers_of_pairs([*expected]), strict=True):
        assert np.array_equal(found, numbers), text
    for name in ("larger", "mean", "plus"):
        numbers = expected[f"{name}(uint8(a), uint8(b))"]
        term = function_term(isa().functions[name])
        assert np.array_equal(evaluate(term, signed=False, a=PAIRS[0], b=PAIRS[1]), numbers), name
    one = evaluate(function_term(isa().functions["value"]), signed=True, x=BYTES)
    assert np.array_equal(np.multiply.outer(one, one).ravel(), expected["value(uint8(a)) * value(uint8(b))"])


def test_softmax_pieces() -> None:
    """exp of 2^16 numbers; all quotients of six bits by six."""
    x = np.random.default_rng(0).integers(-(1 << 31), 6 << 20, 1 << 16)
    assert np.array_equal(evaluate(function_term(isa().functions["exp"]), signed=True, x=x), judge.exp(x))
    near = np.arange(-(1 << 15), 1 << 15) * 31
    assert np.array_equal(
        evaluate(function_term(isa().functions["exp"]), signed=True, x=near), judge.exp(near)
    )
    a, b = np.repeat(np.arange(64), 64), np.tile(np.arange(64), 64)
    found = evaluate(
        function_term(isa().functions["share"]), signed=True, a=a << 16 | 0xABC, b=b << 16 | 0x123
    )
    expected = [
        1023 if not d else int(Fraction(256 * n, d)) % 1024
        for n, d in zip(a.tolist(), b.tolist(), strict=True)
    ]
    assert (found >> 12).tolist() == expected


def test_versions() -> None:
    words = WORDS[::17]
    newer = read(FILE, constants={"AC_MATH": 340}).functions["sigmoid"]
    found = evaluate(function_term(newer), signed=True, x=words)
    assert np.array_equal(found, judge.sigmoid(words, newer=True))
    assert round(float((found != judge.sigmoid(words)).mean()), 3) == 0.066
    lost = read(FILE, constants={"SATURATED_SIGN": 0}).functions["packed"]
    found = evaluate(function_term(lost), signed=False, x=words, unit_log=np.array([4]))
    assert np.array_equal(found, judge.packed(words, 4, sign_kept=False))
    with pytest.raises(SpecError, match="no constant `AC_MATHS` to give a value to; did you mean `AC_MATH`"):
        read(FILE, constants={"AC_MATHS": 340})


# --- operators ----------------------------------------------------------------------------------------------


def product(rng: np.random.Generator, gates: int, outputs: int, inputs: int) -> flexasr.Product:
    """Small weights, so that not all saturates."""
    weights, added = (random_bytes(rng, gates, outputs, size) for size in (inputs, 1))
    return flexasr.Product(weights, added[..., 0], 2, 2, 2)


def random_bytes(rng: np.random.Generator, *shape: int) -> Array:
    return (rng.integers(0, 2, shape) * 128 + rng.integers(0, 80, shape)).astype(np.uint8)


def numbers(raw: Array, bias: int) -> Array:
    return np.asarray(judge.real(raw.astype(float)) * 2.0**bias)


def test_layer_norm_is_near() -> None:
    rng = np.random.default_rng(0)
    x, gamma, beta = rng.integers(0, 112, (5, 48), np.uint8), random_bytes(rng, 48), random_bytes(rng, 48)
    x += rng.integers(0, 2, x.shape, np.uint8) * 128
    found = numbers(flexasr.normalised(x, gamma, beta, bias=3, gamma_bias=3, beta_bias=3).run(device()), 3)
    real = numbers(x, 3)
    plain = (real - real.mean(1, keepdims=True)) / real.std(1, keepdims=True)
    expected = plain * numbers(gamma, 3) + numbers(beta, 3)
    assert np.abs(expected).max() > 0.3
    assert np.abs(found - expected).max() < 0.03 * np.abs(expected).max()


def test_attention_is_near() -> None:
    """Shares add up to less than 4 of the largest: more wraps in the device."""
    rng = np.random.default_rng(1)
    x, decoder = random_bytes(rng, 32, 64) + 0x20, random_bytes(rng, 64) + 0x20
    scores = numbers(x, 2) @ numbers(decoder, 5)
    shares = np.exp(scores - scores.max())
    assert shares.sum() < 4
    expected = shares @ numbers(x, 2) / shares.sum()
    program = flexasr.attended(x, decoder, bias=2, decoder_bias=5, soft_bias=3, output_bias=3)
    found = numbers(program.run(device()), 3)[0]
    assert np.linalg.norm(found - expected) < 0.1 * np.linalg.norm(expected)


def test_padding() -> None:
    x, unit = random_bytes(np.random.default_rng(2), 3, 32), device()
    x[x == 7] = 8
    unit.state["large"] = np.full_like(unit.state["large"], 7)
    found = flexasr.padded(x, 20).run(unit)
    assert np.array_equal(found[:3], x)
    assert not found[3:].any()
    assert (unit.state["large"] == 7).sum() == (65536 - 40) * 16


def test_clustered_weights_are_those_of_the_table() -> None:
    """Nibbles that choose among 16 bytes give what the bytes give."""
    rng = np.random.default_rng(3)
    chosen, nibbles = random_bytes(rng, 16), rng.integers(0, 16, (1, 64, 32), np.uint8)
    plain = product(rng, 1, 64, 32)
    plain = flexasr.Product(chosen[nibbles], plain.added, 2, 2, 2)
    program = flexasr.layer(random_bytes(rng, 2, 32), [plain], flexasr.LINEAR, 4)
    expected, unit = program.run(device()), device()
    for pe in range(4):
        part, rows = 0x34000000 + (pe << 24), nibbles[0, 16 * pe : 16 * pe + 16]
        table = int.from_bytes(chosen.tobytes(), "little")
        unit.command(addr=part | 4 << 20 | 3 << 4, data=table, wr=1)
        for vector in range(2):
            tile = rows[:, 16 * vector : 16 * vector + 16]
            packed = (tile[:, 0::2] | tile[:, 1::2] << 4).reshape(8, 16)
            for at, row in enumerate(packed):
                address = part | 5 << 20 | (8 * vector + at) << 4
                unit.command(addr=address, data=int.from_bytes(row.tobytes(), "little"), wr=1)
    only_added = [one for one in program.weights if one[0] >> 20 & 15 == 6]
    writes = [(a, d | 1 << 16 if a & 0xFCFFFFFF == PE_CONFIG else d) for a, d in program.writes]
    found = flexasr.Program(writes, program.results, only_added).run(unit)
    assert np.array_equal(found, expected)
    assert len(np.unique(expected)) > 20


def test_both_directions() -> None:
    """Steps forward lie in even places, backward in odd ones; backward begins at the end."""
    rng = np.random.default_rng(4)
    x, products = random_bytes(rng, 3, 16), [product(rng, 1, 64, 16), product(rng, 1, 64, 64)]
    forward, unit = flexasr.layer(x, products, flexasr.RNN, 2), device()
    backward = flexasr.layer(x[::-1], products, flexasr.RNN, 2)
    expected = [program.run(device()) for program in (forward, backward)]
    places = flexasr.Tensor(6, 4, forward.results[0, 0] >> 4 & 0xFFFF).places()
    for mode in (1, 2):
        writes = [(a, d | mode << 8 if a == CONTROL_CONFIG else d) for a, d in forward.writes]
        flexasr.Program(writes, forward.results, forward.weights).run(unit)
    found = flexasr.Program((), places).read(unit)
    assert np.array_equal(found[0::2], expected[0])
    assert np.array_equal(found[1::2], expected[1][::-1])
    assert not np.array_equal(expected[0], expected[1][::-1])


def test_decoder_from_the_small_buffer() -> None:
    rng = np.random.default_rng(5)
    x, one = random_bytes(rng, 1, 16), product(rng, 1, 64, 16)
    program, unit = flexasr.layer(x, [one], flexasr.LINEAR, 4), device()
    expected = program.run(device())
    writes = [(a, d | 3 << 8 if a == CONTROL_CONFIG else d) for a, d in program.writes if a >> 20 != 0x335]
    small = [(0x33400020, 5 << 0 | 9 << 16), (0x33600050, int.from_bytes(x.tobytes(), "little"))]
    flexasr.Program([*small, *writes], program.results, program.weights).run(unit)
    assert np.array_equal(unit.state["small"][9:13].ravel(), expected[0])
    assert not unit.state["large"].any()


# --- what stops the device ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("writes", "why"),
    [
        ([(START, 0)], r"control_start: not control_valid == 1 and control_mode <= 3"),
        ([(0x33000060, 0)], r"no instruction comes with addr = 0x33000060"),
        ([(0x33604000, 0)], r"write_small: not addr\[4:20\] < 1024"),
        ([(0x34400010, 3 << 32)], r"pe_config: not data\[32:36\] <= 2"),
        ([(CONTROL_CONFIG, 1 | 5 << 32), (START, 0)], r"not control_mode == FROM_SMALL or"),
        ([(0x33900010, 1), (0x33000030, 0)], r"norm_start: not norm_valid == 1 and norm_tensor <= 3"),
        ([(0x33B00010, 1 | 10 << 64), (0x33000050, 0)], r"attention_start: not attention_steps >= 16"),
    ],
)
def test_refused(writes: Sequence[tuple[int, int]], why: str) -> None:
    program, unit = flexasr.Program(writes, np.zeros((0, 0), int)), device()
    with pytest.raises(IllegalCommandError, match=why):
        program.run(unit)


def test_a_program_takes_all_results() -> None:
    """One that takes more would wait for ever, one that takes fewer would leave some to the next layer."""
    rng = np.random.default_rng(6)
    for program in (flexasr.RNN, flexasr.LINEAR[1:]):
        made = flexasr.layer(random_bytes(rng, 1, 16), [product(rng, 1, 64, 16)], program, 2)
        with pytest.raises(IllegalCommandError, match="act_outputs"):
            made.run(device())


def test_one_element_after_the_other() -> None:
    """The text executed without NumPy's code gives the same."""
    rng = np.random.default_rng(7)
    x, one = random_bytes(rng, 1, 16), product(rng, 3, 64, 16)
    program = flexasr.layer(x, [one], bytes.fromhex("30a034b1388640"), 2)
    slow = Simulator(isa(), vectorised=False)
    assert np.array_equal(program.run(device()), program.run(slow))
