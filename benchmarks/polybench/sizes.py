"""PolyBench/C 4.2.1's sizes of the kernels here, by the names of its macros.

``python -m benchmarks.polybench.sizes`` prints them as options of ``axiloom nest``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

FOLDER = Path(__file__).parent

MINI: Mapping[str, Mapping[str, int]] = {
    "gemm": {"NI": 20, "NJ": 25, "NK": 30},
    "2mm": {"NI": 16, "NJ": 18, "NK": 22, "NL": 24},
    "3mm": {"NI": 16, "NJ": 18, "NK": 20, "NL": 22, "NM": 24},
    "atax": {"M": 38, "N": 42},
    "bicg": {"M": 38, "N": 42},
    "gesummv": {"N": 30},
    "mvt": {"N": 40},
    "symm": {"M": 20, "N": 30},
    "syr2k": {"M": 20, "N": 30},
    "syrk": {"M": 20, "N": 30},
    "trmm": {"M": 20, "N": 30},
    "correlation": {"M": 28, "N": 32},
    "covariance": {"M": 28, "N": 32},
    "doitgen": {"NQ": 8, "NR": 10, "NP": 12},
    "gemver": {"N": 40},
    "jacobi-1d": {"TSTEPS": 20, "N": 30},
    "jacobi-2d": {"TSTEPS": 20, "N": 30},
    "seidel-2d": {"TSTEPS": 20, "N": 40},
    "heat-3d": {"TSTEPS": 20, "N": 10},
    "fdtd-2d": {"TMAX": 20, "NX": 20, "NY": 30},
    "trisolv": {"N": 40},
    "lu": {"N": 40},
    "cholesky": {"N": 40},
    "durbin": {"N": 40},
    "floyd-warshall": {"N": 60},
    "ludcmp": {"N": 40},
    "gramschmidt": {"M": 20, "N": 30},
    "adi": {"TSTEPS": 20, "N": 20},
    "nussinov": {"N": 60},
}
MEDIUM: Mapping[str, Mapping[str, int]] = {
    "gemm": {"NI": 200, "NJ": 220, "NK": 240},
    "2mm": {"NI": 180, "NJ": 190, "NK": 210, "NL": 220},
    "3mm": {"NI": 180, "NJ": 190, "NK": 200, "NL": 210, "NM": 220},
    "atax": {"M": 390, "N": 410},
    "bicg": {"M": 390, "N": 410},
    "gesummv": {"N": 250},
    "mvt": {"N": 400},
    "symm": {"M": 200, "N": 240},
    "syr2k": {"M": 200, "N": 240},
    "syrk": {"M": 200, "N": 240},
    "trmm": {"M": 200, "N": 240},
    "correlation": {"M": 240, "N": 260},
    "covariance": {"M": 240, "N": 260},
    "doitgen": {"NQ": 40, "NR": 50, "NP": 60},
    "gemver": {"N": 400},
    "jacobi-1d": {"TSTEPS": 100, "N": 400},
    "jacobi-2d": {"TSTEPS": 100, "N": 250},
    "seidel-2d": {"TSTEPS": 100, "N": 400},
    "heat-3d": {"TSTEPS": 100, "N": 40},
    "fdtd-2d": {"TMAX": 100, "NX": 200, "NY": 240},
    "trisolv": {"N": 400},
    "lu": {"N": 400},
    "cholesky": {"N": 400},
    "durbin": {"N": 400},
    "floyd-warshall": {"N": 500},
    "ludcmp": {"N": 400},
    "gramschmidt": {"M": 200, "N": 240},
    "adi": {"TSTEPS": 100, "N": 200},
    "nussinov": {"N": 500},
}


def source(kernel: str) -> Path:
    """The C file of a kernel, ``gemm`` to ``nussinov``."""
    return FOLDER / f"{kernel}.c"


def options(sizes: Mapping[str, int]) -> str:
    """``-D NI=20 -D NJ=25``."""
    return " ".join(f"-D {name}={value}" for name, value in sizes.items())


if __name__ == "__main__":
    for kernel in MINI:
        print(f"{kernel:<15} MINI {options(MINI[kernel])}   MEDIUM {options(MEDIUM[kernel])}")
