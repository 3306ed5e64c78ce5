"""Convolutions in short, as the command line names them."""

from __future__ import annotations

import pytest
from tests.drivergen import host

from axiloom import isa
from axiloom.base.errors import UsageError
from axiloom.drivergen import ConvProblem, compile_cpu, parse_workload
from axiloom.drivergen.problems.conv import CONV_FORM

PROBLEMS = {
    "conv:58_64_3_64_1": ConvProblem((58, 58), 64, (3, 3), 64),
    "conv:230_3_7_64_2:int8": ConvProblem((230, 230), 3, (7, 7), 64, (2, 2), dtype="int8"),
    "conv:56x40,64,3x3,64,pad=1": ConvProblem((56, 40), 64, (3, 3), 64, pad=(1, 1)),
    "conv:9x9,2,3x1,4,stride=2x1,dilation=3,pad=0x2:int16": ConvProblem(
        (9, 9), 2, (3, 1), 4, (2, 1), (0, 2), (3, 3), "int16"
    ),
}


@pytest.mark.parametrize("text", PROBLEMS)
def test_problem(text: str) -> None:
    assert parse_workload(text) == PROBLEMS[text]


def test_sizes() -> None:
    problem = parse_workload("conv:230_3_7_64_2")
    assert isinstance(problem, ConvProblem)
    assert problem.output == (112, 112)
    assert problem.multiply_adds == 64 * 112 * 112 * 3 * 49
    assert problem.sizes["OH"] == 112


@pytest.mark.parametrize("text", ["conv:6_2_3_4_1", "conv:9x8,2,3x2,4,stride=2x1,dilation=2,pad=1x2"])
def test_mlir(text: str) -> None:
    problem = parse_workload(text)
    host.check(problem.mlir, isa.builtin("conv_v4"))
    driver = compile_cpu(problem.mlir)
    inputs = host.random_inputs(driver)
    host.run(driver, None, inputs)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("conv:1_2_3", f"problem `conv:1_2_3` is not understood; a convolution is {CONV_FORM}"),
        ("conv:1_1_3_1_1", "problem `conv:1_1_3_1_1`: the filter is larger than the image"),
        ("conv:9_0_3_1_1", "problem `conv:9_0_3_1_1`: sizes, strides and dilations must be from 1 to 8192"),
        (
            "conv:9x9,1,3x3,1,strid=2",
            "problem `conv:9x9,1,3x3,1,strid=2`: unknown option `strid`; did you mean `stride`?; "
            + CONV_FORM,
        ),
        (
            "conv:9_1_3_1_1:int7",
            "problem `conv:9_1_3_1_1:int7`: unknown type `int7`; did you mean `int8`?; it may be "
            + CONV_FORM,
        ),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_workload(text)
    assert str(caught.value) == message
