"""POM's kernels in NumPy, by another hand than the builder's: float32, each element by the same operations
in the same order. ``REFERENCE["gemm"](arrays)`` gives what the kernel leaves in its results, by name. NumPy
keeps subnormals, which the hardware flushes to zero: but for `heat`, data from -1 to 1 lead to none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

F = npt.NDArray[np.float32]
Arrays = Mapping[str, Any]
f32 = np.float32


def _product(C: F, A: F, B: F) -> F:
    for k in range(A.shape[1]):
        C = C + A[:, k, None] * B[None, k]
    return C


def _zeros(*shape: int) -> F:
    return np.zeros(shape, f32)


def gemm(a: Arrays) -> dict[str, F]:
    return {"C": _product(a["C"] * a["beta"], a["alpha"] * a["A"], a["B"])}


def bicg(a: Arrays) -> dict[str, F]:
    s, q = _zeros(len(a["A"])), _zeros(len(a["A"]))
    for i in range(len(s)):
        s = s + a["A"][i] * a["r"][i]
    columns = np.ascontiguousarray(a["A"].T)
    for j in range(len(q)):
        q = q + columns[j] * a["p"][j]
    return {"s": s, "q": q}


def gesummv(a: Arrays) -> dict[str, F]:
    temp, y = _zeros(len(a["A"])), _zeros(len(a["A"]))
    A, B = (np.ascontiguousarray(a[name].T) for name in "AB")
    for j in range(len(y)):
        temp = temp + A[j] * a["x"][j]
        y = y + B[j] * a["x"][j]
    return {"y": a["alpha"] * temp + a["beta"] * y}


def two_mm(a: Arrays) -> dict[str, F]:
    temp = _product(_zeros(*a["A"].shape), a["alpha"] * a["A"], a["B"])
    return {"D": _product(a["D"] * a["beta"], temp, a["C"])}


def three_mm(a: Arrays) -> dict[str, F]:
    shape = a["A"].shape
    E, F_ = _product(_zeros(*shape), a["A"], a["B"]), _product(_zeros(*shape), a["C"], a["D"])
    return {"G": _product(_zeros(*shape), E, F_)}


def blur(a: Arrays) -> dict[str, F]:
    s = a["source"]
    across = (s[:, :-2] + s[:, 1:-1] + s[:, 2:]) / f32(3)
    return {"out": (across[:-2] + across[1:-1] + across[2:]) / f32(3)}


def edge_detect(a: Arrays) -> dict[str, F]:
    s = a["source"]
    n = len(s) - 2
    t = s[:n, :n]
    for y, x in ((0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1), (2, 2)):
        t = t + s[y : y + n, x : x + n]
    t = t / f32(8)
    return {"out": t[1:-1, 1:-1] - t[2:, :-2] + t[2:, 1:-1] - t[1:-1, :-2]}


def gaussian(a: Arrays) -> dict[str, F]:
    s, taps = a["source"], len(a["kernel_x"])
    n = len(s) - taps
    temp, out = _zeros(n, len(s) - 1, 3), _zeros(n, n, 3)
    for r in range(taps):
        temp = temp + s[r : r + n, :-1] * a["kernel_x"][r]
    for e in range(taps):
        out = out + temp[:, e : e + n] * a["kernel_y"][e]
    return {"out": out}


def jacobi_1d(a: Arrays, steps: int = 4096) -> dict[str, F]:
    A, B = a["A"].copy(), a["B"].copy()
    for _ in range(steps):
        A[1:-1] = (B[:-2] + B[1:-1] + B[2:]) * f32(0.33333)
        B[1:-1] = (A[:-2] + A[1:-1] + A[2:]) * f32(0.33333)
    return {"A": A, "B": B}


def jacobi_2d(a: Arrays, steps: int = 4096) -> dict[str, F]:
    A, B = a["A"].copy(), a["B"].copy()
    for _ in range(steps):
        for to, s in ((B, A), (A, B)):
            m = s[1:-1, 1:-1] + s[1:-1, :-2] + s[1:-1, 2:] + s[2:, 1:-1] + s[:-2, 1:-1]
            to[1:-1, 1:-1] = m * f32(0.2)
    return {"A": A, "B": B}


def flushed(x: F) -> F:
    """Subnormals as zeros of their sign."""
    return np.where(np.abs(x) < np.finfo(f32).tiny, np.copysign(f32(0), x), x)


def heat(a: Arrays, steps: int = 4096) -> dict[str, F]:
    """Its values fade: after some hundred steps they are subnormal."""
    A, B = a["A"].copy(), a["B"].copy()
    for _ in range(steps):
        second = flushed(flushed(B[:-2] - flushed(f32(2) * B[1:-1])) + B[2:])
        A[1:-1] = flushed(second * f32(0.125))
        B[1:-1] = A[1:-1]
    return {"A": A, "B": B}


def seidel(a: Arrays, steps: int = 4096) -> dict[str, F]:
    A = a["A"].copy()
    n = len(A) - 2
    order = [(0, 1), (0, 0), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2)]
    for _ in range(steps):
        for i in range(n):
            for j in range(n):
                total = f32(0)
                for number, (y, x) in enumerate(order):
                    total = total + A[i + y, j + x] if number else A[i + y, j + x]
                A[i + 1, j + 1] = total / f32(9)
    return {"A": A}


def _convolved(X: F, W: F, stride: int = 1) -> F:
    """Of maps with a border of one; the result has one too."""
    channels, depth, window, _ = W.shape
    size = (X.shape[1] - 2) // stride
    edge = 1 if window == 1 else 0
    Y = _zeros(channels, size + 2, size + 2)
    inside = Y[:, 1:-1, 1:-1]
    for i in range(depth):
        for p in range(window):
            for q in range(window):
                rows, columns = (slice(at + edge, at + edge + stride * size, stride) for at in (p, q))
                inside[:] = inside + X[i, rows, columns][None] * W[:, i, p, q, None, None]
    return Y


def _relu(X: F) -> F:
    return np.maximum(X, f32(0))


def vgg16(a: Arrays) -> dict[str, F]:
    X, layer = a["image"], 0
    for layers in (2, 2, 3, 3, 3):
        for _ in range(layers):
            layer += 1
            X = _relu(_convolved(X, a[f"filter{layer}"]))
        view = np.lib.stride_tricks.sliding_window_view(X[:, 1:, 1:], (3, 3), (1, 2))[:, ::2, ::2]
        X = np.pad(view.max((3, 4)), ((0, 0), (1, 1), (1, 1)))
    return {"map18": X}


def resnet18(a: Arrays) -> dict[str, F]:
    X, at = _relu(_convolved(a["image"], a["filter1"])), 1
    for block in range(8):
        stride = 2 if block in (2, 4, 6) else 1
        inner = _relu(_convolved(X, a[f"filter{at + 1}"], stride))
        outer = _convolved(inner, a[f"filter{at + 2}"])
        at += 2
        if stride == 2:
            at += 1
            X = _convolved(X, a[f"filter{at}"], 2)
        X = _relu(outer + X)
    return {"map28": X}


REFERENCE: Mapping[str, Callable[..., dict[str, F]]] = {
    function.__name__: function
    for function in (
        *(gemm, bicg, gesummv, two_mm, three_mm, blur, edge_detect, gaussian),
        *(jacobi_1d, jacobi_2d, heat, seidel, vgg16, resnet18),
    )
}
