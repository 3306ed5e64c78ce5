"""Problems of the registry's kernels: each compiles for its plain device, and is right there."""

from __future__ import annotations

import pytest
from tests.drivergen import host
from tests.some import some

from axiloom.base.errors import UsageError
from axiloom.drivergen import parse_workload
from axiloom.drivergen.problems.kernels import NAMES, form, smallest
from axiloom.isa.files.device import device_of
from axiloom.isa.kernels.language.kernel import WINDOW, Kernel
from axiloom.isa.kernels.named import KERNELS

FLOATS_ONLY = ("linalg.negf",)
KINDS = [
    (name, ("int8", "int16")[number % 2]) for number, name in enumerate(KERNELS) if name not in FLOATS_ONLY
]


def text(kernel: Kernel, kind: str) -> str:
    """Sizes that differ from each other, and strides of 2."""
    sizes = [
        f"{name}={2 + at % 2 if what == WINDOW else 5 + at}"
        for at, (name, what) in enumerate(kernel.iterators.items())
    ]
    steps = [f"{name}=2" for name in kernel.settings if name.startswith("s")]
    return f"{kernel.name}:{','.join([*sizes, *steps])}:{kind}"


@pytest.mark.parametrize(("name", "kind"), some(KINDS, 5))
def test_right_on_the_plain_device(name: str, kind: str) -> None:
    kernel = KERNELS[name]
    spec = device_of(kernel, data_type=kind)
    pipeline = "copying" if kind == "int16" else "published"
    host.check(parse_workload(text(kernel, kind)).mlir, spec, pipeline=pipeline)


@pytest.mark.parametrize("name", ["linalg.negf", "relu", "linalg.max", "scale_shift"])
def test_float32(name: str) -> None:
    kernel = KERNELS[name]
    host.check(parse_workload(text(kernel, "float32")).mlir, device_of(kernel, data_type="float32"))


def test_the_smallest_problem_is_accepted() -> None:
    for kernel in KERNELS.values():
        sizes = smallest(kernel).partition(":")[2]
        assert parse_workload(f"{kernel.name}:{sizes}:float32").mlir.count("linalg.generic") == 1


def test_other_names() -> None:
    assert NAMES["max_pooling"] is NAMES["pooling_nchw_max"] is KERNELS["linalg.pooling_nchw_max"]
    assert NAMES["batch_norm"] is KERNELS["scale_shift"]


def test_sums_add_to_the_output_and_maxima_begin_low() -> None:
    assert "linalg.fill" not in parse_workload("reduce_sum:m=2,k=3:int8").mlir
    assert "constant -32768 : i16" in parse_workload("reduce_max:m=2,k=3:int16").mlir


RELU = "accepted is relu:n=N[:TYPE], the smallest is relu:n=1"
POOLING = form(KERNELS["linalg.pooling_nchw_max"])


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        ("relu:n", f"problem `relu:n`: `n` is no ITERATOR=N; {RELU}"),
        ("relu:m=3", f"problem `relu:m=3`: no iterator `m`; {RELU}"),
        ("relu:n=3,n=4", f"problem `relu:n=3,n=4`: n stands twice; {RELU}"),
        ("relu:n=0", "problem `relu:n=0`: n must be from 1 to 16777216"),
        (
            "relu:n=3:int9",
            "problem `relu:n=3:int9`: unknown type `int9`; did you mean `int8`?; it may be relu:n=N[:TYPE]",
        ),
        (
            "relu:n=3:uint8",
            "problem `relu:n=3:uint8`: no relu of uint8 in MLIR; its type may be int8, int16, int32, float32",
        ),
        ("negf:n=3", "problem `negf:n=3`: no negf of int32 in MLIR; its type may be float32"),
        (
            "max_pooling:c=8,ow=3",
            f"problem `max_pooling:c=8,ow=3`: oh, fh, fw missing; accepted is {POOLING}, the smallest is "
            "pooling_nchw_max:c=1,oh=1,ow=1,fh=1,fw=1",
        ),
        (
            "scale_shift:c=5000,n=5000",
            "problem `scale_shift:c=5000,n=5000`: A has 25,000,000 elements; at most 16,777,216 are possible",
        ),
    ],
)
def test_refused(problem: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_workload(problem)
    assert str(caught.value) == message
