"""The NumPy simulator: the same as the text executed one element after the other, and as Python says."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axiloom.base.errors import SpecError
from axiloom.isa.instructions.arithmetic import VALUES
from axiloom.isa.instructions.read import parse, read
from axiloom.isa.instructions.simulator.simulate import Simulator
from axiloom.isa.instructions.simulator.state import IllegalCommandError
from axiloom.isa.instructions.tree import InstructionSet

from .texts import Texts

TILES = Path(__file__).parents[4] / "benchmarks" / "simulation" / "tiles.isa"


def isa_of(text: str) -> InstructionSet:
    return parse(text, "test.isa", "test")


def both(isa: InstructionSet, seed: int, commands: list[dict[str, int]]) -> str:
    """Runs commands in both ways from the same random memories; they must agree. Returns how it ended."""
    random = np.random.default_rng(seed)
    ways = [Simulator(isa), Simulator(isa, vectorised=False)]
    for memory in isa.memories.values():
        kind = memory.type
        values = random.integers(kind.low, kind.high, memory.shape, dtype=np.int64, endpoint=True)
        for one in ways:
            one.state[memory.name] = values
    for command in commands:
        ends = []
        for one in ways:
            try:
                ends.append(one.command(**command))
            except IllegalCommandError:
                ends.append("stopped")
        assert ends[0] == ends[1], command
        if ends[0] == "stopped":
            return "stopped"
        for name, value in ways[1].state.items():
            np.testing.assert_array_equal(ways[0].state[name], value, err_msg=f"{ends[0]}: {name}")
    return "same"


def random_case(seed: int) -> str:
    try:
        isa = isa_of(Texts(Random(seed)).text())
    except SpecError:  # a range that does not fit
        return "refused"
    random = Random(seed)
    commands = [
        {"word": random.getrandbits(62) << 2 | random.randint(0, 1), "wide": random.getrandbits(512)}
        for _ in range(4)
    ]
    return both(isa, seed, commands)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 32))
def test_random_texts(seed: int) -> None:
    random_case(seed)


@pytest.mark.slow
def test_many_random_texts() -> None:
    ends = [random_case(seed) for seed in range(400)]
    assert ends.count("same") > 180, "half of the texts must be executed to their end"
    assert ends.count("stopped") > 35


# --- operations against Python's integers ------------------------------------------------------------------

SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%", "shl": "<<", "shr": ">>", "bitand": "&",
    "bitor": "|", "bitxor": "^", "eq": "==", "ne": "!=", "lt": "<", "le": "<=",
}  # fmt: skip
EDGES = (
    -(1 << 30),
    -(1 << 30) + 1,
    -129,
    -128,
    -2,
    -1,
    0,
    1,
    2,
    127,
    128,
    255,
    256,
    (1 << 30) - 2,
    (1 << 30) - 1,
)


@pytest.mark.parametrize("operation", SIGNS)
def test_operations_at_their_edges(operation: str) -> None:
    divides, shifts = operation in ("floordiv", "mod"), operation in ("shl", "shr")
    right = "uint30" if divides else "uint5" if shifts else "int31"
    operand = "y[k] + 1" if divides else "y[k]"
    text = f"""
x = memory(15, type=int31)
y = memory(15, type={right})
out = memory(15, 15, type=int63)
one = memory(15, type=int63)
go = input(1)
@instruction(go == 1)
def run():
    for i, k in lanes(15, 15):
        out[i, k] = x[i] {SIGNS[operation]} ({operand})
    for k in range(15):
        one[k] = x[k] {SIGNS[operation]} ({operand})
"""
    simulator = Simulator(isa_of(text))
    seconds = [max(0, one) if divides else one % 32 if shifts else one for one in EDGES]
    simulator.state["x"], simulator.state["y"] = EDGES, seconds
    simulator.command(go=1)
    rule = VALUES[operation]
    want = [[rule(a, b + divides) for b in seconds] for a in EDGES]
    assert simulator.state["out"].tolist() == want
    assert simulator.state["one"].tolist() == [want[k][k] for k in range(15)]


@pytest.mark.parametrize(
    "kind", ["int8", "uint8", "int5", "uint5", "int16", "int31", "uint32", "int33", "uint63"]
)
def test_wrapping_keeps_the_low_bits(kind: str) -> None:
    text = f"""
