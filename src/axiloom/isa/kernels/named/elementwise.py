"""Element by element: the result takes the place of what was there."""

from __future__ import annotations

from axiloom.isa.kernels.language.kernel import PARALLEL, Kernel


def _elementwise(name: str, body: str, inputs: str = "AB") -> Kernel:
    operands = {operand: {"n": "n"} for operand in (*inputs, "C")}
    return Kernel(name, {"n": PARALLEL}, operands, body)


KERNELS = (
    _elementwise("linalg.add", "A + B"),
    _elementwise("linalg.sub", "A - B"),
    _elementwise("linalg.mul", "A * B"),
    _elementwise("linalg.max", "max(A, B)"),
    _elementwise("linalg.min", "min(A, B)"),
    _elementwise("linalg.abs", "abs(A)", "A"),
    _elementwise("linalg.negf", "-A", "A"),
    _elementwise("relu", "max(A, 0)", "A"),
    Kernel(
        "scale_shift",
        {"c": PARALLEL, "n": PARALLEL},
        {"A": {"c": "c", "n": "n"}, "S": {"c": "c"}, "T": {"c": "c"}, "C": {"c": "c", "n": "n"}},
        "A * S + T",
        ("batch norm", "per-channel scale and shift"),
    ),
)
