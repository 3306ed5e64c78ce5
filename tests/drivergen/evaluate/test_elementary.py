"""Elementary functions: the C and NumPy's steps agree in every bit, and are the functions they are called."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.drivergen import host

from axiloom.drivergen.evaluate import elementary

Array = np.ndarray[Any, Any]
EXACT: dict[str, Callable[[Array], Array]] = {
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "erf": np.vectorize(math.erf, otypes=[np.float64]),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "roundeven": np.rint,
}
ULP = 2.5
"""In units of the last place; measured: erf 2.1, log and tanh 1.9, rsqrt 1.5, exp 1.0."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder: Path = tmp_path_factory.mktemp("elementary")
    loops = [
        f"void all_{name}(const float *x, float *y, int n) "
        f"{{ for (int i = 0; i < n; i++) y[i] = axl_{name}f(x[i]); }}"
        for name in EXACT
    ]
    loops.append(
        "void all_powi(const float *x, const int64_t *n, float *y, int count) "
        "{ for (int i = 0; i < count; i++) y[i] = axl_powif(x[i], n[i]); }"
    )
    (folder / "f.c").write_text('#include "axiloom_math.h"\n' + "\n".join(loops))
    flags = [*host.WARNINGS, "-O2", "-ffp-contract=off", "-shared", "-fPIC", f"-I{host.SW / 'include'}"]
    host.gcc(*flags, folder / "f.c", "-o", folder / "f.so")
    return ctypes.CDLL(str(folder / "f.so"))


def points() -> Array:
    rng = np.random.default_rng(0)
    near = [rng.normal(size=20_000) * scale for scale in (0.1, 1, 5, 50)]
    anywhere = rng.integers(0, 1 << 32, 50_000, np.uint32).view(np.float32)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 1, -1, 0.5, 4, 88.7, 88.9, -103.9, -104.1]
    with np.errstate(invalid="ignore"):
        return np.concatenate([*near, anywhere, special]).astype(np.float32)


@pytest.mark.parametrize("name", EXACT)
def test_c_and_numpy_agree_in_every_bit(name: str, library: ctypes.CDLL) -> None:
    x = points()
    found = np.zeros_like(x)
    pointer = ctypes.POINTER(ctypes.c_float)
    getattr(library, f"all_{name}")(x.ctypes.data_as(pointer), found.ctypes.data_as(pointer), x.size)
    with np.errstate(all="ignore"):
        expected = getattr(elementary, name)(x)
    same = (found.view(np.uint32) == expected.view(np.uint32)) | (np.isnan(found) & np.isnan(expected))
    assert same.all(), x[~same][:3]


@pytest.mark.parametrize("name", EXACT)
def test_they_are_what_they_are_called(name: str) -> None:
    x = points()
    with np.errstate(all="ignore"):
        found, exact = getattr(elementary, name)(x), EXACT[name](x.astype(np.float64))
    np.testing.assert_array_equal(np.isnan(found), np.isnan(exact))
    normal = np.isfinite(exact) & (np.abs(exact) < 3.4e38) & (np.abs(exact) > 1.2e-38)
    last_place = np.spacing(np.abs(exact[normal]).astype(np.float32))
    assert (np.abs(found[normal] - exact[normal]) / last_place).max() < ULP
    np.testing.assert_array_equal(np.isinf(found), np.abs(exact) > 3.4028235e38)


def test_powers_of_integers_agree_in_every_bit(library: ctypes.CDLL) -> None:
    x = points()
    powers = np.random.default_rng(1).integers(-5, 9, x.size)
    found = np.zeros_like(x)
    library.all_powi(*(a.ctypes.data_as(ctypes.c_void_p) for a in (x, powers, found)), x.size)
    with np.errstate(all="ignore"):
        expected, exact = elementary.powi(x, powers), x.astype(np.float64) ** powers
    same = (found.view(np.uint32) == expected.view(np.uint32)) | (np.isnan(found) & np.isnan(expected))
    assert same.all(), x[~same][:3]
    usual = (np.abs(exact) < 3e38) & (np.abs(exact) > 1.2e-38) & (np.abs(x) < 1e4) & (np.abs(x) > 1e-4)
    np.testing.assert_allclose(found[usual], exact[usual], rtol=1e-6)