x = memory(15, type=int63)
out = memory(15, type={kind})
one = register({kind})
go = input(64)
@instruction(go[0] == 1)
def run():
    for i in lanes(15):
        out[i] = {kind}(x[i])
    one = {kind}(go)
"""
    values = [-(1 << 62), (1 << 62) - 1, *(value * 0x0FFF_0001 for value in EDGES[2:])]
    simulator = Simulator(isa_of(text))
    simulator.state["x"] = values
    simulator.command(go=(1 << 64) - 1)
    bits = int(kind.lstrip("uint"))

    def low(value: int) -> int:
        value %= 1 << bits
        return value - (1 << bits) if kind.startswith("int") and value >> bits - 1 else value

    assert simulator.state["out"].tolist() == [low(one) for one in values]
    assert simulator.state["one"] == low((1 << 64) - 1)


def test_bits_of_wide_inputs() -> None:
    text = """
data = input(4096)
bytes = memory(512, type=uint8)
words = memory(128, type=int32)
odd = memory(100, type=uint7)
far = memory(2, type=uint63)
@instruction(data[0] == 1)
def run():
    for lane in lanes(512):
        bytes[lane] = bits(data, 8 * lane, 8)
    for lane in lanes(128):
        words[lane] = int32(bits(data, 32 * lane, 32))
    for lane in lanes(100):
        odd[lane] = bits(data, 13 * lane + 5, 7)
    for lane in lanes(2):
        far[lane] = bits(bits(data, 1024 * lane, 1000), 500, 63)
"""
    data = Random(3).getrandbits(4096) | 1
    simulator = Simulator(isa_of(text))
    simulator.command(data=data)
    raw = np.frombuffer(data.to_bytes(512, "little"), np.uint8)
    np.testing.assert_array_equal(simulator.state["bytes"], raw)
    np.testing.assert_array_equal(simulator.state["words"], raw.view("<i4"))
    assert simulator.state["odd"].tolist() == [data >> 13 * at + 5 & 127 for at in range(100)]
    assert simulator.state["far"].tolist() == [data >> 1024 * at + 500 & (1 << 63) - 1 for at in range(2)]


# --- order -------------------------------------------------------------------------------------------------

ORDER = """
go = input(8)
x = memory(16, type=int16)
y = memory(4, type=int8)
acc = memory(4, type=int8)
@instruction(go == 0)
def shift():
    for i in lanes(15):
        x[i] = x[i + 1]
@instruction(go == 1)
def ripple():
    for i in range(15):
        x[i + 1] = x[i]
@instruction(go == 2)
def last():
    for i in lanes(16):
        y[i >> 2] = int8(x[i])
@instruction(go == 3)
def accumulate():
    for k in range(200):
        for i in lanes(4):
            acc[i] = int8(acc[i] + x[i] * (k + 1))
@instruction(go == 4)
def names():
    for i in lanes(16):
        t = x[i]
        x[i] = int16(t + 1)
        x[i] = int16(x[i] + t)
@instruction(go == 5)
def overlap():
    for r in range(4):
        for i in lanes(4):
            x[2 * r + i] = int16(100 * r + i)
