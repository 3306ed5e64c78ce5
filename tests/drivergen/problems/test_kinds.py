"""All kinds of problems in short: what they stand for, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.drivergen import host

from axiloom import isa
from axiloom.base.errors import UsageError
from axiloom.drivergen import compile_cpu, parse_workload, reference
from axiloom.drivergen.problems import kinds
from axiloom.drivergen.problems.depthwise import DEPTHWISE_FORM
from axiloom.drivergen.problems.kinds import KINDS

EXAMPLES = Path(__file__).parents[3] / "examples"


def inputs_of(text: str) -> tuple[str, dict[str, np.ndarray]]:
    mlir = parse_workload(text).mlir
    return mlir, host.random_inputs(compile_cpu(mlir))


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("matvec:5x4:int8", "mk,k->m"),
        ("vecmat:4x5:int16", "k,kn->n"),
        ("dot:7", "k,k->"),
        ("bmm:2x3x4x5", "bmk,bkn->bmn"),
    ],
)
def test_products(text: str, formula: str) -> None:
    mlir, given = inputs_of(text)
    a, b, c = (given[f"axl_arg{number}"].astype(np.int64) for number in range(3))
    expected = (np.einsum(formula, a, b) + c).astype(np.int32)
    np.testing.assert_array_equal(reference(mlir, given)["axl_arg2"], expected)


def convolved(image: np.ndarray, filters: np.ndarray, pad: int, stride: int) -> np.ndarray:
    """(c, h, w) and (f, c, y, x), by loops."""
    wide = np.pad(image.astype(np.int64), ((0, 0), (pad, pad), (pad, pad)))
    count, _, taps, _ = filters.shape
    rows, columns = ((size - taps) // stride + 1 for size in wide.shape[1:])
    result = np.zeros((count, rows, columns), np.int64)
    for h in range(rows):
        for w in range(columns):
            part = wide[:, h * stride : h * stride + taps, w * stride : w * stride + taps]
            result[:, h, w] = np.einsum("chw,fchw->f", part, filters.astype(np.int64))
    return result.astype(np.int32)


def test_depthwise() -> None:
    mlir, given = inputs_of("dwconv:7x6,3,3x3,pad=1,stride=2:int8")
    image, filters = given["axl_arg0"][0], given["axl_arg1"]
    expected = [convolved(image[c : c + 1], filters[c][None, None], 1, 2)[0] for c in range(3)]
    np.testing.assert_array_equal(reference(mlir, given)["axl_arg2"][0], np.array(expected))


def test_groups() -> None:
    mlir, given = inputs_of("conv:6x7,4,3x3,6,groups=2:int16")
    image, filters = given["axl_arg0"][0], given["axl_arg1"]
    expected = [convolved(image[g], filters[g], 0, 1) for g in range(2)]
    np.testing.assert_array_equal(reference(mlir, given)["axl_arg2"][0], np.array(expected))


@pytest.mark.parametrize("text", ["dwconv:9x9,4,3x3", "conv:9x9,4,3x3,4,groups=4"])
def test_multiply_adds(text: str) -> None:
    assert parse_workload(text).multiply_adds == 4 * 49 * 9  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dot:", "problem `dot:` is not understood; accepted is dot:K[:TYPE]"),
        ("bmm:2x3x4", "problem `bmm:2x3x4` is not understood; accepted is bmm:BxMxNxK[:TYPE]"),
        ("vecmat:0x3", "problem `vecmat:0x3`: sizes must be from 1 to 65536"),
        (
            "matvec:2x3:int9",
            "problem `matvec:2x3:int9`: unknown type `int9`; did you mean `int8`?; "
            "it may be matvec:MxK[:TYPE]",
        ),
        (
            "dwconv:9x9,4",
            f"problem `dwconv:9x9,4` is not understood; a depthwise convolution is {DEPTHWISE_FORM}",
        ),
        ("dwconv:9x9,0,3x3", "problem `dwconv:9x9,0,3x3`: channels must be from 1 to 8192"),
        ("dwconv:2x2,1,3x3", "problem `dwconv:2x2,1,3x3`: the filter is larger than the image"),
        (
            "conv:9x9,4,3x3,8,groups=3",
            "problem `conv:9x9,4,3x3,8,groups=3`: 3 groups do not divide 4 channels in and 8 out",
        ),
        (
            "conv:9x9,4,3x3,8,groups=0",
            "problem `conv:9x9,4,3x3,8,groups=0`: 0 groups do not divide 4 channels in and 8 out",
        ),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_workload(text)
    assert str(caught.value) == message


def test_an_unknown_kind_lists_all() -> None:
    with pytest.raises(UsageError) as caught:
        parse_workload("con:1")
    message = str(caught.value)
    assert message.startswith(
        "problem `con:1` is not understood; did you mean `conv`?; accepted are matmul:MxNxK"
    )
    assert all(kind.form in message for kind in KINDS.values())


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("v3_4", "matmul:16x16x16:int8"),
        ("v3_16", "matmul:32x32x32:int8"),
        ("conv_v3", "conv:10_8_3_8_1:int8"),
        ("conv_v4", "conv:10_8_3_8_1:int8"),
    ],
)
def test_a_small_problem_for_an_accelerator(name: str, problem: str) -> None:
    assert kinds.small(isa.builtin(name, None, "int8")) == problem


def test_a_small_problem_for_a_copy() -> None:
    spec = isa.builtin("loopback")
    assert kinds.small(spec) == f"copy:{4 * spec.tile.size[0]}"


def test_no_small_problem_is_guessed() -> None:
    spec = isa.load(EXAMPLES / "elementwise" / "add.json")
    with pytest.raises(UsageError, match=r"^add: give a problem for linalg\.add, as a file of MLIR$"):
        kinds.small(spec)
