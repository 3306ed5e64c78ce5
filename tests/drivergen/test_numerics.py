"""Drivers of float32, uint8 and fixed-point against the functional model, whatever moves the tiles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.drivergen import host
from tests.some import some

from axiloom import isa
from axiloom.base.errors import CompileError, UsageError
from axiloom.drivergen import bounds, compile_mlir, parse_workload, reference

CASES = [
    ("v3_8", "matmul:20x24x36"),
    ("v1_4", "matmul:7x9x6"),
    ("v4_16", "matmul:20x32x36"),
    ("conv_v4", "conv:9x9,8,3x3,8,pad=1"),
    ("conv_v3", "conv:7x7,4,3x3,4"),
]
PIPELINES = [(False, "published"), (True, "published"), (False, "copying"), (True, "all")]
DRIVERS = [
    (name, problem, kind, *PIPELINES[(number + place + second) % 4])
    for number, (name, problem) in enumerate(CASES)
    for place, kind in enumerate(("float32", "uint8", "fixed<16,8>"))
    for second in (0, 1)  # one of them with a queue
    if kind != "uint8" or not name.startswith("conv")  # which have no short form without sign
]


@pytest.mark.parametrize(("name", "problem", "kind", "sg", "pipeline"), some(DRIVERS, 7))
def test_driver(name: str, problem: str, kind: str, sg: bool, pipeline: str) -> None:
    spec = isa.builtin(name, data_type=kind)
    spec = isa.revise(spec, dma=replace(spec.link.dma, scatter_gather=sg))
    text = parse_workload(f"{problem}:{kind}").mlir
    driver = compile_mlir(text, spec, pipeline=pipeline)
    inputs = host.random_inputs(driver)
    found, _ = host.run(driver, spec, inputs, times=2)
    limit = bounds(text, inputs)
    assert (limit is not None) == (kind == "float32")
    for symbol, array in reference(text, inputs).items():
        if limit is None:
            np.testing.assert_array_equal(found[symbol], array)
        else:
            margin = spec.data_type.margin(limit.roundings, limit.magnitude[symbol])
            assert margin is not None
            assert np.all(np.abs(found[symbol] - limit.exact[symbol]) <= margin)


def test_arrays_in_c_are_what_they_are() -> None:
    def header(kind: str) -> str:
        spec = isa.builtin("v3_4", data_type=kind)
        return compile_mlir(parse_workload(f"matmul:8x8x8:{kind}").mlir, spec).header

    assert "matmul(const float *A, const float *B, float *C);" in header("float32")
    assert "matmul(const uint8_t *A, const uint8_t *B, int32_t *C);" in header("uint8")
    assert "matmul(const int16_t *A, const int16_t *B, int32_t *C);" in header("fixed<16,8>")


def refused(text: str, spec: isa.AcceleratorSpec) -> str:
    with pytest.raises(CompileError) as caught:
        compile_mlir(text, spec)
    return str(caught.value)


def test_the_body_says_whether_there_is_a_sign() -> None:
    signed, unsigned = (parse_workload(f"matmul:8x8x8:{kind}").mlir for kind in ("int8", "uint8"))
    int8, uint8 = (isa.builtin("v3_4", data_type=kind) for kind in ("int8", "uint8"))
    assert refused(signed, uint8) == (
        "input.mlir:2:3: linalg.matmul: its body widens inputs by arith.extsi; "
        "v3_4 takes uint8, so arith.extui"
    )
    assert refused(unsigned, int8) == (
        "input.mlir:2:3: linalg.generic: its body widens inputs by arith.extui; "
        "v3_4 takes int8, so arith.extsi"
    )
    mixed = unsigned.replace("arith.extui %b", "arith.extsi %b")
    assert refused(mixed, uint8) == (
        "input.mlir:2:3: linalg.generic: v3_4 cannot execute it: its body extends one input with its sign "
        "(arith.extsi), another without"
    )


def test_what_mlir_has_no_products_of() -> None:
    with pytest.raises(UsageError) as caught:
        parse_workload("matmul:8x8x8:adaptivfloat<8,3>")
    assert "MLIR has no products of adaptivfloat<8,3>, so there is no driver" in str(caught.value)
    spec = isa.builtin("v3_4", data_type="adaptivfloat<8,3>")
    why = "v3_4 cannot execute it: it computes in adaptivfloat<8,3>, and MLIR has no products of that"
    assert refused(parse_workload("matmul:8x8x8:int8").mlir, spec) == f"input.mlir:2:3: linalg.matmul: {why}"