"""


def ordered() -> Simulator:
    simulator = Simulator(isa_of(ORDER))
    simulator.state["x"] = range(1, 17)
    return simulator


def test_lanes_read_before_they_write_and_turns_do_not() -> None:
    simulator = ordered()
    simulator.command(go=0)
    assert simulator.state["x"].tolist() == [*range(2, 17), 16]
    simulator.command(go=1)
    assert simulator.state["x"].tolist() == [2] * 16


def test_the_last_lane_and_the_last_turn_stay() -> None:
    simulator = ordered()
    simulator.command(go=2)
    assert simulator.state["y"].tolist() == [4, 8, 12, 16]
    simulator.command(go=5)
    assert simulator.state["x"].tolist()[:10] == [0, 1, 100, 101, 200, 201, 300, 301, 302, 303]


def test_sums_wrap_once_as_they_would_each_turn() -> None:
    simulator = ordered()
    simulator.command(go=3)
    want = [(value * 200 * 201 // 2 + 128) % 256 - 128 for value in range(1, 5)]
    assert simulator.state["acc"].tolist() == want
    assert ".sum(" in simulator.source("accumulate")
    assert " for " not in simulator.source("accumulate")


def test_a_name_keeps_what_it_was() -> None:
    simulator = ordered()
    simulator.command(go=4)
    assert simulator.state["x"].tolist() == [2 * value + 1 for value in range(1, 17)]


# --- matrix products ---------------------------------------------------------------------------------------


def test_a_tile_is_a_matrix_product() -> None:
    simulator = Simulator(read(TILES))
    random = np.random.default_rng(1)
    simulator.state["pad"] = random.integers(-128, 128, simulator.state["pad"].shape)
    a, b, d = (simulator.state["pad"][row : row + 16].astype(int) for row in (16, 32, 64))
    simulator.command(word=2 | 32 << 16 | 96 << 32)
    simulator.command(word=3 | 16 << 16 | 64 << 32)
    np.testing.assert_array_equal(simulator.state["pad"][96:112], np.clip(a @ b + d, -128, 127))
    assert "_matmul(" in simulator.source("compute")
    assert " for " not in simulator.source("load")


@pytest.mark.parametrize(("bits", "exact"), [(8, "float32"), (16, "float64"), (27, "int64")])
def test_products_are_exact(bits: int, exact: str) -> None:
    """In floats where their sums are, else in int64; at the least numbers, whose products are the largest."""
    text = f"""
go = input(1)
a = memory(3, 40, type=int{bits})
b = memory(40, 5, type=int{bits})
c = memory(3, 5, type=int63)
@instruction(go == 1)
def run():
    for i, j in lanes(3, 5):
        c[i, j] = sum(a[i, k] * b[k, j] for k in range(40))
"""
    simulator = Simulator(isa_of(text))
    low = -(1 << bits - 1)
    a = np.full((3, 40), low, np.int64)
    b = np.full((40, 5), low, np.int64)
    a[1, ::3], b[::7, 2] = -low - 1, low + 1
    simulator.state["a"], simulator.state["b"] = a, b
    simulator.command(go=1)
    np.testing.assert_array_equal(simulator.state["c"], a.astype(object) @ b.astype(object))
    source = simulator.source("run")
    assert "_matmul(" in source
    assert [f".astype(_{kind})" in source for kind in ("float32", "float64")] == [
        exact == "float32",
        exact == "float64",
    ]


@pytest.mark.parametrize("size", [3, 40])
def test_products_that_wrap_are_exact(size: int) -> None:
    """Numbers of 32 bits, whose sums of products exceed any float's: their low bits are right."""
    text = f"""
go = input(1)
a = memory({size}, {size}, type=int32)
b = memory({size}, {size}, type=uint32)
c = memory({size}, {size}, type=int32)
@instruction(go == 1)
def run():
    for i in range({size}):
        for j in range({size}):
            for k in range({size}):
                c[i, j] = int32(c[i, j] + a[i, k] * b[k, j])
"""
    simulator, random = Simulator(isa_of(text)), np.random.default_rng(size)
    for name, low, high in (("a", -(1 << 31), 1 << 31), ("b", 0, 1 << 32), ("c", -(1 << 31), 1 << 31)):
        simulator.state[name] = random.integers(low, high, (size, size))
    simulator.state["a"][0], simulator.state["b"][:, 0] = -(1 << 31), (1 << 32) - 1
    a, b, c = (simulator.state[name].astype(object) for name in "abc")
    simulator.command(go=1)
    expected = ((c + a @ b + (1 << 31)) % (1 << 32)) - (1 << 31)
    np.testing.assert_array_equal(simulator.state["c"], expected.astype(np.int64))


