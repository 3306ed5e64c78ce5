"""POM's kernels in corrected form: no faults at POM's sizes, its numbers of multiply-adds, right results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from benchmarks.pom.kernels import KERNELS, SMALL

from axiloom.nests.affine.interpret import interpret
from axiloom.nests.poly.checks import faults
from axiloom.nests.poly.counting import count
from axiloom.nests.program import Program


@pytest.mark.every(4)
@pytest.mark.parametrize("name", KERNELS)
def test_no_faults_at_poms_size(name: str) -> None:
    assert faults(KERNELS[name]()) == []


@pytest.mark.parametrize(("name", "macs"), [("vgg16", 313_196_544), ("resnet18", 555_417_600)])
def test_multiply_adds_are_poms(name: str, macs: int) -> None:
    program = KERNELS[name]()
    assert sum(count(s.iterators, s.domain) for s in program.statements if "* filter" in str_of(s)) == macs


def str_of(statement: Any) -> str:
    from axiloom.nests.program.text import assignment

    return assignment(statement)


def random(program: Program) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {
        each.name: rng.uniform(-1, 1, each.shape).astype(np.float32)
        for each in program.arrays
        if each.role.is_given
    }


def close(name: str, **expected: Any) -> None:
    """Within float32's rounding of an evaluation in float64: sizes are small, and sums have one order."""
    program = KERNELS[name](**SMALL[name])
    given = random(program)
    found = interpret(program, given)
    wide = {key: value.astype(np.float64) for key, value in given.items()}
    for array, function in expected.items():
        np.testing.assert_allclose(found[array], function(wide), rtol=2e-4, atol=1e-5)


def test_products() -> None:
    close("gemm", C=lambda a: a["alpha"] * a["A"] @ a["B"] + a["beta"] * a["C"])
    close("bicg", s=lambda a: a["A"].T @ a["r"], q=lambda a: a["A"] @ a["p"])
    close("gesummv", y=lambda a: a["alpha"] * a["A"] @ a["x"] + a["beta"] * a["B"] @ a["x"])
    close("two_mm", D=lambda a: a["alpha"] * a["A"] @ a["B"] @ a["C"] + a["beta"] * a["D"])
    close("three_mm", G=lambda a: a["A"] @ a["B"] @ (a["C"] @ a["D"]))


def windows(X: Any, rows: int, columns: int) -> Any:
    return np.lib.stride_tricks.sliding_window_view(X, (rows, columns), (0, 1))


def test_filters() -> None:
    close("blur", out=lambda a: windows(a["source"], 3, 3).sum((3, 4)) / 9)

    def edges(a: Any) -> Any:
        middle = a["source"][1:-1, 1:-1]
        t = (windows(a["source"], 3, 3).sum((3, 4)) - middle) / 8
        return t[1:-1, 1:-1] - t[2:, :-2] + t[2:, 1:-1] - t[1:-1, :-2]

    close("edge_detect", out=edges)
    taps = np.einsum
    close(
        "gaussian",
        out=lambda a: taps(
            "ijcpq,p,q->ijc", windows(a["source"], 3, 3)[:7, :7], a["kernel_x"], a["kernel_y"]
        ),
    )


def test_stencils() -> None:
    def jacobi(a: Any) -> Any:
        A, B = a["A"].copy(), a["B"].copy()
        for _ in range(3):
            A[1:-1] = (B[:-2] + B[1:-1] + B[2:]) * 0.33333
            B[1:-1] = (A[:-2] + A[1:-1] + A[2:]) * 0.33333
        return A

    def seidel(a: Any) -> Any:
        A = a["A"].copy()
        for _ in range(3):
            for i in range(1, 6):
                for j in range(1, 6):
                    A[i, j] = A[i - 1 : i + 2, j - 1 : j + 2].sum() / 9
        return A

    close("jacobi_1d", A=jacobi)
    close("seidel", A=seidel)


def convolved(X: Any, W: Any, stride: int = 1) -> Any:
    """Of maps with a border; the result has one too."""
    size = W.shape[2]
    X = X if size == 3 else X[:, 1:-1, 1:-1]
    view = np.lib.stride_tricks.sliding_window_view(X, (size, size), (1, 2))[:, ::stride, ::stride]
    return np.pad(np.einsum("iyxpq,oipq->oyx", view, W), ((0, 0), (1, 1), (1, 1)))


@pytest.mark.slow
def test_vgg() -> None:
    def vgg(a: Any) -> Any:
        X, layer = a["image"], 0
        for layers in (2, 2, 3, 3, 3):
            for _ in range(layers):
                layer += 1
                X = np.maximum(convolved(X, a[f"filter{layer}"]), 0)
            view = np.lib.stride_tricks.sliding_window_view(X[:, 1:, 1:], (3, 3), (1, 2))[:, ::2, ::2]
            X = np.pad(view.max((3, 4)), ((0, 0), (1, 1), (1, 1)))
        return X

    close("vgg16", map18=vgg)


def test_resnet() -> None:
    def resnet(a: Any) -> Any:
        X = np.maximum(convolved(a["image"], a["filter1"]), 0)
        at = 1
        for block in range(8):
            stride = 2 if block in (2, 4, 6) else 1
            inner = np.maximum(convolved(X, a[f"filter{at + 1}"], stride), 0)
            outer = convolved(inner, a[f"filter{at + 2}"])
            at += 2
            if stride == 2:
                at += 1
                X = convolved(X, a[f"filter{at}"], 2)
            X = np.maximum(outer + X, 0)
        return X

    close("resnet18", map28=resnet)
