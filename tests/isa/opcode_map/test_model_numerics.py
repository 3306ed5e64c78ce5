"""The functional model in other numerics than signed integers: whole programs, against plain Python."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.isa.conv_streams import Convolution, conv_program
from tests.isa.streams import Step, matmul_program

from axiloom import isa
from axiloom.base.errors import SpecError
from axiloom.hw.soc.accelerator import build
from axiloom.isa import FunctionalModel, numerics
from axiloom.isa.numerics import Numerics

Scalar = Callable[[int], Any]


def _float(word: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", word))[0])


def _rounded(x: float) -> float:
    return float(struct.unpack("<f", struct.pack("<f", x))[0])


def _adaptivfloat(byte: int) -> int:
    units = (16 + byte % 16) << (byte >> 4 & 7) if byte & 0x7F else 0
    return -units if byte >> 7 else units


def _wrapped(x: int) -> int:
    return (x + (1 << 31)) % (1 << 32) - (1 << 31)


def _signed(bits: int) -> Scalar:
    return lambda raw: (raw + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


SCALARS: dict[str, tuple[Scalar, Scalar, Scalar, Scalar]] = {
    # an element's value; a product; a sum; a result's value
    "uint8": (int, int, _wrapped, _signed(32)),
    "float32": (_float, _rounded, _rounded, _float),
    "fixed<16,8>": (_signed(16), int, _wrapped, _signed(32)),
    "fixed<32,16>": (_signed(32), lambda x: _wrapped((x + (1 << 15)) >> 16), _wrapped, _signed(32)),
    "ufixed<8,4>": (int, int, _wrapped, _signed(32)),
    "adaptivfloat<8,3>": (_adaptivfloat, int, _wrapped, _signed(32)),
}
"""Each by Python's own numbers, of which a float is exact for products of float32."""
EVERY = pytest.mark.parametrize("name", SCALARS)


def drawn(kind: Numerics, shape: tuple[int, ...], seed: int) -> np.ndarray[Any, Any]:
    """Raw elements as whole numbers."""
    return kind.random(np.random.default_rng(seed), shape).view(kind.raw).astype(np.int64)


def dot(name: str, a: Iterator[Any], b: Iterator[Any]) -> Any:
    """The sum of products, one after the other."""
    value, product, add, _ = SCALARS[name]
    total = 0
    for x, y in zip(a, b, strict=True):
        total = add(total + product(value(int(x)) * value(int(y))))
    return total


def run(spec: isa.AcceleratorSpec, steps: Iterator[Step], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """What comes back, which a flow has to send once for each element."""
    model, result = FunctionalModel(spec), np.full(shape, None)
    for step in steps:
        words = model.feed(step.words)
        assert model.error is None
        if step.receives is not None:
            tile = result[step.receives]
            assert np.all(tile == None)  # noqa: E711
            value = SCALARS[spec.data_type.name][3]
            result[step.receives] = np.array([value(int(w)) for w in words[: tile.size]]).reshape(tile.shape)
    return result


@EVERY
@pytest.mark.parametrize("accelerator", ["v3_4", "v4_16"])
def test_matmul(name: str, accelerator: str) -> None:
    """The sum stays on the device over the tiles of k, so their order is that of the whole sum."""
    spec = isa.builtin(accelerator, data_type=name)
    kind = spec.data_type
    m, n, k = (2 * size for size in spec.tile.size)
    operands = {"A": drawn(kind, (m, k), 1), "B": drawn(kind, (k, n), 2)}
    flow = "Cs"
    order = next(one for one in isa.loop_orders(spec, flow) if one[-1] == "k")
    found = run(spec, matmul_program(spec, flow, order, spec.tile.size, operands), (m, n))
    for row, column in ((0, 0), (m - 1, n - 1), (1, n // 2), (m // 2, 3)):
        assert found[row, column] == dot(name, operands["A"][row], operands["B"][:, column])
    assert (found != None).all()  # noqa: E711


@EVERY
@pytest.mark.parametrize(
    ("accelerator", "flow", "tile"),
    [("conv_v4", "Os", {"oc": 2, "oh": 2, "ow": 3, "ic": 2}), ("conv_v3", "Fs", None)],
)
def test_convolution(name: str, accelerator: str, flow: str, tile: dict[str, int] | None) -> None:
    """Channels ascending, then taps, over the tiles of ic as well."""
    spec = isa.builtin(accelerator, data_type=name)
    kind = spec.data_type
    problem = Convolution(4, 5, 6, 2, 3, 3, stride=(2, 1), before=(1, 1), after=(1, 1))
    operands = {"I": drawn(kind, (4, 5, 6), 1), "F": drawn(kind, (2, 4, 3, 3), 2)}
    sizes = tile or {"oc": 1, "oh": 1, "ow": 1, "ic": 4}
    order = isa.loop_orders(spec, flow)[0]
    shape = (2, *problem.output)
    found = run(spec, conv_program(spec, flow, order, sizes, problem, operands), shape)
    windows = problem.windows(operands["I"])
    for c, y, x in ((0, 0, 0), (1, 2, 5), (1, 1, 2), (0, 2, 0)):
        assert found[c, y, x] == dot(name, operands["F"][c].flat, windows[..., y, x].flat)
    assert (found != None).all()  # noqa: E711


@pytest.mark.parametrize("accelerator", ["v3_4", "conv_v3", "conv_v4"])
@pytest.mark.parametrize("name", SCALARS)
def test_there_is_no_rtl_for_them(accelerator: str, name: str) -> None:
    with pytest.raises(SpecError) as caught:
        build(isa.builtin(accelerator, data_type=name))
    engine = {"v3_4": "matmul", "conv_v3": "window conv", "conv_v4": "conv"}[accelerator]
    wanted = f"{engine} data type must be one of int8, int16, int32, not {name}"
    assert str(caught.value) == f"{wanted}: there is no RTL of ours for it (--rtl model runs it)"


def test_post_processing_begins_with_int32() -> None:
    with pytest.raises(SpecError) as caught:
        isa.builtin("v3_4", data_type="float32", post=True)
    wanted = "post: it rounds sums of int32 to int8, and sums of float32 are float32"
    assert str(caught.value) == f"v3_4 with float32: {wanted}"
    isa.builtin("v3_4", data_type="uint8", post=True)


@EVERY
def test_a_file_may_name_it(name: str) -> None:
    spec = isa.builtin("v3_4", data_type=name)
    assert f'"data_type": "{name}"' in isa.dumps(spec)


def test_read_back(tmp_path: Any) -> None:
    for name in SCALARS:
        spec = replace(isa.builtin("v4_16", data_type=name))
        (tmp_path / "accel.json").write_text(isa.dumps(spec))
        assert isa.load(tmp_path / "accel.json") == spec
        assert isa.load(tmp_path / "accel.json").data_type == numerics.of(name)