@pytest.mark.parametrize("name", ["float32", "bfloat16"])
def test_rounded_sums_keep_their_order(name: str) -> None:
    """A sum by an external function over loops: one term after the other, as written."""
    bits = 32 if name == "float32" else 16
    text = f"""
word = input(8)
a = memory(6, 7, type=uint{bits})
b = memory(7, 5, type=uint{bits})
c = memory(6, 5, type=uint{bits})
@external("{name}.add")
def plus(x: uint{bits}, y: uint{bits}) -> uint{bits}: ...
@external("{name}.mul")
def times(x: uint{bits}, y: uint{bits}) -> uint{bits}: ...
@instruction(word >= 1)
def run():
    for i in range(6):
        for j in range(5):
            for k in range(word[0:3]):
                c[i, j] = plus(c[i, j], times(a[i, k], b[k, j]))
"""
    assert both(isa_of(text), 5, [{"word": count} for count in (7, 1, 3)]) == "same"


def test_convolution_by_loops() -> None:
    """Windows that overlap: six loops around one multiply-add are one product."""
    text = """
go = input(1)
x = memory(4, 10, 10, type=int8)
w = memory(6, 4, 3, 3, type=int8)
y = memory(6, 8, 8, type=int32)
@instruction(go == 1)
def conv():
    for o in range(6):
        for i in range(8):
            for j in range(8):
                for c in range(4):
                    for u in range(3):
                        for v in range(3):
                            y[o, i, j] = int32(y[o, i, j] + x[c, i + u, j + v] * w[o, c, u, v])
"""
    isa = isa_of(text)
    assert both(isa, 5, [{"go": 1}]) == "same"
    assert "_matmul(" in Simulator(isa).source("conv")


# --- what stops the device ---------------------------------------------------------------------------------

STOPS = """
word = input(16)
x = memory(4, type=int8)
r = register(uint4, 3)
@instruction(word[0:2] == 1)
def limited():
    n = word[2:6]
    require(n <= r)
    r = n
@instruction(word[0:2] == 2)
def outside():
    for i in range(word[2:6]):
        x[i] = 1
@instruction(word[0:3] == 7)
def one():
    x[0] = 1
@instruction(word[0:2] == 3 and word[2:4] != 0)
def two():
    x[0] = 2
"""


@pytest.mark.parametrize(
    ("word", "message"),
    [
        (1 | 5 << 2, "test.isa:8: limited: not n <= r (n = 5)"),
        (2 | 5 << 2, "test.isa:13: outside: index 0 of x is 4: it has 0 to 3 there"),
        (0, "test.isa: no instruction comes with word = 0x0"),
        (7, "test.isa:18: one and two all come with word = 0x7"),
    ],
)
@pytest.mark.parametrize("vectorised", [True, False])
def test_what_stops_it(word: int, message: str, vectorised: bool) -> None:
    simulator = Simulator(isa_of(STOPS), vectorised=vectorised)
    simulator.state["r"] = 3
    with pytest.raises(IllegalCommandError) as error:
        simulator.command(word=word)
    assert str(error.value) == message
    assert simulator.state["r"] == 3
    with pytest.raises(IllegalCommandError, match="stopped before"):
        simulator.command(word=1)
    simulator.reset()
    assert simulator.command(word=1) == "limited"


def test_what_is_no_command() -> None:
    simulator = Simulator(isa_of(STOPS))
    with pytest.raises(ValueError, match="no input `wort`; there are word"):
        simulator.command(wort=1)
    with pytest.raises(ValueError, match="input word has 16 bits: 0x10000 does not fit"):
        simulator.command(word=1 << 16)
    with pytest.raises(ValueError, match="input word has 16 bits: -0x1 does not fit"):
        simulator.command(word=-1)
    assert not simulator.stopped


def test_a_choice_reads_only_what_it_takes() -> None:
    text = """
go = input(1)
x = memory(4, type=int8)
y = memory(8, type=int8)
@instruction(go == 1)
def run():
    for i in lanes(8):
        y[i] = x[i] if i < 4 else -1
"""
    simulator = Simulator(isa_of(text))
    simulator.state["x"] = (5, 6, 7, 8)
    simulator.command(go=1)
    assert simulator.state["y"].tolist() == [5, 6, 7, 8, -1, -1, -1, -1]


