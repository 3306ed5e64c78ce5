"""PolyBench's kernels in NumPy, for tests: float32 (nussinov: int32), each element by the same operations in
the same order as PolyBench's C. It shares no code with what it tests.

``REFERENCE["gemm"](sizes, arrays)`` takes copies of the arrays that the caller gives (0-d arrays are scalars)
and returns what the kernel leaves in those it writes, by name. Results begin as zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

F = npt.NDArray[np.float32]
Arrays = dict[str, Any]
Sizes = Mapping[str, int]
f32 = np.float32


def zeros(*shape: int) -> F:
    return np.zeros(shape, np.float32)


def product(C: F, A: F, B: F) -> None:
    """C += A*B, k ascending."""
    for k in range(A.shape[1]):
        C += A[:, k, None] * B[None, k, :]


def gemm(s: Sizes, a: Arrays) -> Arrays:
    C = a["C"].copy()
    C *= a["beta"]
    for k in range(s["NK"]):
        C += (a["alpha"] * a["A"][:, k])[:, None] * a["B"][None, k, :]
    return {"C": C}


def k2mm(s: Sizes, a: Arrays) -> Arrays:
    tmp, D = zeros(s["NI"], s["NJ"]), a["D"].copy()
    for k in range(s["NK"]):
        tmp += (a["alpha"] * a["A"][:, k])[:, None] * a["B"][None, k, :]
    D *= a["beta"]
    product(D, tmp, a["C"])
    return {"D": D}


def k3mm(s: Sizes, a: Arrays) -> Arrays:
    E, F_, G = zeros(s["NI"], s["NJ"]), zeros(s["NJ"], s["NL"]), zeros(s["NI"], s["NL"])
    product(E, a["A"], a["B"])
    product(F_, a["C"], a["D"])
    product(G, E, F_)
    return {"G": G}


def atax(s: Sizes, a: Arrays) -> Arrays:
    y, tmp = zeros(s["N"]), zeros(s["M"])
    for j in range(s["N"]):
        tmp += a["A"][:, j] * a["x"][j]
    for i in range(s["M"]):
        y += a["A"][i] * tmp[i]
    return {"y": y}


def bicg(s: Sizes, a: Arrays) -> Arrays:
    out, q = zeros(s["M"]), zeros(s["N"])
    for i in range(s["N"]):
        out += a["r"][i] * a["A"][i]
    for j in range(s["M"]):
        q += a["A"][:, j] * a["p"][j]
    return {"s": out, "q": q}


def gesummv(s: Sizes, a: Arrays) -> Arrays:
    tmp, y = zeros(s["N"]), zeros(s["N"])
    for j in range(s["N"]):
        tmp = a["A"][:, j] * a["x"][j] + tmp
        y = a["B"][:, j] * a["x"][j] + y
    return {"y": a["alpha"] * tmp + a["beta"] * y}


def mvt(s: Sizes, a: Arrays) -> Arrays:
    x1, x2 = a["x1"].copy(), a["x2"].copy()
    for j in range(s["N"]):
        x1 += a["A"][:, j] * a["y_1"][j]
        x2 += a["A"][j, :] * a["y_2"][j]
    return {"x1": x1, "x2": x2}


def symm(s: Sizes, a: Arrays) -> Arrays:
    C, A, B, alpha, beta = a["C"].copy(), a["A"], a["B"], a["alpha"], a["beta"]
    for i in range(s["M"]):
        temp = zeros(s["N"])
        for k in range(i):
            C[k] += (alpha * B[i]) * A[i, k]
            temp += B[k] * A[i, k]
        C[i] = (beta * C[i] + (alpha * B[i]) * A[i, i]) + alpha * temp
    return {"C": C}


def syr2k(s: Sizes, a: Arrays) -> Arrays:
    C, A, B, alpha = a["C"].copy(), a["A"], a["B"], a["alpha"]
    lower = np.tril(np.ones((s["N"], s["N"]), bool))
    C[lower] = (C * a["beta"])[lower]
    for k in range(s["M"]):
        first = (A[:, k] * alpha)[None, :] * B[:, k, None]
        second = (B[:, k] * alpha)[None, :] * A[:, k, None]
        C[lower] = (C + (first + second))[lower]
    return {"C": C}


def syrk(s: Sizes, a: Arrays) -> Arrays:
    C, A = a["C"].copy(), a["A"]
    lower = np.tril(np.ones((s["N"], s["N"]), bool))
    C[lower] = (C * a["beta"])[lower]
    for k in range(s["M"]):
        C[lower] = (C + (a["alpha"] * A[:, k])[:, None] * A[None, :, k])[lower]
    return {"C": C}


def trmm(s: Sizes, a: Arrays) -> Arrays:
    A, B = a["A"], a["B"].copy()
    for i in range(s["M"]):
        for k in range(i + 1, s["M"]):
            B[i] += A[k, i] * B[k]
        B[i] = a["alpha"] * B[i]
    return {"B": B}


def correlation(s: Sizes, a: Arrays) -> Arrays:
    data, n, m, points = a["data"].copy(), a["float_n"], s["M"], s["N"]
    mean, stddev = zeros(m), zeros(m)
    for i in range(points):
        mean += data[i]
    mean /= n
    for i in range(points):
        stddev += (data[i] - mean) * (data[i] - mean)
    stddev = np.sqrt(stddev / n)
    stddev = np.where(stddev <= f32(0.1), f32(1), stddev)
    data = (data - mean) / (np.sqrt(n) * stddev)
    corr = zeros(m, m)
    for k in range(points):
        corr += data[k][:, None] * data[k][None, :]
    corr = np.triu(corr, 1)
    return {"corr": corr + corr.T + np.eye(m, dtype=np.float32), "data": data}


def covariance(s: Sizes, a: Arrays) -> Arrays:
    data, n = a["data"].copy(), a["float_n"]
    mean, cov = zeros(s["M"]), zeros(s["M"], s["M"])
    for i in range(s["N"]):
        mean += data[i]
    data -= mean / n
    for k in range(s["N"]):
        cov += data[k][:, None] * data[k][None, :]
    cov = np.triu(cov / (n - f32(1)))
    return {"cov": cov + np.triu(cov, 1).T, "data": data}


def doitgen(s: Sizes, a: Arrays) -> Arrays:
    total = zeros(s["NR"], s["NQ"], s["NP"])
    for k in range(s["NP"]):
        total += a["A"][:, :, k, None] * a["C4"][k]
    return {"A": total}


def gemver(s: Sizes, a: Arrays) -> Arrays:
    n = s["N"]
    A = (a["A"] + a["u1"][:, None] * a["v1"]) + a["u2"][:, None] * a["v2"]
    x, w = a["x"].copy(), a["w"].copy()
    for j in range(n):
        x += (a["beta"] * A[j]) * a["y"][j]
    x += a["z"]
    for j in range(n):
        w += (a["alpha"] * A[:, j]) * x[j]
    return {"A": A, "x": x, "w": w}


def jacobi_1d(s: Sizes, a: Arrays) -> Arrays:
    A, B = a["A"].copy(), a["B"].copy()
    for _ in range(s["TSTEPS"]):
        B[1:-1] = f32(0.33333) * ((A[:-2] + A[1:-1]) + A[2:])
        A[1:-1] = f32(0.33333) * ((B[:-2] + B[1:-1]) + B[2:])
    return {"A": A, "B": B}


def _cross(A: F) -> F:
    total = A[1:-1, 1:-1] + A[1:-1, :-2]
    total = total + A[1:-1, 2:]
    total = total + A[2:, 1:-1]
    return np.asarray(f32(0.2) * (total + A[:-2, 1:-1]))


def jacobi_2d(s: Sizes, a: Arrays) -> Arrays:
    A, B = a["A"].copy(), a["B"].copy()
    for _ in range(s["TSTEPS"]):
        B[1:-1, 1:-1] = _cross(A)
        A[1:-1, 1:-1] = _cross(B)
    return {"A": A, "B": B}


def seidel_2d(s: Sizes, a: Arrays) -> Arrays:
    A = a["A"].copy()
    for _ in range(s["TSTEPS"]):
        for i in range(1, s["N"] - 1):
            for j in range(1, s["N"] - 1):
                total = f32(0)
                for n, value in enumerate(A[i - 1 : i + 2, j - 1 : j + 2].ravel()):
                    total = value if n == 0 else total + value
                A[i, j] = total / f32(9)
    return {"A": A}


def _heat(A: F) -> F:
    middle = A[1:-1, 1:-1, 1:-1]
    parts = []
    for axis in range(3):
        above, below = (
            A[tuple(slice(1 + by, A.shape[n] - 1 + by) if n == axis else slice(1, -1) for n in range(3))]
            for by in (1, -1)
        )
        parts.append(f32(0.125) * ((above - f32(2) * middle) + below))
    return np.asarray(((parts[0] + parts[1]) + parts[2]) + middle)


def heat_3d(s: Sizes, a: Arrays) -> Arrays:
    A, B = a["A"].copy(), a["B"].copy()
    for _ in range(s["TSTEPS"]):
        B[1:-1, 1:-1, 1:-1] = _heat(A)
        A[1:-1, 1:-1, 1:-1] = _heat(B)
    return {"A": A, "B": B}


def fdtd_2d(s: Sizes, a: Arrays) -> Arrays:
    ex, ey, hz = a["ex"].copy(), a["ey"].copy(), a["hz"].copy()
    for t in range(s["TMAX"]):
        ey[0] = a["fict"][t]
        ey[1:] = ey[1:] - f32(0.5) * (hz[1:] - hz[:-1])
        ex[:, 1:] = ex[:, 1:] - f32(0.5) * (hz[:, 1:] - hz[:, :-1])
        around = ((ex[:-1, 1:] - ex[:-1, :-1]) + ey[1:, :-1]) - ey[:-1, :-1]
        hz[:-1, :-1] = hz[:-1, :-1] - f32(0.7) * around
    return {"ex": ex, "ey": ey, "hz": hz}


def trisolv(s: Sizes, a: Arrays) -> Arrays:
    L, x = a["L"], a["b"].copy()
    for j in range(s["N"]):
        x[j] = x[j] / L[j, j]
        x[j + 1 :] -= L[j + 1 :, j] * x[j]
    return {"x": x}


def lu(s: Sizes, a: Arrays) -> Arrays:
    A = a["A"].copy()
    for k in range(s["N"]):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= A[k + 1 :, k, None] * A[None, k, k + 1 :]
    return {"A": A}


def cholesky(s: Sizes, a: Arrays) -> Arrays:
    A = a["A"].copy()
    for i in range(s["N"]):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
        for k in range(i):
            A[i, i] -= A[i, k] * A[i, k]
        A[i, i] = np.sqrt(A[i, i])
    return {"A": A}


def durbin(s: Sizes, a: Arrays) -> Arrays:
    r, y = a["r"], zeros(s["N"])
    y[0] = -r[0]
    beta, alpha = f32(1), -r[0]
    for k in range(1, s["N"]):
        beta = (f32(1) - alpha * alpha) * beta
        total = f32(0)
        for i in range(k):
            total = total + r[k - i - 1] * y[i]
        alpha = -(r[k] + total) / beta
        y[:k] = y[:k] + alpha * y[:k][::-1]
        y[k] = alpha
    return {"y": y}


def floyd_warshall(s: Sizes, a: Arrays) -> Arrays:
    path = a["path"].copy()
    for k in range(s["N"]):
        # Row and column k change in step k too where a diagonal is negative: row by row, as the loops go.
        for i in range(s["N"]):
            if path[k, k] < 0:
                for j in range(s["N"]):
                    path[i, j] = min(path[i, j], path[i, k] + path[k, j])
            else:
                path[i] = np.minimum(path[i], path[i, k] + path[k])
    return {"path": path}


def ludcmp(s: Sizes, a: Arrays) -> Arrays:
    A, n = lu(s, a)["A"], s["N"]
    y = a["b"].copy()
    for j in range(n):
        y[j + 1 :] -= A[j + 1 :, j] * y[j]
    x = zeros(n)
    for i in reversed(range(n)):
        w = y[i]
        for j in range(i + 1, n):
            w = w - A[i, j] * x[j]
        x[i] = w / A[i, i]
    return {"A": A, "x": x}


def gramschmidt(s: Sizes, a: Arrays) -> Arrays:
    A, R, Q = a["A"].copy(), a["R"].copy(), zeros(s["M"], s["N"])
    for k in range(s["N"]):
        nrm = f32(0)
        for i in range(s["M"]):
            nrm = nrm + A[i, k] * A[i, k]
        R[k, k] = np.sqrt(nrm)
        Q[:, k] = A[:, k] / R[k, k]
        total = zeros(s["N"] - k - 1)
        for i in range(s["M"]):
            total += Q[i, k] * A[i, k + 1 :]
        R[k, k + 1 :] = total
        A[:, k + 1 :] = A[:, k + 1 :] - Q[:, k, None] * total
    return {"A": A, "R": R, "Q": Q}


def adi(s: Sizes, a: Arrays) -> Arrays:
    n, steps, u = s["N"], s["TSTEPS"], a["u"].copy()
    v, p, q = zeros(n, n), zeros(n, n), zeros(n, n)
    one, two = f32(1), f32(2)
    dx, dt = one / f32(n), one / f32(steps)
    mul1, mul2 = two * dt / (dx * dx), one * dt / (dx * dx)
    outer, inner = (-mul1 / two, one + mul1), (-mul2 / two, one + mul2)

    def sweep(source: F, target: F, near: tuple[Any, Any], far: Any) -> None:
        """Rows of `target`; `source` has the columns beside each other."""
        c, b = near
        middle = slice(1, n - 1)
        target[middle, 0] = one
        p[middle, 0], q[middle, 0] = f32(0), target[middle, 0]
        for j in range(1, n - 1):
            below = c * p[middle, j - 1] + b
            p[middle, j] = -c / below
            right = -far * source[: n - 2, j] + (one + two * far) * source[middle, j] - far * source[2:, j]
            q[middle, j] = (right - c * q[middle, j - 1]) / below
        target[middle, n - 1] = one
        for j in reversed(range(1, n - 1)):
            target[middle, j] = p[middle, j] * target[middle, j + 1] + q[middle, j]

    for _ in range(steps):
        sweep(u.T, v.T, outer, inner[0])
        sweep(v, u, inner, outer[0])
    return {"u": u}


def nussinov(s: Sizes, a: Arrays) -> Arrays:
    seq, table, n = [int(symbol) for symbol in a["seq"]], a["table"].tolist(), s["N"]
    for i in reversed(range(n)):
        for j in range(i + 1, n):
            table[i][j] = max(table[i][j], table[i][j - 1])
            if i + 1 < n:
                table[i][j] = max(table[i][j], table[i + 1][j])
                pair = int(seq[i] + seq[j] == 3) if i < j - 1 else 0
                table[i][j] = max(table[i][j], table[i + 1][j - 1] + pair)
            for k in range(i + 1, j):
                table[i][j] = max(table[i][j], table[i][k] + table[k + 1][j])
    return {"table": np.array(table, np.int32)}


REFERENCE: Mapping[str, Callable[[Sizes, Arrays], Arrays]] = {
    "gemm": gemm,
    "2mm": k2mm,
    "3mm": k3mm,
    "atax": atax,
    "bicg": bicg,
    "gesummv": gesummv,
    "mvt": mvt,
    "symm": symm,
    "syr2k": syr2k,
    "syrk": syrk,
    "trmm": trmm,
    "correlation": correlation,
    "covariance": covariance,
    "doitgen": doitgen,
    "gemver": gemver,
    "jacobi-1d": jacobi_1d,
    "jacobi-2d": jacobi_2d,
    "seidel-2d": seidel_2d,
    "heat-3d": heat_3d,
    "fdtd-2d": fdtd_2d,
    "trisolv": trisolv,
    "lu": lu,
    "cholesky": cholesky,
    "durbin": durbin,
    "floyd-warshall": floyd_warshall,
    "ludcmp": ludcmp,
    "gramschmidt": gramschmidt,
    "adi": adi,
    "nussinov": nussinov,
}


def inputs(kernel: str, shapes: Mapping[str, tuple[tuple[int, ...], str]], seed: int = 0) -> Arrays:
    """Random contents for arrays of these shapes and numbers that suit the kernel: square roots stay real,
    quotients finite."""
    rng = np.random.default_rng(seed)
    arrays: Arrays = {}
    for name, (shape, number) in shapes.items():
        if number == "float32":
            arrays[name] = rng.uniform(-1, 1, shape).astype(np.float32)
        else:
            arrays[name] = rng.integers(0, 4, shape).astype(number)
        if name == "float_n":
            arrays[name] = np.array(20, np.float32)
    if kernel in ("cholesky", "lu", "ludcmp", "trisolv"):
        name = "L" if kernel == "trisolv" else "A"
        n = arrays[name].shape[0]
        arrays[name] = (arrays[name] / f32(n) + np.eye(n, dtype=np.float32) * f32(2)).astype(np.float32)
    if kernel == "durbin":
        arrays["r"] = (arrays["r"] / f32(len(arrays["r"]))).astype(np.float32)
    if kernel == "floyd-warshall":
        arrays["path"] = np.abs(arrays["path"])
    if kernel == "nussinov":
        arrays["table"] = np.zeros_like(arrays["table"])
    return arrays
