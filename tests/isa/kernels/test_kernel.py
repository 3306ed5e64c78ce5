"""What is no kernel, and why."""

from __future__ import annotations

import pytest

from axiloom.base.errors import SpecError
from axiloom.isa.files.device import device_of
from axiloom.isa.kernels.language.kernel import PARALLEL, REDUCTION, Kernel, KernelError

OPERANDS = {"A": {"n": "n"}, "C": {"n": "n"}}


def test_an_iterator_that_moves_nothing_is_refused() -> None:
    """A device could only repeat the sum, which no op of MLIR says."""
    with pytest.raises(KernelError, match=r"iterators\.k: it moves no operand; leave it out"):
        Kernel("own", {"n": PARALLEL, "k": REDUCTION}, OPERANDS, "C + A")


@pytest.mark.parametrize("number", ["1.5", "2147483648", "-2147483649"])
def test_numbers_are_int32(number: str) -> None:
    with pytest.raises(SpecError, match=rf"kernel\.body: {number} is no int32"):
        device_of(Kernel("own", {"n": PARALLEL}, OPERANDS, f"max(A, {number})"))


@pytest.mark.parametrize("number", ["2147483647", "-2147483648"])
def test_the_largest_numbers(number: str) -> None:
    assert device_of(Kernel("own", {"n": PARALLEL}, OPERANDS, f"max(A, {number})")).own_kernel