def test_state_is_checked() -> None:
    simulator = Simulator(isa_of(STOPS))
    with pytest.raises(ValueError, match="register r is 0 to 15, not 16"):
        simulator.state["r"] = 16
    with pytest.raises(ValueError, match="memory x is -128 to 127, not 0 to 200"):
        simulator.state["x"] = (0, 200, 0, 0)
    with pytest.raises(ValueError, match=r"shape \(4,\), not int64 in \(3,\)"):
        simulator.state["x"] = (0, 2, 0)
    with pytest.raises(KeyError, match="no register and no memory `z`"):
        simulator.state["z"] = 1


# --- indices that are computed -----------------------------------------------------------------------------

MICRO = """
turns = input(4)
step = input(4)
uop = memory(16, type=uint8)
acc = memory(16, 4, type=int16)
inp = memory(16, 4, type=int8)
@instruction(turns != 0)
def micro():
    for i in range(turns):
        for u in range(4):
            dst = uint4(uop[u][0:4] + step * i)
            src = uop[u][4:8]
            for o in lanes(4):
                acc[dst, o] = int16(acc[dst, o] * 2 + sum(inp[src, k] * inp[o, k] for k in range(4)))
"""


@pytest.mark.parametrize(
    "uops", [(0, 17, 34, 51), (0, 1, 1, 0), (3, 3, 3, 3)], ids=["differ", "repeat", "same"]
)
@pytest.mark.parametrize("step", [4, 0, 1])
def test_micro_operations(uops: tuple[int, ...], step: int) -> None:
    """At once where no element is met twice; else in order, as doubling would show."""
    random = np.random.default_rng(2)
    isa = isa_of(MICRO)
    assert "_unique(" in Simulator(isa).source("micro")
    ways = [Simulator(isa), Simulator(isa, vectorised=False)]
    acc, inp = random.integers(-900, 900, (16, 4)), random.integers(-128, 128, (16, 4))
    for one in ways:
        one.state["uop"] = [*uops] * 4
        one.state["acc"], one.state["inp"] = acc, inp
        one.command(turns=4, step=step)
    np.testing.assert_array_equal(ways[0].state["acc"], ways[1].state["acc"])


STEPS = """
step = input(4)
uop = memory(16, type=uint8)
x = memory(64, type=int16)
y = memory(64, type=int16)
acc = memory(16, 4, type=int16)
@instruction(step[3] == 0)
def strided():
    for i in range(4):
        for j in range(4):
            x[step * i + j] = int16(x[step * i + j] * 2 + 1)
            y[step * j + i] = int16(x[step * i + j])
@instruction(step[3] == 1)
def moved():
    for u in range(8):
        dst = uop[u][0:4]
        src = uop[u][4:8]
        for o in lanes(4):
            acc[dst, o] = int16(acc[src, o] + acc[dst, o] + 1)
"""


@pytest.mark.parametrize("step", [0, 1, 3, 4, 5])
def test_steps_that_are_known_when_it_runs(step: int) -> None:
    assert both(isa_of(STEPS), 1, [{"step": step}]) == "same"
    assert "_distinct(" in Simulator(isa_of(STEPS)).source("strided")


@pytest.mark.parametrize("shift", [0, 1, 8])
def test_elements_that_another_turn_writes(shift: int) -> None:
    """Read from where it is written, from where the turn before wrote, and from elsewhere."""
    ways = [Simulator(isa_of(STEPS)), Simulator(isa_of(STEPS), vectorised=False)]
    for one in ways:
        one.state["uop"] = [u | (u - shift) % 16 << 4 for u in range(16)]
        one.state["acc"] = np.arange(64).reshape(16, 4)
        one.command(step=8)
    np.testing.assert_array_equal(ways[0].state["acc"], ways[1].state["acc"])
    assert "_apart(" in ways[0].source("moved")
