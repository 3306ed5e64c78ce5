"""What is said where an optional library is missing."""

from __future__ import annotations

import importlib.util

from axiloom.base import extras as optional
from axiloom.base.errors import BuildError

_EXTRAS = {
    "torch": ("PyTorch", "torch"),
    "torch_mlir": ("torch-mlir", "torch"),
    "onnx": ("ONNX", "onnx"),
    "sklearn": ("scikit-learn", "networks"),
}


def require(module: str, what: str) -> None:
    """Raise BuildError unless `module` can be imported; `what` (``model.onnx``) needs it."""
    if importlib.util.find_spec(module) is None:
        library, extra = _EXTRAS[module]
        raise BuildError(f"{what}: needs {library}, which is not installed: {optional.install(extra)}")
