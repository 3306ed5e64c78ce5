"""Kernels with a name, one family a file: a new file here with `KERNELS` is a new family, nothing else to do.

`KERNELS` below holds all of them by name. What has a form of its own on our engines stands in
:mod:`axiloom.isa.kernels.forms` too.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from importlib import import_module

from axiloom.isa.kernels.language.kernel import Kernel


def _found() -> dict[str, Kernel]:
    kernels: dict[str, Kernel] = {}
    for module in sorted(info.name for info in pkgutil.iter_modules(__path__)):
        for kernel in import_module(f"{__name__}.{module}").KERNELS:
            if kernel.name in kernels:
                raise ValueError(f"two kernels are called {kernel.name}; the second is in {module}.py")
            kernels[kernel.name] = kernel
    return kernels


KERNELS: Mapping[str, Kernel] = _found()
"""Name (the MLIR operation, where there is one) to the kernel."""
